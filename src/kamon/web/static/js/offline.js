// The page that is shown where there is no connection: it tries again by itself.
import "./shell.js";

const INTERVAL = 5000;

/** Does the server answer? Then show what was asked for. */
async function retry() {
  const answer = await fetch("/api/health", { cache: "no-store" }).catch(() => null);
  if (!answer) return;
  if (location.pathname === "/offline") location.replace("/");
  else location.reload();
}

document.getElementById("retry")?.addEventListener("click", retry);
addEventListener("online", retry);
setInterval(retry, INTERVAL);
