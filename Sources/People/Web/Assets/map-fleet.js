"use strict";
// Vehicles on a map. MapLibre makes the clusters; those in view are drawn as elements that have a name, at most 200, the worst first;
// what is beyond that is drawn as plain discs.

/**
 * @typedef {object} MapVehicle
 * @property {string} id
 * @property {string} name
 * @property {[number, number]} at longitude, latitude
 * @property {string} [icon] car, van, truck, bus, tractor, bike
 * @property {string} [state] moving, idling, parked, silent
 * @property {string} [sev] critical, warning
 * @property {number | null} [heading] degrees from north
 * @property {string} [group]
 */

/**
 * @typedef {object} FleetOptions
 * @property {boolean} [cluster]
 * @property {"always" | "hover"} [names]
 * @property {number} [namesFrom] the zoom from which vehicles have their names, where few are in view
 * @property {boolean} [keys] markers are reached by Tab; not where a list beside the map has the same
 * @property {boolean | "worst"} [pointers] to groups out of view: all, or only those in which something is wrong
 * @property {number} [inset] pixels at the top that something else covers
 * @property {number} [insetBottom]
 * @property {(id: string) => void} [onPick]
 * @property {(id: string | null) => void} [onHover]
 */

const droverMapFleet = (function () {
    const elementsMax = 200;
    // Up to here a critical vehicle has a marker of its own; in larger fleets its cluster takes its sign.
    const ownMarkersMax = 200;
    // More names lie on each other.
    const namedMax = 40;
    const states = ["moving", "idling", "parked", "silent"];
    const tones = { critical: "--critical-solid", warning: "--warning-solid", moving: "--accent", idling: "--c4", parked: "--quiet-solid", silent: "--quiet-solid" };
    const rank = (/** @type {string | undefined} */ sev) => (sev === "critical" ? 0 : sev === "warning" ? 1 : 2);
    const count = (/** @type {any[]} */ condition) => ["+", ["case", condition, 1, 0]];

    /** Of each cluster: how many there are of each state, and of each severity. */
    const clusterProperties = {
        critical: count(["==", ["get", "sev"], "critical"]),
        warning: count(["==", ["get", "sev"], "warning"]),
        ...Object.fromEntries(states.map((state) => [state, count(["all", ["==", ["get", "state"], state], ["==", ["get", "sev"], ""]])])),
    };
    const worst = (/** @type {any} */ of) => (of.critical ? "critical" : of.warning ? "warning" : "");

    // MARK: elements

    /** @param {string} what a severity or state */
    function said(what) {
        switch (what) {
            case "critical": return t("critical");
            case "warning": return t("warning");
            case "moving": return t("moving");
            case "idling": return t("idling");
            case "parked": return t("parked");
            case "silent": return t("silent");
            default: return what;
        }
    }

    /** A disc with the vehicle's kind, ringed in the colour of its state. @param {MapVehicle} vehicle @param {boolean} isReached */
    function disc(vehicle, isReached) {
        const { element, icon } = drover;
        const what = vehicle.sev || vehicle.state || "";
        const button = element("button", { type: "button", class: `mk ${what}`, "aria-label": what ? `${vehicle.name}, ${said(what)}` : vehicle.name, "data-vehicle": vehicle.id });
        if (!isReached) button.tabIndex = -1;
        if (vehicle.state === "moving" && vehicle.heading != null) {
            const arrow = element("i", { class: "hd" });
            arrow.style.setProperty("--h", `${vehicle.heading}deg`);
            button.append(arrow);
        }
        button.append(element("span", {}, icon(vehicle.icon || "car")));
        if (vehicle.sev) button.append(badge(vehicle.sev));
        button.append(element("em", { class: "nm" }, vehicle.name));
        return button;
    }

    const badge = (/** @type {string} */ sev) => drover.element("i", { class: "bd" }, drover.element("i", { class: `dot ${sev}` }));

    /** A ring with the shares of the states, and how many they are. @param {any} of @param {boolean} isReached */
    function ring(of, isReached) {
        const { element } = drover, total = of.point_count, sev = worst(of);
        const name = sev === "critical" ? tn(total, "%1 vehicle, worst critical", "%1 vehicles, worst critical") : sev ? tn(total, "%1 vehicle, worst warning", "%1 vehicles, worst warning") : tn(total, "%1 vehicle", "%1 vehicles");
        const button = element("button", { type: "button", class: "cl", "data-count": String(total), "aria-label": name }, element("b", {}, total.toLocaleString("en")));
        if (!isReached) button.tabIndex = -1;
        button.style.setProperty("--parts", shares(of));
        if (total > 9) button.style.width = button.style.height = `${Math.min(58, 36 + Math.log2(total) * 2.4)}px`;
        if (sev) button.append(badge(sev));
        return button;
    }

    function shares(/** @type {any} */ of) {
        let from = 0;
        return Object.entries(tones).filter(([key]) => of[key]).map(([key, token]) => {
            const start = from;
            from += of[key] / of.point_count * 360;
            return `var(${token}) ${start}deg ${from}deg`;
        }).join(", ") || "var(--quiet-solid) 0deg 360deg";
    }

    // MARK: the source

    /** @param {MapVehicle} vehicle @param {number} index @returns {any} */
    const feature = (vehicle, index) => ({
        type: "Feature", id: index, properties: { index, sev: vehicle.sev || "", state: vehicle.state || "" }, geometry: { type: "Point", coordinates: vehicle.at },
    });

    /** Discs beneath the elements: they are seen where there are more than elements are made for. @returns {any[]} */
    function layers() {
        const { colour } = droverMapStyle;
        const tone = ["match", ["get", "state"], "moving", colour("--accent"), "idling", colour("--c4"), colour("--quiet-solid")];
        const sev = (/** @type {any} */ rest) => ["match", ["get", "sev"], "critical", colour("--critical-solid"), "warning", colour("--warning-solid"), rest];
        const ofCluster = ["case", [">", ["get", "critical"], 0], colour("--critical-solid"), [">", ["get", "warning"], 0], colour("--warning-solid"), colour("--quiet-solid")];
        const isCluster = ["has", "point_count"];
        const disc = { "circle-color": colour("--raised"), "circle-stroke-width": 3 };
        return [
            { id: "fleet-discs", type: "circle", filter: ["!", isCluster], paint: { ...disc, "circle-radius": 6, "circle-stroke-color": sev(tone) } },
            { id: "fleet-rings", type: "circle", filter: isCluster, paint: { ...disc, "circle-radius": 14, "circle-stroke-color": ofCluster } },
            {
                id: "fleet-counts", type: "symbol", filter: isCluster,
                layout: { "text-field": ["get", "point_count_abbreviated"], "text-font": ["Noto Sans Bold"], "text-size": 12, "text-allow-overlap": true },
                paint: { "text-color": colour("--ink") },
            },
        ];
    }

    /**
     * @param {any} map of MapLibre
     * @param {HTMLElement} element
     * @param {FleetOptions} options
     * @param {(bounds: [[number, number], [number, number]]) => void} fit
     */
    return function fleet(map, element, options, fit) {
        /** @type {MapVehicle[]} */ let vehicles = [];
        /** @type {MapVehicle[]} */ let clustered = [];
        /** @type {Map<string, { marker: any, what: string }>} */ const shown = new Map();
        /** @type {string | null} */ let lit = null;
        /** @type {string | null} */ let hovered = null;
        let isDirty = false;
        let isNamed = false;
        let drawnMs = 0;
        const isReached = options.keys === true;
        const isLarge = () => vehicles.length > ownMarkersMax;
        const radius = () => (options.cluster === false ? 0 : vehicles.length > 2000 ? 64 : isLarge() ? 52 : 38);

        // MARK: which are drawn

        /** What MapLibre has in view, once each: tiles overlap. */
        function inView() {
            const bounds = map.getBounds(), found = new Map();
            for (const { properties, geometry } of map.querySourceFeatures("fleet")) {
                const key = properties.cluster_id === undefined ? `v${properties.index}` : `c${properties.cluster_id}`;
                if (!found.has(key) && bounds.contains(geometry.coordinates)) found.set(key, { key, properties, at: geometry.coordinates });
            }
            return [...found.values()].sort((one, two) => rank(worst(one.properties) || one.properties.sev) - rank(worst(two.properties) || two.properties.sev)
                || (two.properties.point_count ?? 1) - (one.properties.point_count ?? 1));
        }

        function wanted() {
            const alone = vehicles.filter((vehicle) => vehicle.id === lit || (!isLarge() && vehicle.sev === "critical"));
            /** @type {Map<string, { at: [number, number], vehicle?: MapVehicle, of?: any }>} */
            const want = new Map(alone.map((vehicle) => [`v ${vehicle.id}`, { at: vehicle.at, vehicle }]));
            for (const { key, properties, at } of inView()) {
                if (want.size >= elementsMax) break;
                const vehicle = clustered[properties.index];
                if (properties.point_count) want.set(`${key} ${shares(properties)}`, { at, of: properties });
                else if (vehicle) want.set(`v ${vehicle.id}`, { at: vehicle.at, vehicle });
            }
            return want;
        }

        function draw() {
            const want = wanted();
            isNamed = map.getZoom() >= (options.namesFrom ?? Infinity) && [...want.values()].filter(({ vehicle }) => vehicle).length <= namedMax;
            for (const [key, { marker }] of shown) {
                if (!want.has(key)) { marker.remove(); shown.delete(key); }
            }
            for (const [key, one] of want) put(key, one);
            Object.assign(element.dataset, { vehicles: vehicles.length, marks: want.size });
            point();
        }

        /** @param {string} key @param {{ at: [number, number], vehicle?: MapVehicle, of?: any }} one */
        function put(key, { at, vehicle, of }) {
            const what = vehicle ? [vehicle.name, vehicle.icon, vehicle.state, vehicle.sev, vehicle.heading].join() : "";
            let known = shown.get(key);
            if (known && known.what !== what) { known.marker.remove(); known = undefined; }
            if (!known) {
                const made = vehicle ? hearing(disc(vehicle, isReached), vehicle.id) : opening(ring(of, isReached), of);
                known = { marker: new maplibregl.Marker({ element: made }).setLngLat(at).addTo(map), what };
                shown.set(key, known);
            } else known.marker.setLngLat(at);
            if (vehicle) light(known.marker.getElement(), vehicle);
        }

        function light(/** @type {HTMLElement} */ disc, /** @type {MapVehicle} */ vehicle) {
            disc.classList.toggle("lit", vehicle.id === lit);
            disc.querySelector(".nm").hidden = !(options.names === "always" || isNamed || vehicle.id === lit || vehicle.id === hovered || vehicle.sev === "critical");
        }

        function hearing(/** @type {HTMLElement} */ disc, /** @type {string} */ id) {
            const over = (/** @type {string | null} */ now) => {
                hovered = now;
                const vehicle = vehicles.find((each) => each.id === id);
                if (vehicle) light(disc, vehicle);
                options.onHover?.(now);
            };
            disc.addEventListener("click", (event) => { event.stopPropagation(); options.onPick?.(id); });
            disc.addEventListener("mouseenter", () => over(id));
            disc.addEventListener("mouseleave", () => over(null));
            return disc;
        }

        function opening(/** @type {HTMLElement} */ ring, /** @type {any} */ of) {
            ring.addEventListener("click", async (event) => {
                event.stopPropagation();
                const leaves = await map.getSource("fleet").getClusterLeaves(of.cluster_id, 1000, 0);
                fit(boundsOf(leaves.map((/** @type {any} */ leaf) => leaf.geometry.coordinates)));
            });
            return ring;
        }

        // MARK: pointers to what is out of view

        function point() {
            for (const old of element.querySelectorAll(":scope > .pointer")) old.remove();
            if (!options.pointers || isLarge()) return;
            const bounds = map.getBounds();
            /** @type {[number, number][]} */ const taken = [];
            for (const [name, members] of groups()) {
                const away = members.filter(({ at }) => !bounds.contains(at)), isAway = away.length === members.length;
                const sev = away.some((one) => one.sev === "critical") ? "critical" : away.some((one) => one.sev === "warning") ? "warning" : "";
                // Of a group that is seen in part, only what needs somebody.
                const told = isAway ? away : away.filter((one) => one.sev === sev && sev);
                if (told.length && (sev || options.pointers !== "worst")) element.append(pointer(name, told, sev, taken));
            }
        }

        function groups() {
            /** @type {Map<string, MapVehicle[]>} */ const found = new Map();
            for (const vehicle of vehicles) {
                const name = vehicle.group || t("Vehicles");
                if (!found.has(name)) found.set(name, []);
                found.get(name)?.push(vehicle);
            }
            return found;
        }

        /** @param {string} name @param {MapVehicle[]} members @param {string} sev @param {[number, number][]} taken */
        function pointer(name, members, sev, taken) {
            const bounds = boundsOf(members.map(({ at }) => at));
            const { x, y } = map.project([(bounds[0][0] + bounds[1][0]) / 2, (bounds[0][1] + bounds[1][1]) / 2]);
            const { clientWidth: width, clientHeight: height } = element, [dx, dy] = [x - width / 2, y - height / 2];
            const inset = (dy < 0 ? options.inset : options.insetBottom) || 30;
            const share = Math.min((width / 2 - 84) / Math.abs(dx || 1), (height / 2 - inset) / Math.abs(dy || 1));
            const place = free([width / 2 + dx * share, height / 2 + dy * share], width, taken);
            const button = drover.element("button", { type: "button", class: "pointer chip", "aria-label": t("Show %1, %2 out of view", name, members.length) });
            if (sev) button.append(drover.element("i", { class: `dot ${sev}` }));
            button.append(drover.element("span", {}, `${name} `, drover.element("b", {}, String(members.length))), arrow(Math.atan2(dx, -dy)));
            [button.style.left, button.style.top] = place.map((value) => `${value}px`);
            button.addEventListener("click", () => fit(bounds));
            return button;
        }

        /** Beside the controls and the pointers that are there. @param {[number, number]} place @param {number} width @param {[number, number][]} taken */
        function free([x, y], width, taken) {
            if (y < 200 && x > width - 140) x = width - 140;
            const isHit = () => taken.some(([otherX, otherY]) => Math.abs(otherX - x) < 140 && Math.abs(otherY - y) < 34);
            while (x > 110 && isHit()) x -= 20;
            while (x < width - 110 && isHit()) x += 20;
            /** @type {[number, number]} */ const found = [x, y];
            taken.push(found);
            return found;
        }

        function arrow(/** @type {number} */ radians) {
            // The icon points to the north-east.
            const svg = drover.icon("up");
            svg.style.transform = `rotate(${radians - Math.PI / 4}rad)`;
            return svg;
        }

        // MARK: changes

        function data() {
            clustered = isLarge() ? vehicles : vehicles.filter(({ sev }) => sev !== "critical");
            return { type: "FeatureCollection", features: clustered.map(feature) };
        }

        /** After each new style, too. */
        function attach() {
            if (map.getSource("fleet")) return;
            map.addSource("fleet", { type: "geojson", data: data(), cluster: options.cluster !== false, clusterRadius: radius(), clusterMaxZoom: 17, maxzoom: 18, clusterProperties });
            for (const each of layers()) map.addLayer({ source: "fleet", ...each });
            isDirty = true;
        }

        /** @param {MapVehicle[]} list */
        function set(list) {
            const before = radius();
            vehicles = list;
            const source = map.getSource("fleet");
            if (!source) return;
            if (radius() !== before) source.setClusterOptions({ cluster: options.cluster !== false, clusterRadius: radius(), clusterMaxZoom: 17 });
            source.setData(data());
            isDirty = true;
        }

        // While it moves, markers move by themselves; which they are need not be looked at in each frame.
        map.on("move", () => { if (performance.now() - drawnMs > 150) isDirty = true; });
        map.on("moveend", () => { isDirty = true; });
        map.on("sourcedata", (/** @type {any} */ { sourceId }) => { if (sourceId === "fleet") isDirty = true; });
        map.on("render", () => {
            if (!isDirty || !map.getSource("fleet") || !map.isSourceLoaded("fleet")) return;
            isDirty = false;
            draw();
            drawnMs = performance.now();
        });

        return {
            attach, set,
            light(/** @type {string | null} */ id) { lit = id; if (map.getSource("fleet")) draw(); },
            all: () => vehicles,
        };
    };
})();

/** @param {[number, number][]} path @returns {[[number, number], [number, number]]} west and south, east and north */
function boundsOf(path) {
    const sides = [180, 90, -180, -90];
    for (const [x, y] of path) {
        sides[0] = Math.min(sides[0], x);
        sides[1] = Math.min(sides[1], y);
        sides[2] = Math.max(sides[2], x);
        sides[3] = Math.max(sides[3], y);
    }
    return [[sides[0], sides[1]], [sides[2], sides[3]]];
}

/** Those of the two by two degrees with the most of them, and of the squares around. @param {[number, number][]} places */
function crowd(places) {
    /** @type {Map<string, number>} */ const counts = new Map();
    const square = (/** @type {[number, number]} */ [x, y]) => [Math.round(x / 2), Math.round(y / 2)];
    for (const place of places) {
        const [column, row] = square(place);
        for (const east of [-1, 0, 1]) for (const north of [-1, 0, 1]) {
            const name = `${column + east} ${row + north}`;
            counts.set(name, (counts.get(name) ?? 0) + 1);
        }
    }
    const [[best]] = [...counts].sort(([, one], [, two]) => two - one);
    const [column, row] = best.split(" ").map(Number);
    return places.filter((place) => Math.abs(square(place)[0] - column) <= 1 && Math.abs(square(place)[1] - row) <= 1);
}

/**
 * What is looked at first: those on the street map, where that has a third of them (pointers tell of the others); else all, where they are near
 * each other; else where most of them are.
 * @param {[number, number][]} places
 * @param {HTMLElement} map with what the street map covers
 */
function boundsOfMost(places, map) {
    if (!places.length) return null;
    const [west, south, east, north] = map.dataset.bounds?.split(",").map(Number) ?? [];
    const inside = places.filter(([x, y]) => x >= west && x <= east && y >= south && y <= north);
    if (inside.length < places.length && inside.length * 3 >= places.length) return boundsOf(inside);
    const whole = boundsOf(places);
    if (whole[1][0] - whole[0][0] < 2 && whole[1][1] - whole[0][1] < 1) return whole;
    return boundsOf(crowd(places));
}
