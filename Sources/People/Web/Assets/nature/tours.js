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
        if (!answer.ok) throw new Error(said.detail || `The server answered ${answer.status}. Try again.`);
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
        at("publish").textContent = `Publish version ${version + 1}`;
    }

    function walkText(metres, minutes) {
        return `${(metres / 1000).toFixed(2)} km in straight lines, about ${minutes} min at 5 km/h without stops.`;
    }

    // MARK: The map

    const map = await drover.map(at("map"), { keys: true, onClick: clicked });
    const { frame, trail, way } = tourLines(map);
    let shown = [];

    function drawLines() {
        trail(tour.track);
        way(tour.waypoints.map(place));
        frame(tour.corners && [tour.corners.south_west, tour.corners.north_east]);
        at("trail").textContent = tour.track.length ? `The trail has ${tour.track.length} points.` : "There is no trail yet.";
    }

    function drawMarkers() {
        for (const marker of shown) marker.remove();
        shown = tour.waypoints.map((waypoint, index) => tourMarker(map, place(waypoint), index + 1, waypoint.title || "without a title",
            () => list.children[index].querySelector("input").focus(),
            (dragged) => {
                [waypoint.latitude, waypoint.longitude] = rounded(dragged);
                changed();
                show();
            }));
    }

    /** A marker that was typed at. It stays the same: leaving a field may be the beginning of dragging it. */
    function follow(waypoint, index) {
        const label = `Waypoint ${index + 1}: ${waypoint.title || "without a title"}`;
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
                say(`${label} of waypoint ${index + 1} is no number of degrees.`, true);
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
            made.setAttribute("aria-label", `${text}: waypoint ${index + 1}`);
            made.addEventListener("click", doing(action));
            return made;
        };
        const file = make("input", { type: "file", id: `w-${index}-file`, accept: "image/jpeg,image/png,image/webp,video/mp4,video/webm" });
        file.addEventListener("change", doing(() => upload(waypoint, file)));
        return make("li", {}, make("fieldset", { className: "fields" },
            make("legend", { textContent: `Waypoint ${index + 1}` }),
            ...field(waypoint, index, "title", "Title", { type: "text", maxLength: 200 }),
            ...field(waypoint, index, "latitude", "Latitude", { type: "number", step: "any", min: -90, max: 90 }),
            ...field(waypoint, index, "longitude", "Longitude", { type: "number", step: "any", min: -180, max: 180 }),
            ...field(waypoint, index, "text", "Text", { rows: 3, maxLength: 4000 }, "textarea"),
            ...(waypoint.media.length ? [make("ul", { className: "media" }, ...waypoint.media.map((name, number) => medium(waypoint, name, number)))] : []),
            make("label", { htmlFor: file.id, textContent: "Add a picture (to 5 MB) or film (to 32 MB)" }), file,
            make("p", { className: "tools" },
                button("Earlier", "earlier", () => move(index, -1), index === 0),
                button("Later", "later", () => move(index, 1), index === tour.waypoints.length - 1),
                button("Show on the map", "see", () => map.fly(tourTurned(place(waypoint)), Math.max(map.view().zoom, 15))),
                button("Remove", "remove", () => {
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
        const remove = make("button", { type: "button", className: "quiet", textContent: "Remove" });
        remove.setAttribute("aria-label", `Remove: picture or film ${number + 1} of ${waypoint.title || "the waypoint"}`);
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
        say(`${file.name} is sent.`);
        const kept = await call("POST", `/tour-media?tour=${tourID}`, file, { "Content-Type": "application/octet-stream" });
        media[kept.medium] = kept.type;
        if (!waypoint.media.includes(kept.medium)) waypoint.media.push(kept.medium);
        changed();
        show();
        say(`${file.name} is added: ${kept.type}, ${kept.bytes.toLocaleString("en")} bytes.`);
    }

    function move(index, by) {
        const [waypoint] = tour.waypoints.splice(index, 1);
        tour.waypoints.splice(index + by, 0, waypoint);
        changed();
        show();
        const buttons = list.children[index + by];
        const same = buttons.querySelector(`[data-do=${by < 0 ? "earlier" : "later"}]`);
        (same.disabled ? buttons.querySelector("input") : same).focus();
        say(`Waypoint ${index + 1} is number ${index + by + 1} now.`);
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
        if (!at("zoom").checkValidity() || at("zoom").value === "") return say("The finest zoom is no whole number from 0 to 17.", true);
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
        say(`${file.name} has ${read.points} points; ${read.track.length} of them draw the trail.`);
    }));

    at("propose").addEventListener("click", doing(async () => {
        const found = await call("POST", `/tours/${tourID}/order`,
            JSON.stringify({ places: tour.waypoints.map(place), is_round: at("round").checked }), { "Content-Type": "application/json" });
        const isSame = found.order.every((place, index) => place === index);
        at("proposal").textContent = isSame
            ? `The order as it is is the shortest that was found: ${walkText(found.length_m, found.walking_min)}`
            : `Shortest order: ${found.order.map((index) => index + 1).join(", ")}. ${walkText(found.length_m, found.walking_min)}`
                + ` As it is: ${walkText(found.given_length_m, found.given_walking_min)}`;
        proposed = isSame ? null : found.order;
        at("accept").hidden = isSame;
    }));
    at("accept").addEventListener("click", () => {
        if (!proposed) return;
        tour.waypoints = proposed.map((index) => tour.waypoints[index]);
        changed();
        show();
        list.querySelector("input").focus();
        say("The waypoints stand in the proposed order.");
    });

    async function save() {
        take(await call("PUT", `/tours/${tourID}/draft`, JSON.stringify(tour), { "Content-Type": "application/json", "If-Match": String(revision) }));
        isDirty = false;
        say("Saved.");
    }
    at("save").addEventListener("click", doing(save));
    at("publish").addEventListener("click", doing(async () => {
        if (isDirty) await save();
        const made = await call("POST", `/tours/${tourID}/publish`, JSON.stringify({ revision, version: version + 1 }), { "Content-Type": "application/json" });
        version = made.version;
        at("publish").textContent = `Publish version ${version + 1}`;
        at("published").replaceChildren(`Version ${made.version} is published: ${made.bytes.toLocaleString("en")} bytes. `,
            make("a", { href: made.package, textContent: "Download the package" }));
    }));

    // The last: everything above answers by now.
    await doing(async () => {
        const kept = await call("GET", `/tours/${tourID}/draft`);
        ({ tour, media } = kept);
        take(kept);
        fill();
        fit();
        root.dataset.ready = "yes";
    })();
})();
