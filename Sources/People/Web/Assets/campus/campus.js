"use strict";
// Pages of campus rides: the campus, vehicles, stops and itineraries on a map, made from the elements that say the same, and
// kept as they are now.

const droverCampus = (function () {
    const element = document.getElementById("map");
    /** @returns {[number, number]} of latitude and longitude, as pages write them */
    const place = (/** @type {string} */ pair) => {
        const [latitude, longitude] = pair.split(" ").map(Number);
        return [longitude, latitude];
    };
    const places = (/** @type {string | undefined} */ text) => (text ? text.split(",").map(place) : []);
    const boundary = places(element.dataset.boundary);
    // Along roads, by the places that were asked for; null while it is asked, false where there is none.
    /** @type {Map<string, [number, number][] | false | null>} */ const roads = new Map();
    const roadsMax = 200;
    /** @type {((at: [number, number]) => void)[]} */ const clicked = [];
    /** @type {any} */ let map = null;

    const ready = drover.map(element, { ...view(), onClick: (/** @type {[number, number]} */ at) => { for (const hear of clicked) hear(at); } }).then((/** @type {any} */ made) => {
        map = made;
        showCampus();
        draw();
        map.map?.on("moveend", thin);
        return made;
    });

    /** What is shown first. */
    function view() {
        const all = [...boundary, ...[...document.querySelectorAll("[data-mark]")].map(({ dataset }) => place(dataset.place))];
        return all.length ? { bounds: boundsOf(all), maxZoom: 17, pad: { top: 40, right: 40, bottom: 40 + covered(), left: 40 } } : {};
    }

    /** How much of the map a sheet over it hides; part of it must stay. */
    function covered() {
        const sheet = document.querySelector(".over > .sheet")?.getBoundingClientRect(), here = element.getBoundingClientRect();
        if (!sheet || sheet.right <= here.left) return 0;
        return Math.max(0, Math.min(here.bottom - sheet.top, here.height - 160));
    }

    function showCampus() {
        if (!boundary.length) return;
        const polygon = { type: "Feature", properties: {}, geometry: { type: "Polygon", coordinates: [[...boundary, boundary[0]]] } };
        const colour = () => droverMapStyle.colour("--accent");
        map.shape("campus", polygon, () => [
            { id: "campus-area", type: "fill", paint: { "fill-color": colour(), "fill-opacity": 0.06 } },
            { id: "campus-edge", type: "line", paint: { "line-color": colour(), "line-width": 1.5, "line-dasharray": [3, 2] } },
        ]);
    }

    function draw() {
        if (!map) return;
        drawWays();
        map.pins([...document.querySelectorAll("[data-mark]")].map(({ dataset }) => {
            const at = place(dataset.place);
            return { at, kind: dataset.kind, text: dataset.mark, label: dataset.name, onclick: () => map.tell(at, dataset.name) };
        }));
        const shorts = new Map([...document.querySelectorAll("[data-short]")].map(({ dataset }) => [dataset.name, dataset.short]));
        for (const sign of element.querySelectorAll("button.sign")) {
            // The text beside the map says the same in a better order.
            sign.tabIndex = -1;
            const short = shorts.get(sign.title);
            if (short) sign.append(drover.element("span", { class: "nm" }, short));
        }
        thin();
    }

    /** Of names that would cover each other, the first is shown, and always that of a chosen place; the others are titles. */
    function thin() {
        const isChosen = (/** @type {HTMLElement} */ name) => name.parentElement?.dataset.chosen !== undefined;
        /** @type {HTMLElement[]} */ const names = [...element.querySelectorAll(".sign > .nm")];
        for (const name of names) name.hidden = false;
        /** @type {DOMRect[]} */ const shown = [];
        const boxes = names.map((name) => ({ name, box: name.getBoundingClientRect() }));
        for (const { name, box } of boxes.sort((one, other) => Number(isChosen(other.name)) - Number(isChosen(one.name)))) {
            const isFree = shown.every((each) => box.right <= each.left || box.left >= each.right || box.bottom <= each.top || box.top >= each.bottom);
            name.hidden = !isFree && !isChosen(name);
            if (!name.hidden) shown.push(box);
        }
    }

    function drawWays() {
        const features = [...document.querySelectorAll("[data-way]")].flatMap(({ dataset }) => {
            const straight = places(dataset.way);
            if (straight.length < 2) return [];
            const road = dataset.road ? roads.get(dataset.roadOf) : false;
            if (road === undefined) ask(dataset.road, dataset.roadOf);
            const coordinates = road ? [straight[0], ...road] : straight;
            return [{ type: "Feature", properties: { isRoad: Boolean(road) }, geometry: { type: "LineString", coordinates } }];
        });
        element.dataset.ways = String(features.length);
        element.dataset.roads = String(features.filter(({ properties }) => properties.isRoad).length);
        map.shape("ways", { type: "FeatureCollection", features }, wayLayers);
    }

    function wayLayers() {
        const { colour } = droverMapStyle, look = { layout: { "line-cap": "round", "line-join": "round" } }, paint = { "line-color": colour("--accent"), "line-width": 4 };
        return [
            { id: "ways-case", type: "line", filter: ["get", "isRoad"], ...look, paint: { "line-color": colour("--raised"), "line-width": 7 } },
            { id: "ways-road", type: "line", filter: ["get", "isRoad"], ...look, paint },
            // Straight where there is no road to be had: dashed, so that nobody takes it for one.
            { id: "ways-straight", type: "line", filter: ["!", ["get", "isRoad"]], paint: { ...paint, "line-dasharray": [2, 2] } },
        ];
    }

    /** @param {string} address @param {string} way */
    async function ask(address, way) {
        if (roads.size >= roadsMax) roads.clear();
        roads.set(way, null);
        try {
            const answer = await fetch(address);
            const points = answer.ok && (await answer.json()).points;
            roads.set(way, points ? points.map((/** @type {[number, number]} */ [latitude, longitude]) => [longitude, latitude]) : false);
        } catch {
            roads.delete(way);
        }
        if (roads.get(way)) draw();
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
            said.textContent = t("Sending…");
            try {
                const answer = await fetch(form.dataset.photo, { method: "POST", headers: { "X-Drover-Form": form.dataset.markOfForm }, body: file });
                said.textContent = answer.ok ? t("Kept.") : (await answer.json()).detail;
            } catch {
                said.textContent = t("The server cannot be reached. Try again.");
            }
        });
    }

    return { ready, thin, onClick: (/** @type {(at: [number, number]) => void} */ hear) => clicked.push(hear) };
})();
