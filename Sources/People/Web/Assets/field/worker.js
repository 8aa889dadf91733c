"use strict";
// The field view without a network: its frame and what that loads. Machines are not kept here: kept.js does that, for one account. They are
// forgotten here, too, when their pages are refused.

const frame = "/field-offline";
/** In the field a network is often there and answers nobody. */
const patienceMs = 6000;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
    const { request } = event, address = new URL(request.url);
    if (request.method !== "GET" || address.origin !== location.origin) return;
    const isPage = request.mode === "navigate" && (address.pathname === "/field" || address.pathname.startsWith("/field/"));
    if (isPage) event.respondWith(page(event));
    else if (address.pathname.startsWith("/assets/")) event.respondWith(asset(request, address.searchParams.has("v")));
});

async function page(event) {
    const answered = answer(event.request);
    // Also a refusal that comes too late to be shown.
    event.waitUntil(answered.catch(() => {}));
    const kept = await caches.match(frame, { ignoreVary: true });
    if (!kept) return answered;
    const late = new Promise((resolve) => { setTimeout(resolve, patienceMs, kept); });
    // One that gives up says so at once; the network's own answers, refusals too, come as they are.
    return Promise.race([answered.catch(() => kept), late]);
}

async function answer(request) {
    const given = await fetch(request);
    if (given.status === 403 || given.status === 404) await forget(new URL(request.url).pathname, given.status === 403).catch(() => {});
    return given;
}

/** What its reader may not see any more is not kept for when there is no network: the machine, or all where the whole view is refused. */
async function forget(path, isAll) {
    for (const name of (await caches.keys()).filter((each) => each.startsWith("drover-field:"))) {
        if (isAll) await caches.delete(name);
        else await (await caches.open(name)).delete(path);
    }
}

/** An address with a version never has another content. */
async function asset(request, isForEver) {
    const kept = await caches.match(request, { ignoreVary: true });
    if (kept && isForEver) return kept;
    try {
        return await fetch(request);
    } catch (fault) {
        if (kept) return kept;
        throw fault;
    }
}
