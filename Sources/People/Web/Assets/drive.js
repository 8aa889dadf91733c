"use strict";
// A drive while it lasts: its values are asked for once a second while somebody looks, and at once when an alert is told. The map follows.
(function () {
    const element = /** @type {HTMLElement} */ (document.getElementById("where"));
    /** @type {any} */
    let map = null;
    /** What was driven, so far as it is known here. @type {[number, number][]} */
    let way = [];
    let isStarting = false;

    /** Where the car is, as the page says it. */
    function place() {
        const data = document.getElementById("place")?.dataset;
        if (!data?.lon || !data.lat) return null;
        return { at: /** @type {[number, number]} */ ([Number(data.lon), Number(data.lat)]), state: data.state ?? "moving" };
    }

    async function driven() {
        if (!element.dataset.track) return [];
        try {
            const answer = await fetch(element.dataset.track);
            if (!answer.ok) return [];
            const track = await answer.json();
            return track.ts.map((/** @type {number} */ _, /** @type {number} */ at) => [track.longitude_deg[at], track.latitude_deg[at]])
                .filter((/** @type {(number | null)[]} */ at) => at[0] !== null);
        } catch {
            // The map begins where the car is.
            return [];
        }
    }

    const carOf = (/** @type {NonNullable<ReturnType<typeof place>>} */ now) => ({ id: "car", name: element.dataset.name ?? "", icon: "car", at: now.at, state: now.state, sev: "" });

    async function start() {
        const now = place();
        if (!now || !drover.map || isStarting) return;
        isStarting = true;
        way = await driven();
        map = await drover.map(element, { center: now.at, zoom: 15.5, vehicles: [carOf(now)], names: "hover", controls: true, label: t("Where the car is") });
        if (!map.map) return;
        follow();
        map.follow?.("car");
    }

    function follow() {
        const now = place();
        if (!map?.map) return void start();
        if (!now) return;
        const last = way[way.length - 1];
        if (!last || last[0] !== now.at[0] || last[1] !== now.at[1]) way.push(now.at);
        // Half a day at one a second: older parts are on the trip's own page.
        if (way.length > 40_000) way.splice(0, 10_000);
        if (way.length > 1) map.line("driven", way, { token: "--accent", width: 5 });
        map.vehicles([carOf(now)]);
    }

    droverLive.onPage((page) => {
        for (const id of ["state", "updated", "values", "place"]) droverLive.replace(document.getElementById(id), page.getElementById(id));
        const pill = document.querySelector(".top .slot.status"), fresh = page.querySelector(".top .slot.status");
        if (pill && fresh && pill.innerHTML !== fresh.innerHTML) pill.replaceChildren(...fresh.childNodes);
        // Somebody may be writing in its forms: only when there is a trip, or none any more.
        const trip = document.getElementById("trip"), now = page.getElementById("trip");
        if (trip && now && !trip.childElementCount !== !now.childElementCount) trip.replaceWith(now);
        // Read out when it changes only.
        const old = document.getElementById("drive-alerts"), told = page.getElementById("drive-alerts");
        if (old && told && old.innerHTML !== told.innerHTML) old.replaceChildren(...told.childNodes);
        for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=trip]"))) {
            input.value = /** @type {HTMLInputElement | null} */ (page.querySelector("input[name=trip]"))?.value ?? input.value;
        }
        follow();
    });

    async function look() {
        if (!document.hidden) await droverLive.refresh();
        setTimeout(look, 1000);
    }
    setTimeout(look, 1000);
    start();

    const alerts = new EventSource(document.getElementById("values")?.dataset.events ?? "");
    alerts.addEventListener("alert", () => droverLive.refresh());
    addEventListener("pagehide", () => alerts.close());
    addEventListener("pageshow", (shown) => { if (shown.persisted) location.reload(); });

    // What counts is when it was pressed; pressed twice, it is said once. Of forms that come later, too.
    document.addEventListener("submit", (event) => {
        const form = /** @type {HTMLFormElement | null} */ (event.target instanceof Element ? event.target.closest("form.drive") : null);
        if (!form) return;
        const pressed = /** @type {HTMLInputElement} */ (form.elements.namedItem("ts"));
        if (pressed.value) return event.preventDefault();
        pressed.value = String(Date.now());
    });
})();
