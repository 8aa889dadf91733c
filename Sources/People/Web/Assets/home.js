"use strict";
// Home: the map of everyone, and news put in the place of what was there. The page says all of it without a script, but for the map.
(function () {
    const parts = ["now", "chips", "cars", "attention", "figures", "trips"];
    const place = document.getElementById("home-map");
    /** @type {any} */ let map = null;

    async function positions() {
        const answer = await fetch(/** @type {HTMLElement} */ (place).dataset.vehiclesFrom || "", { headers: { Accept: "application/json" } });
        if (!answer.ok) throw new Error(`positions: ${answer.status}`);
        return (await answer.json()).vehicles
            .map((/** @type {any[]} */ [id, name, kind, state, sev, at, heading, group]) => ({ id, name, icon: kind, state, sev, at, heading, group }))
            .filter((/** @type {{ at: number[] | null }} */ vehicle) => vehicle.at);
    }

    /** Ids are KIND/VEHICLE. */
    function page(/** @type {string} */ id) {
        const at = id.indexOf("/");
        return `/vehicles/${encodeURIComponent(id.slice(at + 1))}?kind=${id.slice(0, at)}`;
    }

    async function draw() {
        if (!place || typeof drover.map !== "function") return;
        try {
            const vehicles = await positions();
            if (!vehicles.length) return say(t("No vehicle has reported a position yet."));
            map = await drover.map(place, {
                vehicles, bounds: boundsOfMost(vehicles.map((/** @type {{ at: [number, number] }} */ { at }) => at), place) ?? undefined, pad: 48, cluster: true, names: "hover", pointers: "worst", label: t("Map of all vehicles"),
                onPick: (/** @type {string} */ id) => { location.href = page(id); },
            });
        } catch {
            say(t("The map cannot be drawn now."));
        }
    }

    function say(/** @type {string} */ words) {
        place?.replaceChildren(drover.element("p", { class: "empty" }, `${words} `, drover.element("a", { href: "/map" }, t("The list of all vehicles"))));
    }

    async function move() {
        if (!map) return;
        try {
            map.vehicles(await positions());
        } catch {
            // The places are old; what is old says so when the page is looked at again.
        }
    }

    droverLive.onPage((/** @type {Document} */ fresh) => {
        for (const id of parts) droverLive.replace(document.getElementById(id), fresh.getElementById(id));
        move();
    });
    draw();
    droverLive.start();
})();
