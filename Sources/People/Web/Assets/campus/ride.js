"use strict";
// Where somebody starts, goes or stands: chosen on the map, or said by the device. And a driver's position while the page is
// open.
(async function () {
    const chosen = new Map();
    const tools = [...document.querySelectorAll(".tools")];
    const fields = (prefix) => ["latitude_deg", "longitude_deg"].map((name) => document.getElementById(prefix + name));
    for (const tool of tools) tool.hidden = false;

    const map = await droverCampus.ready;

    function show(prefix) {
        const [latitude, longitude] = fields(prefix).map((field) => Number(field.value.replace(",", ".")));
        const isPlace = fields(prefix).every((field) => field.value.trim()) && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
        chosen.get(prefix)?.remove();
        chosen.delete(prefix);
        if (!isPlace) return;
        const label = { from_: "From here", to_: "To here" }[prefix] ?? "The chosen place";
        chosen.set(prefix, map.pin({ at: [longitude, latitude], kind: "chosen", text: { from_: "↑", to_: "↓" }[prefix] ?? "●", label }));
    }

    function fill(prefix, latitude, longitude) {
        const [first, second] = fields(prefix);
        first.value = latitude.toFixed(6);
        second.value = longitude.toFixed(6);
        show(prefix);
    }

    // MARK: on the map

    const ends = [...document.querySelectorAll("[data-end]")].map(({ dataset }) => dataset.end);
    const form = document.getElementById("ask") ?? document.getElementById("enter");
    let next = ends[0] ?? "";
    const picks = [...document.querySelectorAll("[data-pick]")];

    function choose(prefix) {
        next = prefix;
        for (const pick of picks) pick.setAttribute("aria-pressed", String(pick.dataset.pick === prefix));
    }

    for (const pick of picks) pick.addEventListener("click", () => { choose(pick.dataset.pick); document.getElementById("map").scrollIntoView({ block: "nearest" }); });
    if (form) {
        if (ends.length) choose(next);
        for (const prefix of ends.length ? ends : [""]) {
            show(prefix);
            for (const field of fields(prefix)) field.addEventListener("change", () => show(prefix));
        }
        droverCampus.onClick(([longitude, latitude]) => {
            fill(next, latitude, longitude);
            // The other end is what is missing now.
            if (ends.length) choose(ends.find((end) => !fields(end)[0].value && !document.getElementById(end + "address").value) ?? next);
        });
    }

    // MARK: by the device

    /** @param {HTMLElement} here @param {(place: GeolocationCoordinates) => void} found */
    function locate(here, found) {
        if (!navigator.geolocation) return;
        navigator.geolocation.getCurrentPosition(
            ({ coords }) => found(coords), () => { here.textContent = "Your device does not say where it is"; },
            { enableHighAccuracy: true, timeout: 20000 });
    }

    for (const here of document.querySelectorAll("[data-here]")) {
        here.addEventListener("click", () => locate(here, ({ latitude, longitude }) => {
            fill(here.dataset.here, latitude, longitude);
            map.fly([longitude, latitude], 16);
        }));
    }

    // Whoever lets this page know where they are starts there, unless they say something else: then the map asks where to.
    const start = document.getElementById("ask")?.querySelector("[data-here=from_]");
    const isEmpty = () => !fields("from_")[0].value && !document.getElementById("from_address").value;
    const may = start && isEmpty() && await navigator.permissions?.query({ name: "geolocation" }).catch(() => null);
    if (may?.state === "granted") {
        locate(start, ({ latitude, longitude }) => {
            if (!isEmpty()) return;
            fill("from_", latitude, longitude);
            choose("to_");
        });
    }

    const track = document.getElementById("track");
    if (!track) return;
    const said = document.getElementById("tracked"), position = document.getElementById("position");
    // The server takes 240 records a minute of a driver. Who stands still is asked for, too: a stop is reached by standing there.
    const everyMs = 3000;
    let isAsking = false;
    // Whoever sends a form leaves this page, perhaps the service, too: a position that came after it would be refused.
    const leaving = new AbortController();
    document.addEventListener("submit", (event) => { if (!event.defaultPrevented) leaving.abort(); });
    addEventListener("pageshow", (shown) => { if (shown.persisted) location.reload(); });

    const say = (text) => { if (said.textContent !== text) said.textContent = text; };

    async function send({ coords }) {
        const body = new URLSearchParams({ form: position.elements.form.value, latitude_deg: coords.latitude.toFixed(7), longitude_deg: coords.longitude.toFixed(7) });
        if (coords.speed !== null && coords.speed >= 0) body.set("speed_mps", coords.speed.toFixed(2));
        try {
            const answer = await fetch(position.action, { method: "POST", body, redirect: "manual", signal: leaving.signal });
            say(answer.type === "opaqueredirect" ? "It is sent." : "Your position was not accepted.");
        } catch {
            if (!leaving.signal.aborted) say("Your position cannot be sent: no connection.");
        }
        isAsking = false;
    }

    function watch() {
        if (!track.checked) return say("It is not sent.");
        if (!navigator.geolocation) return say("This device does not say where it is: type positions.");
        if (isAsking || leaving.signal.aborted) return;
        isAsking = true;
        navigator.geolocation.getCurrentPosition(
            send, () => { isAsking = false; say("Your device does not say where it is: type positions."); },
            { enableHighAccuracy: true, maximumAge: 1000, timeout: 10000 });
    }

    setInterval(watch, everyMs);
    track.addEventListener("change", watch);
    watch();
})();
