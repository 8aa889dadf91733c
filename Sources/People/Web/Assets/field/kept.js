"use strict";
// What this device keeps for where there is no network: machines as the field view showed them last, of one account at a time, and the frame of the
// page. Logging out deletes the machines, and so does any page of another account (shell.js).

const droverKept = (function () {
    const prefix = "drover-field:", frameStore = "drover-frame", frame = "/field-offline";
    const most = 50;
    const can = "caches" in window && "serviceWorker" in navigator;
    /** Who reads this page; none on the frame of the page without a network. */
    const account = document.querySelector("[data-account]")?.getAttribute("data-account") ?? null;

    const address = (id) => `/field/${encodeURIComponent(id)}`;

    /** The store of who is logged in; without a network the one that there is. */
    async function store() {
        if (!can) return null;
        if (account !== null) return caches.open(prefix + account);
        const names = (await caches.keys()).filter((name) => name.startsWith(prefix));
        // More than one is of nobody who can be told apart.
        return names.length === 1 ? caches.open(names[0]) : null;
    }

    async function entries(open) {
        const found = [];
        for (const request of await open.keys()) {
            const answer = await open.match(request);
            if (answer) found.push({ request, answer, keptMs: Number(answer.headers.get("Kept-At")) });
        }
        return found.sort((one, two) => two.keptMs - one.keptMs);
    }

    /** The machine's part of a page; null: it is not of a machine, or of another account. */
    function part(text, isKept) {
        const page = new DOMParser().parseFromString(text, "text/html");
        const reader = page.querySelector("[data-account]")?.getAttribute("data-account") ?? null;
        if (!isKept && (account === null || reader !== account)) return null;
        const field = page.getElementById("field");
        return field ? document.importNode(field, true) : null;
    }

    async function keep(field) {
        try {
            const open = account === null ? null : await store();
            if (!open || !field) return;
            const headers = { "Content-Type": "text/html; charset=utf-8", "Kept-At": String(Date.now()) };
            await open.put(address(field.dataset.machine), new Response(field.outerHTML, { headers }));
            for (const old of (await entries(open)).slice(most)) await open.delete(old.request);
        } catch {
            // The device has no room: the page works, and keeps nothing.
        }
    }

    async function forget(id) {
        const open = await store();
        await open?.delete(address(id));
    }

    async function read({ answer, keptMs }) {
        return { field: part(await answer.text(), true), keptMs };
    }

    /** The machine as it was kept; null: it was not. */
    async function machine(id) {
        const open = await store(), answer = await open?.match(address(id));
        return answer ? read({ answer, keptMs: Number(answer.headers.get("Kept-At")) }) : null;
    }

    /** All that were kept, the latest first. */
    async function all() {
        const open = await store();
        return open ? Promise.all((await entries(open)).map(read)) : [];
    }

    /** Which machine has this on it, of those that were kept. */
    async function named(code) {
        const wanted = code.toLowerCase();
        for (const each of await all()) {
            if (!each.field) continue;
            const { machine: id, codes = "" } = each.field.dataset;
            if ([id, ...codes.split("\n")].some((one) => one.toLowerCase() === wanted)) return each;
        }
        return null;
    }

    /** The page's frame and all that it loads, as they are now. */
    async function keepFrame() {
        if (!can || account === null) return;
        await navigator.serviceWorker.register("/field-worker.js", { scope: "/field" });
        const answer = await fetch(frame);
        if (!answer.ok) return;
        const open = await caches.open(frameStore), text = await answer.clone().text();
        const loads = new Set([...text.matchAll(/(?:href|src)="(\/assets\/[^"#]+)"/g)].map((found) => found[1].replaceAll("&amp;", "&")));
        for (const more of (/data-keep="([^"]*)"/.exec(text)?.[1] ?? "").split(" ")) if (more) loads.add(more);
        const known = new Set((await open.keys()).map((request) => new URL(request.url)).map((each) => each.pathname + each.search));
        await Promise.all([...loads].filter((each) => !known.has(each) || !each.includes("?v=")).map((each) => open.add(each)));
        await open.put(frame, answer);
        for (const old of known) if (old !== frame && !loads.has(old)) await open.delete(old);
    }

    return { account, all, forget, keep, keepFrame: () => keepFrame().catch(() => {}), machine, named, part };
})();
