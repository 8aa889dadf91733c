"use strict";
// Where somebody starts, goes or stands: chosen on the map, or said by the device. And a driver's position while the page is
// open.
(async function () {
    const chosen = new Map();
    /** Places on the map, each with what chooses it. */
    const signs = [];
    const tools = [...document.querySelectorAll(".tools")];
    const fields = (prefix) => ["latitude_deg", "longitude_deg"].map((name) => document.getElementById(prefix + name));
    for (const tool of tools) tool.hidden = false;

    const map = await droverCampus.ready;

    // MARK: by name

    const named = new Map([...document.querySelectorAll("[data-places]")].map((element) => [element.dataset.places, element]));

    /** The place that is chosen by its name; the one without a name is what is typed. */
    function choice(prefix) {
        const list = named.get(prefix);
        const chosen = list instanceof HTMLSelectElement ? list.selectedOptions[0] : list?.querySelector("input:checked");
        return chosen?.value ? chosen : null;
    }

    /** Another place than one by its name. */
    function forget(prefix) {
        const list = named.get(prefix);
        if (list instanceof HTMLSelectElement) list.value = "";
        else if (list) list.querySelector("input[value='']").checked = true;
    }

    function open(prefix) {
        const details = document.getElementById(prefix + "address")?.closest("details");
        if (details) details.open = true;
    }

    for (const [prefix, list] of named) {
        list.addEventListener("change", () => {
            if (!choice(prefix) && prefix === "to_") open(prefix);
            show(prefix);
        });
    }

    for (const filter of document.querySelectorAll("[data-filter]")) {
        filter.addEventListener("input", () => {
            const words = filter.value.trim().toLowerCase();
            for (const each of named.get(filter.dataset.filter).querySelectorAll(".choice")) {
                const input = each.querySelector("input");
                each.hidden = Boolean(words && input.value && !input.checked && !input.value.toLowerCase().includes(words));
            }
        });
        filter.addEventListener("keydown", (event) => {
            if (event.key !== "Enter") return;
            // The first that is left, instead of sending the form.
            event.preventDefault();
            const first = [...named.get(filter.dataset.filter).querySelectorAll(".choice:not([hidden]) input")].find(({ value }) => value);
            if (first) first.click();
        });
    }

    function show(prefix) {
        const at = choice(prefix)?.dataset.at.split(" ").map(Number);
        if (at) return pin(prefix, at[0], at[1]);
        const [latitude, longitude] = fields(prefix).map((field) => Number(field.value.replace(",", ".")));
        const isPlace = fields(prefix).every((field) => field.value.trim()) && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
        pin(prefix, isPlace ? latitude : null, longitude);
    }

    /** That of a chosen place always. */
    function showNames() {
        for (const { element, input } of signs) element.toggleAttribute("data-chosen", input.checked);
        droverCampus.thin();
    }

    function pin(prefix, latitude, longitude) {
        showNames();
        chosen.get(prefix)?.remove();
        chosen.delete(prefix);
        if (latitude === null) return;
        const label = { from_: t("From here"), to_: t("To here") }[prefix] ?? t("The chosen place");
        chosen.set(prefix, map.pin({ at: [longitude, latitude], kind: "chosen", text: { from_: "↑", to_: "↓" }[prefix] ?? "●", label }));
    }

    function fill(prefix, latitude, longitude) {
        const [first, second] = fields(prefix);
        first.value = latitude.toFixed(6);
        second.value = longitude.toFixed(6);
        forget(prefix);
        show(prefix);
    }

    // MARK: on the map

    const ends = [...document.querySelectorAll("[data-end]")].map(({ dataset }) => dataset.end);
    const form = document.getElementById("ask") ?? document.getElementById("enter") ?? document.getElementById("place");
    let next = ends[0] ?? "";
    const picks = [...document.querySelectorAll("[data-pick]")];

    const isMissing = (prefix) => !choice(prefix) && !fields(prefix)[0].value && !document.getElementById(prefix + "address").value;

    function choose(prefix) {
        next = prefix;
        for (const pick of picks) pick.setAttribute("aria-pressed", String(pick.dataset.pick === prefix));
    }

    for (const pick of picks) pick.addEventListener("click", () => { choose(pick.dataset.pick); scrollTo({ top: 0 }); });
    if (form) {
        if (ends.length) choose(next);
        for (const prefix of ends.length ? ends : [""]) {
            show(prefix);
            for (const field of fields(prefix)) field.addEventListener("change", () => show(prefix));
            // What is typed counts, not what was chosen before.
            for (const field of [...fields(prefix), document.getElementById(prefix + "address")]) field?.addEventListener("input", () => { forget(prefix); show(prefix); });
        }
        droverCampus.onClick(([longitude, latitude]) => {
            fill(next, latitude, longitude);
            // The other end is what is missing now.
            if (ends.length) choose(ends.find(isMissing) ?? next);
        });
    }

    // A place that is tapped is where one goes. All names at once are read only where there are few.
    const to = named.get("to_"), inputs = [...(to?.querySelectorAll("input[data-at]") ?? [])];
    for (const input of inputs) {
        const [latitude, longitude] = input.dataset.at.split(" ").map(Number);
        const { element } = map.pin({ at: [longitude, latitude], kind: "stop", text: "•", label: input.value, onclick: () => input.click() });
        element.tabIndex = -1;
        if (inputs.length <= 30) element.append(drover.element("span", { class: "nm" }, input.value));
        signs.push({ element, input });
    }
    showNames();

    // MARK: by the device

    /** @param {HTMLElement} here @param {(place: GeolocationCoordinates) => void} found */
    function locate(here, found) {
        if (!navigator.geolocation) return;
        navigator.geolocation.getCurrentPosition(
            ({ coords }) => found(coords), () => { here.textContent = t("Your device does not say where it is"); },
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
    const isEmpty = () => isMissing("from_");
    const ask = document.getElementById("ask"), asking = document.getElementById("asking");
    /** @type {"no" | "asked" | "said"} */ let located = "no";
    // "My position" is asked for when it is needed; without it the server says what is missing.
    ask?.addEventListener("submit", (event) => {
        if (located === "said" || located === "no" && (!isEmpty() || !navigator.geolocation)) return;
        event.preventDefault();
        if (located === "asked") return;
        located = "asked";
        asking.textContent = t("Looking for your position …");
        const go = () => { located = "said"; asking.textContent = ""; ask.requestSubmit(); };
        navigator.geolocation.getCurrentPosition(
            ({ coords }) => { fill("from_", coords.latitude, coords.longitude); go(); }, go, { enableHighAccuracy: true, timeout: 8000 });
    });
    const may = start && isEmpty() && await navigator.permissions?.query({ name: "geolocation" }).catch(() => null);
    if (may?.state === "granted") {
        locate(start, ({ latitude, longitude }) => {
            if (!isEmpty()) return;
            fill("from_", latitude, longitude);
            choose("to_");
        });
    }

    // Phones of one maker know no geo: addresses.
    if (/iPhone|iPad/.test(navigator.userAgent)) {
        document.addEventListener("click", (event) => {
            const link = event.target instanceof Element ? event.target.closest("a[data-navigate]") : null;
            if (link) link.href = `https://maps.apple.com/?daddr=${link.dataset.navigate}`;
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
            say(answer.type === "opaqueredirect" ? t("It is sent.") : t("Your position was not accepted: type it below, or reload this page."));
        } catch {
            if (!leaving.signal.aborted) say(t("No connection: your position is not sent. It goes on by itself when you are back online."));
        }
        isAsking = false;
    }

    function watch() {
        if (!track.checked) return say(t("It is not sent: tick the box, or you get no rides."));
        if (!navigator.geolocation) return say(t("This device does not say where it is: type your position below."));
        if (isAsking || leaving.signal.aborted) return;
        isAsking = true;
        navigator.geolocation.getCurrentPosition(
            send, (error) => { isAsking = false; say(error.code === 1 ? t("Location is off for this site: allow it in your browser’s settings, or type your position below.") : t("Your device does not find where it is: go outdoors, or type your position below.")); },
            { enableHighAccuracy: true, maximumAge: 1000, timeout: 10000 });
    }

    setInterval(watch, everyMs);
    track.addEventListener("change", watch);
    watch();
})();
