"use strict";
// Pages of campus rides: the campus, vehicles, stops and itineraries on a map, made from the elements that say the same, and
// kept as they are now.

const droverCampus = (function () {
    const element = document.getElementById("map");
    const map = droverMap(element);
    const places = (text) => (text ? text.split(",").map((place) => place.split(" ").map(Number)) : []);
    const boundary = places(element.dataset.boundary);
    // Before anything is drawn: Leaflet clips lines by the view.
    fit();
    const marks = L.layerGroup().addTo(map);
    const ways = L.layerGroup().addTo(map);
    // Along roads, by the places that were asked for; null while it is asked, false where there is none.
    const roads = new Map();
    const roadsMax = 200;

    if (boundary.length) L.polygon(boundary, { className: "campus", interactive: false }).addTo(map);

    function sign(data) {
        const text = document.createElement("span");
        text.className = `sign ${data.kind}`;
        text.textContent = data.mark;
        return L.divIcon({ html: text, className: "", iconSize: [28, 28] });
    }

    function draw() {
        marks.clearLayers();
        ways.clearLayers();
        for (const { dataset } of document.querySelectorAll("[data-way]")) {
            const straight = places(dataset.way);
            if (straight.length < 2) continue;
            const road = dataset.road ? roads.get(dataset.roadOf) : false;
            if (road === undefined) ask(dataset.road, dataset.roadOf);
            // Straight where there is no road to be had: dashed, so that nobody takes it for one.
            if (road) L.polyline([straight[0], ...road], { className: "way", interactive: false }).addTo(ways);
            else L.polyline(straight, { className: "way", dashArray: "8 8", interactive: false }).addTo(ways);
        }
        for (const { dataset } of document.querySelectorAll("[data-mark]")) {
            const popup = document.createElement("span");
            popup.textContent = dataset.name;
            // Not by keyboard: the text beside it says the same in a better order.
            L.marker(dataset.place.split(" ").map(Number), { icon: sign(dataset), keyboard: false, zIndexOffset: dataset.kind === "stop" ? 0 : 500 })
                .bindPopup(popup).addTo(marks);
        }
    }

    async function ask(address, way) {
        if (roads.size >= roadsMax) roads.clear();
        roads.set(way, null);
        try {
            const answer = await fetch(address);
            roads.set(way, (answer.ok && (await answer.json()).points) || false);
        } catch {
            roads.delete(way);
        }
        if (roads.get(way)) draw();
    }

    function fit() {
        const all = [...boundary, ...[...document.querySelectorAll("[data-mark]")].map(({ dataset }) => dataset.place.split(" ").map(Number))];
        if (all.length) map.fitBounds(L.latLngBounds(all).pad(0.1), { maxZoom: 17, animate: false });
        else map.setView([30, 10], 2);
    }

    // MARK: live

    let stop = null, address = null;

    /** Listens where the page says, as long as it says so. */
    function follow() {
        const source = document.querySelector("[data-stream]");
        if (source?.dataset.stream === address) return;
        stop?.();
        address = source?.dataset.stream ?? null;
        stop = address ? droverLive.start(address, source.dataset.event) : null;
    }

    const kind = (page) => page.getElementById("now")?.dataset.kind;

    droverLive.onPage((page) => {
        // Another page by now: a ride that is over, a vehicle that left.
        if (kind(page) !== kind(document)) return location.reload();
        for (const old of document.querySelectorAll("[data-live]")) {
            droverLive.replace(old, page.getElementById(old.id));
        }
        follow();
        draw();
    });

    draw();
    follow();
    if (address) setInterval(droverLive.news, 30000);
    const again = document.querySelector("[data-again]");
    if (again) setTimeout(() => location.replace(again.dataset.again || location.href), 2000);

    // MARK: one's photo

    for (const form of document.querySelectorAll("form[data-photo]")) {
        const said = form.querySelector("[role=status]");
        form.addEventListener("submit", async (event) => {
            event.preventDefault();
            const [file] = form.querySelector("input[type=file]").files;
            said.textContent = "Sending.";
            try {
                const answer = await fetch(form.dataset.photo, { method: "POST", headers: { "X-Drover-Form": form.dataset.markOfForm }, body: file });
                said.textContent = answer.ok ? "Kept." : (await answer.json()).detail;
            } catch {
                said.textContent = "The server cannot be reached. Try again.";
            }
        });
    }

    return { map };
})();
