"use strict";
// The map of a tour that is read: waypoints of the list, the trail and the frame; for visitors with a player.

(async function showTour() {
    const element = document.getElementById("map");
    const places = (/** @type {string} */ text) => text.split(" ").filter(Boolean).map((pair) => /** @type {[number, number]} */ (pair.split(",").map(Number)));
    const frame = places(element.dataset.frame);
    const items = [...document.querySelectorAll("#waypoints > li")];
    const waypoints = items.map((item) => /** @type {[number, number]} */ (item.dataset.place.split(",").map(Number)));
    const all = [...frame, ...waypoints, ...places(element.dataset.line)].map(tourTurned);
    const map = await drover.map(element, all.length > 0 ? { bounds: boundsOf(all), maxZoom: 16 } : {});
    const lines = tourLines(map);
    if (frame.length === 2) lines.frame([frame[0], frame[1]]);
    lines.trail(places(element.dataset.line));
    lines.way(waypoints);
    waypoints.forEach((place, index) => {
        const title = items[index].querySelector("h2").textContent;
        tourMarker(map, place, index + 1, title, () => { items[index].scrollIntoView({ block: "start" }); player?.go(index, false); });
    });

    // The visitor's player: from stop to stop, by hand or as the visitor walks. Works without a network once the page is there.
    const bar = document.getElementById("player");
    const player = bar && items.length > 0 ? playing(bar) : null;

    /** @param {HTMLElement} bar */
    function playing(bar) {
        const [back, on, follow, words] = ["player-back", "player-on", "player-follow", "player-said"].map((id) => document.getElementById(id));
        const metres = (/** @type {[number, number]} */ a, /** @type {[number, number]} */ b) => Math.hypot((a[0] - b[0]) * 111_320, (a[1] - b[1]) * 111_320 * Math.cos(a[0] * Math.PI / 180));
        let current = 0, /** @type {[number, number] | null} */ me = null, /** @type {any} */ pin = null, /** @type {number | null} */ watch = null;

        function tell(trouble = "") {
            const title = items[current].querySelector("h2").textContent;
            const stop = t("Stop %1 of %2: %3", current + 1, items.length, title);
            words.textContent = trouble || (me ? t("%1, %2 m away", stop, Math.round(metres(me, waypoints[current]))) : stop);
            back.disabled = current === 0;
            on.disabled = current === items.length - 1;
        }

        function go(/** @type {number} */ index, isMoved = true) {
            items[current].removeAttribute("aria-current");
            current = index;
            items[current].setAttribute("aria-current", "step");
            if (isMoved) map.fly(tourTurned(waypoints[current]), 16);
            tell();
        }

        back.addEventListener("click", () => go(Math.max(0, current - 1)));
        on.addEventListener("click", () => go(Math.min(items.length - 1, current + 1)));
        follow.addEventListener("click", () => {
            if (watch !== null || !navigator.geolocation) return tell(watch === null ? t("This device does not tell where it is.") : "");
            watch = navigator.geolocation.watchPosition(({ coords }) => {
                const here = /** @type {[number, number]} */ ([coords.latitude, coords.longitude]);
                me = here;
                if (pin) pin.move(tourTurned(here));
                else pin = map.pin({ at: tourTurned(here), kind: "start", label: t("You are here") });
                // Who has come to a stop reads of it.
                const near = waypoints.findIndex((place) => metres(here, place) < 30);
                if (near >= 0 && near !== current) go(near, false);
                tell();
            }, () => tell(t("This device does not tell where it is.")), { enableHighAccuracy: true, maximumAge: 5000 });
        });
        bar.hidden = false;
        go(0, false);
        return { go };
    }
})();
