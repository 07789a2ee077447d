// The rules: printed by a button, and in the edition that the settings ask for.
import { onPreferences, preferences } from "./shell.js";

/** @param {string} wished */
const addressOf = (wished) => `/rules?edition=${wished}`;

let edition = preferences.edition;
const shown = document.querySelector(".rules")?.getAttribute("data-edition");
// An address that names an edition shows it, whatever the settings say.
if (!new URLSearchParams(location.search).has("edition") && edition !== shown) location.replace(addressOf(edition));

onPreferences(() => {
  if (preferences.edition === edition) return;
  edition = preferences.edition;
  location.assign(addressOf(edition));
});

document.getElementById("print")?.addEventListener("click", () => globalThis.print());
