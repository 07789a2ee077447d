// Answers where there is no network: with the rules, the tutorial, and a page that says so. Where there is one,
// pages always come from it. The server puts what it knows in front of this script, as `told`: the folder
// of the static files, which is named after their contents, and what to keep.

/** @type {{static: string, files: string[], words: string[], pages: string[]}} */
const { static: folder, files, words, pages } = globalThis.told;
const CACHE = `kamon ${folder}`;
const OFFLINE = "/offline";
// What pages vary by is not in the request that a worker sees.
const ANY = { ignoreSearch: true, ignoreVary: true };

// --- Keeping -------------------------------------------------------------------------------------

globalThis.addEventListener("install", (event) => {
  event.waitUntil(keep().then(() => globalThis.skipWaiting()));
});

globalThis.addEventListener("activate", (event) => {
  event.waitUntil(takeOver());
});

async function takeOver() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name)));
  await globalThis.registration.navigationPreload?.enable();
  await globalThis.clients.claim();
}

/** Keep everything that is needed without a network, in the visitor's language. */
async function keep() {
  const cache = await caches.open(CACHE);
  const language = await keepPages(cache);
  await cache.addAll(words.includes(language) ? [...files, `${folder}/words/${language}.js`] : files);
}

/** @param {Cache} cache @returns {Promise<string | null>} The language that they are in. */
async function keepPages(cache) {
  await cache.addAll(pages.map((path) => new Request(path, { cache: "reload" })));
  const page = await cache.match(OFFLINE, ANY);
  return page.headers.get("content-language");
}

/** The visitor may have chosen another language since. @param {Response} page */
async function keepUp(page) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(OFFLINE, ANY);
  if (kept?.headers.get("content-language") !== page.headers.get("content-language")) await keep();
}

// --- Answering -----------------------------------------------------------------------------------

globalThis.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== globalThis.location.origin) return;
  if (request.mode === "navigate") event.respondWith(openPage(event));
  else if (pathname.startsWith(`${folder}/`)) event.respondWith(fileFor(request));
  else if (isKept(pathname)) event.respondWith(fetch(request).catch(() => keptFor(request)));
});

/** Is this something that the pages need which open without a network? @param {string} pathname */
const isKept = (pathname) => pages.some((path) => path.split("?")[0] === pathname);

/** A page comes from the network, or says that there is none. @param {FetchEvent} event */
async function openPage(event) {
  try {
    const page = (await event.preloadResponse) ?? (await fetch(event.request));
    event.waitUntil(keepUp(page).catch(() => undefined));
    return page;
  } catch {
    const kept = await keptFor(event.request);
    return kept.ok ? kept : ((await caches.match(OFFLINE, ANY)) ?? Response.error());
  }
}

/** A file never changes under its name, so the one that is kept is right. @param {Request} request */
async function fileFor(request) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request, { ignoreVary: true });
  if (kept) return kept;
  const file = await fetch(request);
  if (file.ok) await cache.put(request, file.clone());
  return file;
}

/** What is kept, if need be for another edition or theme. @param {Request} request */
async function keptFor(request) {
  const cache = await caches.open(CACHE);
  return (await cache.match(request, { ignoreVary: true })) ?? (await cache.match(request, ANY)) ?? Response.error();
}
