"use strict";
// The editor of a tour. What is on the map can also be typed and moved by buttons; the map only follows. Nothing is sent
// before Save, but pictures, films and GPX files, which the server checks at once.

(async function editTour() {
    const root = document.getElementById("editor");
    const tourID = root.dataset.tour;
    const at = (id) => document.getElementById(id);
    const list = at("waypoints");
    const corners = ["south", "west", "north", "east"];

    let tour, media, revision, version, proposed = null, isDirty = false;

    // MARK: The server

    async function call(method, path, body, headers = {}) {
        const answer = await fetch(path, { method, body, headers: { "X-Drover-Form": root.dataset.form, ...headers } });
        const said = await answer.json().catch(() => ({}));
        if (!answer.ok) throw new Error(said.detail || t("The server answered %1. Try again.", answer.status));
        return said;
    }

    /** Runs what a button does, and says what went wrong. */
    function doing(action) {
        return async (event) => {
            try { await action(event); } catch (error) { say(error.message, true); }
        };
    }

    function say(text, isFault = false) {
        at("said").textContent = text;
        at("said").className = isFault ? "critical" : "soft";
    }

    function changed() {
        isDirty = true;
        proposed = null;
        at("accept").hidden = true;
        at("proposal").textContent = "";
    }
    addEventListener("beforeunload", (event) => { if (isDirty) event.preventDefault(); });

    function take(answer) {
        ({ revision, version } = answer);
        at("walk").textContent = tour.waypoints.length < 2 ? "" : walkText(answer.walk.length_m, answer.walk.walking_min);
        at("missing").replaceChildren(...answer.missing.map((text) => make("li", { textContent: text })));
        at("publish").textContent = t("Publish version %1", version + 1);
    }

    function walkText(metres, minutes) {
        return t("%1 km in straight lines, about %2 min at 5 km/h without stops.", (metres / 1000).toFixed(2), minutes);
    }

    // MARK: The map

    const map = await drover.map(at("map"), { keys: true, onClick: clicked });
    const { frame, trail, way } = tourLines(map);
    let shown = [];

    function drawLines() {
        trail(tour.track);
        way(tour.waypoints.map(place));
        frame(tour.corners && [tour.corners.south_west, tour.corners.north_east]);
        at("trail").textContent = tour.track.length ? tn(tour.track.length, "The trail has %1 point.", "The trail has %1 points.") : t("No trail yet.");
    }

    function drawMarkers() {
        for (const marker of shown) marker.remove();
        shown = tour.waypoints.map((waypoint, index) => tourMarker(map, place(waypoint), index + 1, waypoint.title || t("without a title"),
            () => list.children[index].querySelector("input").focus(),
            (dragged) => {
                [waypoint.latitude, waypoint.longitude] = rounded(dragged);
                changed();
                show();
            }));
    }

    /** A marker that was typed at. It stays the same: leaving a field may be the beginning of dragging it. */
    function follow(waypoint, index) {
        const label = t("Waypoint %1: %2", index + 1, waypoint.title || t("without a title"));
        shown[index].move(tourTurned(place(waypoint)));
        shown[index].element.title = label;
        shown[index].element.setAttribute("aria-label", label);
        drawLines();
    }

    /** @returns {[number, number]} */
    function place(waypoint) { return [waypoint.latitude, waypoint.longitude]; }

    /** To a centimetre, as it is kept. @param {number[]} place @returns {[number, number]} */
    function rounded([latitude, longitude]) {
        return [Number(latitude.toFixed(7)), Number(longitude.toFixed(7))];
    }

    function fit() {
        const all = [...tour.waypoints.map(place), ...tour.track];
        if (tour.corners) all.push(tour.corners.south_west, tour.corners.north_east);
        if (all.length > 0) map.fit(boundsOf(all.map(tourTurned)), 48, 16);
        return all.length > 0;
    }

    /** An empty tour begins where the last one was worked on, or where the ranger is. */
    function begin() {
        const near = (root.dataset.near || "").split(" ").filter(Boolean).map((pair) => /** @type {[number, number]} */ (pair.split(",").map(Number)));
        if (near.length === 2) map.fit(boundsOf(near.map(tourTurned)), 48, 16);
        // Nobody is asked for it who only opens the page.
        navigator.permissions?.query({ name: "geolocation" }).then(({ state }) => { if (state === "granted") goHere(false); }, () => {});
    }

    /** @param {boolean} isAsked by the ranger, who is told what keeps it from being done. */
    function goHere(isAsked) {
        if (!navigator.geolocation) return isAsked && say(t("This device does not tell where it is."), true);
        navigator.geolocation.getCurrentPosition(({ coords }) => {
            // Whoever has begun meanwhile is not moved away.
            if (isAsked || tour.waypoints.length + tour.track.length === 0) map.fly([coords.longitude, coords.latitude], 15);
        }, () => isAsked && say(t("This device does not tell where it is."), true), { timeout: 10_000, maximumAge: 60_000 });
    }

    /** A frame around all places with a quarter of a kilometre to spare, where the ranger has chosen none. */
    function frameAll() {
        const all = [...tour.waypoints.map(place), ...tour.track];
        if (tour.corners || all.length === 0) return;
        const [[west, south], [east, north]] = boundsOf(all.map(tourTurned)), high = 0.00225, wide = high / Math.cos(south * Math.PI / 180);
        tour.corners = { south_west: rounded([south - high, west - wide]), north_east: rounded([north + high, east + wide]) };
        changed();
        fill();
    }

    function clicked(position) {
        const mode = root.querySelector("input[name=click]:checked").value;
        if (mode === "waypoint") addWaypoint(rounded(tourTurned(position)));
        if (mode === "track") {
            tour.track.push(rounded(tourTurned(position)));
            changed();
            drawLines();
        }
    }

    // MARK: Waypoints

    function make(name, properties = {}, ...children) {
        const element = Object.assign(document.createElement(name), properties);
        element.append(...children);
        return element;
    }

    function addWaypoint([latitude, longitude]) {
        const used = new Set(tour.waypoints.map((waypoint) => waypoint.id));
        let number = tour.waypoints.length + 1;
        while (used.has(`w${number}`)) number += 1;
        tour.waypoints.push({ id: `w${number}`, latitude, longitude, title: "", text: "", media: [] });
        changed();
        show();
        list.lastElementChild.querySelector("input").focus();
    }

    /** The list and the map as the tour is. */
    function show() {
        list.replaceChildren(...tour.waypoints.map(item));
        drawLines();
        drawMarkers();
    }

    function field(waypoint, index, name, label, properties, tag = "input") {
        const id = `w-${index}-${name}`;
        const input = make(tag, { id, value: waypoint[name], ...properties });
        input.addEventListener("change", () => {
            if (!input.checkValidity() || (input.type === "number" && input.value === "")) {
                say(t("%1 of waypoint %2 is no number of degrees.", label, index + 1), true);
                return;
            }
            waypoint[name] = input.type === "number" ? Number(input.value) : input.value;
            changed();
            follow(waypoint, index);
        });
        return [make("label", { htmlFor: id, textContent: label }), input];
    }

    function item(waypoint, index) {
        const button = (text, name, action, isDisabled = false) => {
            const made = make("button", { type: "button", className: "quiet", textContent: text, disabled: isDisabled });
            made.dataset.do = name;
            made.setAttribute("aria-label", t("%1: waypoint %2", text, index + 1));
            made.addEventListener("click", doing(action));
            return made;
        };
        const file = make("input", { type: "file", id: `w-${index}-file`, accept: "image/jpeg,image/png,image/webp,video/mp4,video/webm" });
        file.addEventListener("change", doing(() => upload(waypoint, file)));
        return make("li", {}, make("fieldset", { className: "fields" },
            make("legend", { textContent: t("Waypoint %1", index + 1) }),
            ...field(waypoint, index, "title", t("Title"), { type: "text", maxLength: 200 }),
            ...field(waypoint, index, "latitude", t("Latitude"), { type: "number", step: "any", min: -90, max: 90 }),
            ...field(waypoint, index, "longitude", t("Longitude"), { type: "number", step: "any", min: -180, max: 180 }),
            ...field(waypoint, index, "text", t("Text"), { rows: 3, maxLength: 4000 }, "textarea"),
            ...(waypoint.media.length ? [make("ul", { className: "media" }, ...waypoint.media.map((name, number) => medium(waypoint, name, number)))] : []),
            make("label", { htmlFor: file.id, textContent: t("Add a picture (to 5 MB) or film (to 32 MB)") }), file,
            make("p", { className: "tools" },
                button(t("Earlier"), "earlier", () => move(index, -1), index === 0),
                button(t("Later"), "later", () => move(index, 1), index === tour.waypoints.length - 1),
                button(t("Show on the map"), "see", () => map.fly(tourTurned(place(waypoint)), Math.max(map.view().zoom, 15))),
                button(t("Remove"), "remove", () => {
                    tour.waypoints.splice(index, 1);
                    changed();
                    show();
                    (list.children[Math.min(index, list.children.length - 1)]?.querySelector("input") ?? at("add")).focus();
                }))));
    }

    function medium(waypoint, name, number) {
        const address = `/tours/${tourID}/media/${name}`;
        const picture = (media[name] || "").startsWith("video/")
            ? make("video", { src: address, controls: true, preload: "metadata" })
            : make("img", { src: address, alt: "" });
        const remove = make("button", { type: "button", className: "quiet", textContent: t("Remove") });
        remove.setAttribute("aria-label", t("Remove: picture or film %1 of %2", number + 1, waypoint.title || t("the waypoint")));
        remove.addEventListener("click", () => {
            waypoint.media.splice(number, 1);
            changed();
            show();
        });
        return make("li", {}, picture, remove);
    }

    async function upload(waypoint, input) {
        const [file] = input.files;
        if (!file) return;
        say(t("Sending %1", file.name));
        const kept = await call("POST", `/tour-media?tour=${tourID}`, file, { "Content-Type": "application/octet-stream" });
        media[kept.medium] = kept.type;
        if (!waypoint.media.includes(kept.medium)) waypoint.media.push(kept.medium);
        changed();
        show();
        say(t("%1 is added: %2, %3 bytes.", file.name, kept.type, kept.bytes.toLocaleString("en")));
    }

    function move(index, by) {
        const [waypoint] = tour.waypoints.splice(index, 1);
        tour.waypoints.splice(index + by, 0, waypoint);
        changed();
        show();
        const buttons = list.children[index + by];
        const same = buttons.querySelector(`[data-do=${by < 0 ? "earlier" : "later"}]`);
        (same.disabled ? buttons.querySelector("input") : same).focus();
        say(t("Waypoint %1 is number %2 now.", index + 1, index + by + 1));
    }

    // MARK: The tour as a whole

    function fill() {
        at("area").value = tour.area;
        at("text").value = tour.text;
        if (at("zoom")) at("zoom").value = tour.map_zoom;
        const edges = tour.corners ? [...tour.corners.south_west, ...tour.corners.north_east] : ["", "", "", ""];
        corners.forEach((id, index) => { at(id).value = edges[index]; });
        show();
    }

    for (const name of ["area", "text"]) {
        at(name).addEventListener("change", () => {
            tour[name] = at(name).value;
            changed();
        });
    }
    at("zoom")?.addEventListener("change", () => {
        if (!at("zoom").checkValidity() || at("zoom").value === "") return say(t("The finest zoom is no whole number from 0 to 17."), true);
        tour.map_zoom = Number(at("zoom").value);
        changed();
    });
    for (const id of corners) {
        at(id).addEventListener("change", () => {
            const [south, west, north, east] = corners.map((edge) => at(edge).value);
            // Four make a frame.
            tour.corners = [south, west, north, east].includes("") ? null
                : { south_west: [Number(south), Number(west)], north_east: [Number(north), Number(east)] };
            changed();
            drawLines();
        });
    }
    at("frame").addEventListener("click", () => {
        const [southWest, northEast] = map.view().bounds;
        tour.corners = { south_west: rounded(tourTurned(southWest)), north_east: rounded(tourTurned(northEast)) };
        changed();
        fill();
    });
    at("see").addEventListener("click", fit);
    at("here").addEventListener("click", () => goHere(true));
    at("undo").addEventListener("click", () => {
        tour.track.pop();
        changed();
        drawLines();
    });
    at("clear").addEventListener("click", () => {
        tour.track = [];
        changed();
        drawLines();
    });
    at("add").addEventListener("click", () => addWaypoint(rounded(tourTurned(map.view().center))));
    at("gpx").addEventListener("change", doing(async () => {
        const [file] = at("gpx").files;
        if (!file) return;
        const read = await call("POST", "/tour-track", file, { "Content-Type": "application/gpx+xml" });
        tour.track = read.track;
        changed();
        drawLines();
        fit();
        say(t("%1 has %2 points; %3 of them draw the trail.", file.name, read.points, read.track.length));
    }));

    at("propose").addEventListener("click", doing(async () => {
        const found = await call("POST", `/tours/${tourID}/order`,
            JSON.stringify({ places: tour.waypoints.map(place), is_round: at("round").checked }), { "Content-Type": "application/json" });
        const isSame = found.order.every((place, index) => place === index);
        at("proposal").textContent = isSame
            ? t("The order as it is is the shortest that was found: %1", walkText(found.length_m, found.walking_min))
            : t("Shortest order: %1. %2 As it is: %3", found.order.map((index) => index + 1).join(", "), walkText(found.length_m, found.walking_min),
                walkText(found.given_length_m, found.given_walking_min));
        proposed = isSame ? null : found.order;
        at("accept").hidden = isSame;
    }));
    at("accept").addEventListener("click", () => {
        if (!proposed) return;
        tour.waypoints = proposed.map((index) => tour.waypoints[index]);
        changed();
        show();
        list.querySelector("input").focus();
        say(t("The waypoints stand in the proposed order."));
    });

    async function save() {
        take(await call("PUT", `/tours/${tourID}/draft`, JSON.stringify(tour), { "Content-Type": "application/json", "If-Match": String(revision) }));
        isDirty = false;
        say(t("Saved."));
    }
    at("save").addEventListener("click", doing(save));
    at("publish").addEventListener("click", doing(async () => {
        frameAll();
        if (isDirty) await save();
        const made = await call("POST", `/tours/${tourID}/publish`, JSON.stringify({ revision, version: version + 1 }), { "Content-Type": "application/json" });
        version = made.version;
        at("publish").textContent = t("Publish version %1", version + 1);
        at("published").replaceChildren(t("Version %1 is published: %2 bytes.", made.version, made.bytes.toLocaleString("en")) + " ",
            make("a", { href: made.package, textContent: t("Download the package") }));
    }));

    // The last: everything above answers by now.
    await doing(async () => {
        const kept = await call("GET", `/tours/${tourID}/draft`);
        ({ tour, media } = kept);
        take(kept);
        fill();
        if (!fit()) begin();
        root.dataset.ready = "yes";
    })();
})();
