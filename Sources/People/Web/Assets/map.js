"use strict";
// Maps, wrapped once. A page with one loads the scripts of BaseMap.scripts; its element (class map) has the attributes of BaseMap.
//
//   const map = await drover.map(element, {
//       center: [lon, lat], zoom, bounds: [[west, south], [east, north]], pad, maxZoom,   // else what the map shows
//       vehicles: [{ id, name, icon, at: [lon, lat], state, sev, heading, group }], cluster: true, names: "hover" | "always",
//       track: { path: [[lon, lat]], value: [number], scale: [five values], arrows: true, width },  // coloured by --speed-0 to -4
//       lines: [{ path, token, width, dash, opacity, casing }],
//       pins: [{ at, kind: "start" | "end" | "stop" | "evt", icon, label, tone: "--warning-solid", text, onclick }],  // with text: a sign
//       controls: true, pointers: true | "worst", keys: false,
//       onPick: (id) => {}, onHover: (id | null) => {}, onClick: ([lon, lat]) => {},
//   });
//   map.fly([lon, lat], zoom)   map.fit(bounds, pad, maxZoom)   map.cursor([lon, lat] | null), the dot that charts move
//   map.vehicles(list)   map.light(id | null)   map.follow(id | null)   map.line(name, path | null, options)
//   map.recolor(values, scale), of the track   map.pins(list), instead of those before   map.shape(name, GeoJSON | null, () => layers)
//   map.pin(pin), one more: { move, remove, element }   map.tell([lon, lat] | null, words), a bubble there
//   map.view(), its center, zoom and bounds   map.map, MapLibre's own
// Places are longitude, latitude. Colours are names of tokens. Without WebGL the element shows an outline of the track and says so, all
// calls do nothing, and map.map is null. For tests: data-drawn is there once all is drawn, data-vehicles and data-marks count, data-shapes
// names what is drawn over the streets, data-style counts how often all was drawn anew for another theme.

/**
 * @typedef {[number, number]} MapPlace
 * @typedef {[MapPlace, MapPlace]} MapBounds
 * @typedef {{ token?: string, width?: number, dash?: number[], opacity?: number, casing?: boolean }} MapLine
 * @typedef {{ path: MapPlace[], value: (number | null)[], scale?: number[], arrows?: boolean, width?: number }} MapTrack
 * @typedef {{ at: MapPlace, kind?: string, icon?: string, label?: string, tone?: string, text?: string, onclick?: () => void, onDrag?: (at: MapPlace) => void }} MapPin
 * @typedef {{ center?: MapPlace, zoom?: number, bounds?: MapBounds, pad?: number, maxZoom?: number, vehicles?: MapVehicle[], track?: MapTrack,
 *     lines?: (MapLine & { path: MapPlace[] })[], pins?: MapPin[],
 *     controls?: boolean, onClick?: (at: MapPlace) => void,
 *     onFollow?: (id: string | null) => void } & FleetOptions} MapOptions
 */

drover.map = (function () {
    const round = { "line-cap": "round", "line-join": "round" };
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const speeds = [0, 15, 30, 45, 60];
    const line = (/** @type {MapPlace[]} */ coordinates, properties = {}) => ({ type: "Feature", properties, geometry: { type: "LineString", coordinates } });
    const collection = (/** @type {any[]} */ features) => ({ type: "FeatureCollection", features });

    // MARK: without WebGL

    function canDraw() {
        try {
            return Boolean(document.createElement("canvas").getContext("webgl2"));
        } catch {
            return false;
        }
    }

    /** The way as a picture, north above. @param {MapPlace[]} path */
    function outline(path) {
        const [[west, south], [east, north]] = boundsOf(path);
        const shrink = Math.cos((south + north) / 2 * Math.PI / 180), side = Math.max((east - west) * shrink, north - south) || 1;
        const points = path.map(([x, y]) => `${((x - west) * shrink / side * 300 + 10).toFixed(1)},${((north - y) / side * 180 + 10).toFixed(1)}`);
        const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), way = document.createElementNS(svg.namespaceURI, "polyline");
        svg.setAttribute("viewBox", "0 0 320 200");
        svg.setAttribute("class", "outline");
        svg.setAttribute("role", "img");
        svg.setAttribute("aria-label", t("Outline of the track"));
        way.setAttribute("points", points.join(" "));
        svg.append(way);
        return svg;
    }

    /** What stands where the map would be, and an interface that does nothing. @param {HTMLElement} element @param {MapOptions} options */
    function without(element, options) {
        const { element: make } = drover, path = options.track?.path ?? options.lines?.[0]?.path ?? [];
        const words = make("p", {}, t("The lists on this page have the same places. Turn on hardware acceleration in your browser to see the map."));
        element.append(make("div", { class: "empty" }, ...(path.length > 1 ? [outline(path)] : []), make("b", {}, t("This browser cannot draw the map")), words));
        element.dataset.drawn = "without";
        const nothing = () => {};
        return {
            map: null, light: nothing, fly: nothing, fit: nothing, cursor: nothing, vehicles: nothing, follow: nothing, line: nothing, recolor: nothing,
            pins: nothing, shape: nothing, tell: nothing, pin: () => ({ move: nothing, remove: nothing, element: make("span") }),
            view: () => ({ center: options.center ?? [0, 0], zoom: 0, bounds: [[-180, -90], [180, 90]] }),
        };
    }

    // MARK: what lies over the streets

    /** Layers of a line with a casing in the colour of cards. @param {string} name @param {MapLine} look */
    function lineLayers(name, { token = "--accent", width = 5, dash, opacity = 1, casing = true }) {
        const { colour } = droverMapStyle;
        const over = { id: name, type: "line", layout: round, paint: { "line-color": colour(token), "line-width": width, "line-opacity": opacity, ...(dash ? { "line-dasharray": dash } : {}) } };
        const under = { id: `${name}-case`, type: "line", layout: round, paint: { "line-color": colour("--raised"), "line-width": width + 3, "line-opacity": opacity } };
        return casing && !dash ? [under, over] : [over];
    }

    const ramp = (/** @type {number[]} */ scale) => ["interpolate", ["linear"], ["get", "value"], ...scale.flatMap((value, index) => [value, droverMapStyle.colour(`--speed-${index}`)])];

    /** A line for each step, with its value; steps without one have none, and are drawn quietly. @param {MapTrack} track */
    function steps({ path, value }) {
        return collection(path.slice(1).map((place, index) => {
            const known = value[index + 1] ?? value[index];
            return line([path[index], place], known == null ? {} : { value: known });
        }));
    }

    function trackLayers(/** @type {MapTrack} */ { scale = speeds, width = 5 }) {
        const { colour } = droverMapStyle;
        return [
            { id: "track-case", type: "line", layout: round, paint: { "line-color": colour("--raised"), "line-width": width + 4 } },
            { id: "track", type: "line", layout: round, paint: { "line-width": width, "line-color": ["case", ["has", "value"], ramp(scale), colour("--quiet-solid")] } },
        ];
    }

    function arrowLayers() {
        const { colour } = droverMapStyle;
        const layout = {
            "symbol-placement": "line", "symbol-spacing": 110, "text-field": "›", "text-font": ["Noto Sans Bold"], "text-size": 20, "text-keep-upright": false,
            "text-rotation-alignment": "map", "text-offset": [0, -0.08], "text-allow-overlap": true, "text-ignore-placement": true, "text-padding": 0,
        };
        return [{ id: "track-arrows", type: "symbol", minzoom: 13, layout, paint: { "text-color": colour("--raised"), "text-halo-color": colour("--ink"), "text-halo-width": 0.6 } }];
    }

    // MARK: elements on the map

    /** @param {MapPin} pin */
    function pinElement(pin) {
        const { element, icon } = drover, name = pin.onclick ? "button" : "div";
        const isRound = !pin.text && (pin.kind === "evt" || pin.kind === "stop");
        const made = element(name, { class: pin.text ? `sign ${pin.kind ?? ""}` : isRound ? "evt" : `pin ${pin.kind ?? ""}` });
        if (name === "button") made.setAttribute("type", "button");
        if (pin.text) made.append(pin.text);
        else if (isRound) made.append(icon(pin.icon ?? (pin.kind === "stop" ? "parking" : "harsh")));
        if (pin.tone) made.style.setProperty("--tone", `var(${pin.tone.startsWith("--") ? pin.tone : `--${pin.tone}`})`);
        if (pin.label) {
            made.title = pin.label;
            made.setAttribute("aria-label", pin.label);
        }
        if (!pin.onclick) made.setAttribute("role", "img");
        if (!pin.label) made.setAttribute("aria-hidden", "true");
        made.addEventListener("click", (/** @type {Event} */ event) => { if (pin.onclick) { event.stopPropagation(); pin.onclick(); } });
        return made;
    }

    /** @param {HTMLElement} element @param {MapOptions} options @param {any} api */
    function controls(element, options, api) {
        const { element: make, icon } = drover;
        const button = (/** @type {string} */ label, /** @type {string} */ name, /** @type {() => void} */ act) => {
            const made = make("button", { type: "button", class: "ctl", "aria-label": label, title: label }, icon(name));
            made.addEventListener("click", act);
            return made;
        };
        const zoom = (/** @type {number} */ by) => api.map.zoomTo(api.map.getZoom() + by, { duration: isCalm ? 0 : 180 });
        const [more, less] = [button(t("Zoom in"), "plus", () => zoom(1)), button(t("Zoom out"), "minus", () => zoom(-1))];
        more.dataset.z = less.dataset.z = "";
        element.append(make("div", { class: "mapctl", role: "group", "aria-label": t("Map") }, more, less, button(t("Show all"), "expand", () => {
            const home = options.bounds ?? api.all();
            if (home) api.fit(home);
        })));
    }

    /** Who made the map, and quietly where streets come from where there are none. @param {HTMLElement} element @param {any} map @param {MapBase} base */
    function credits(element, map, base) {
        const { element: make } = drover;
        element.append(make("div", { class: "mapcredit" }, element.dataset.attribution ?? ""));
        const hint = make("div", { class: "mapkey nostreets", role: "status" });
        element.append(hint);
        const look = () => {
            const isWithout = droverMapStyle.isWithoutStreets(base, map);
            if (isWithout === Boolean(hint.childNodes.length)) return;
            hint.replaceChildren(...(isWithout ? [t("No streets here."), " ", make("a", { class: "link", href: "/about#maps" }, t("Add a street map"))] : []));
        };
        map.on("moveend", look);
        look();
    }

    /** The world beneath is fetched once it can be seen: it is as large as all else together. @param {any} map @param {MapBase} base @param {{ isThere: boolean }} world */
    function worldWhenSeen(map, base, world) {
        const look = () => {
            if (world.isThere || !base.world || !map.getSource("world") || !droverMapStyle.needsWorld(base, map)) return;
            world.isThere = true;
            map.getSource("world").setData(base.world);
            // Sea once there is land on it.
            map.once("idle", () => map.setPaintProperty("ground", "background-color", droverMapStyle.colour("--water")));
        };
        map.on("move", look);
        map.on("style.load", look);
    }

    /** @param {HTMLElement} element @param {MapOptions} options @param {any} style */
    function open(element, options, style) {
        // MapLibre wants an element of its own: pages put chips and cards on the map.
        const canvas = drover.element("div", { class: "mapcanvas" });
        element.prepend(canvas);
        maplibregl.setWorkerUrl(new URL(element.dataset.worker ?? "", location.href).href);
        const view = options.bounds ? { bounds: options.bounds, fitBoundsOptions: { padding: options.pad ?? 48, maxZoom: options.maxZoom ?? 16.5 } }
            : { center: options.center ?? [10, 30], zoom: options.zoom ?? (options.center ? 15 : 1) };
        /** @type {any} */ const map = new maplibregl.Map({
            container: canvas, style, attributionControl: false, dragRotate: false, pitchWithRotate: false,
            fadeDuration: 0, maxZoom: 18.9, ...view,
        });
        map.touchZoomRotate?.disableRotation();
        map.keyboard?.disableRotation();
        // The element has the map's name; what takes the keys is named by what they do.
        map.getCanvas().setAttribute("aria-label", t("Map: arrows move it, plus and minus zoom"));
        map.addControl(new maplibregl.ScaleControl({ unit: element.dataset.units === "us" ? "imperial" : "metric" }), "bottom-left");
        return map;
    }

    // MARK: the interface

    /** @param {HTMLElement} element @param {MapOptions} options */
    function draw(element, options) {
        const base = droverMapStyle.base(element), world = { isThere: false };
        /** @type {any} */ const map = open(element, options, droverMapStyle.style(base, false));
        /** @type {Map<string, { data: any, layers: () => any[], isOver: boolean }>} */ const shapes = new Map();
        /** @type {{ remove: () => void }[]} */ let pins = [];
        /** @type {any} */ let dot = null;
        /** @type {any} */ let bubble = null;
        /** @type {string | null} */ let followed = null;
        const track = options.track;
        const fleet = droverMapFleet(map, element, options, (bounds) => api.fit(bounds, 90));
        const isUp = () => Boolean(map.getLayer("under-names"));

        /** @param {string} name */
        function add(name) {
            const shape = shapes.get(name);
            if (!shape || !isUp()) return;
            /** @type {any} */ const source = map.getSource(name);
            if (source) return source.setData(shape.data);
            map.addSource(name, { type: "geojson", data: shape.data });
            const under = shape.isOver ? (map.getLayer("fleet-discs") ? "fleet-discs" : undefined) : "under-names";
            for (const layer of shape.layers()) map.addLayer({ source: name, ...layer }, layer.type === "symbol" && !shape.isOver ? undefined : under);
        }

        function drop(/** @type {string} */ name) {
            shapes.delete(name);
            if (!map.getSource(name)) return;
            for (const { id } of map.getStyle().layers.filter((/** @type {any} */ layer) => layer.source === name)) map.removeLayer(id);
            map.removeSource(name);
        }

        /** @param {string} name @param {any} data GeoJSON; null: it goes @param {() => any[]} layers @param {boolean} [isOver] over names, too */
        function shape(name, data, layers, isOver = false) {
            if (data) {
                shapes.set(name, { data, layers, isOver });
                add(name);
            } else drop(name);
            element.dataset.shapes = [...shapes.keys()].join(" ");
        }

        function attach() {
            for (const name of shapes.keys()) add(name);
            fleet.attach();
        }

        /** @type {any} */
        const api = {
            map, shape,
            fly(/** @type {MapPlace} */ at, /** @type {number} */ zoom = map.getZoom()) {
                const { lng, lat } = map.getCenter(), isFar = Math.hypot(at[0] - lng, at[1] - lat) > 0.05;
                if (isFar || isCalm) map.jumpTo({ center: at, zoom });
                else map.easeTo({ center: at, zoom, duration: 400 });
            },
            fit(/** @type {MapBounds} */ bounds, pad = 60, maxZoom = 16.6) {
                const camera = map.cameraForBounds(bounds, { padding: pad, maxZoom });
                if (camera) api.fly(maplibregl.LngLat.convert(camera.center).toArray(), camera.zoom);
            },
            cursor(/** @type {MapPlace | null} */ at) {
                if (!at) { dot?.remove(); dot = null; return; }
                if (dot) dot.setLngLat(at);
                else dot = new maplibregl.Marker({ element: drover.element("div", { class: "cursor-dot", role: "img", "aria-label": t("Where it was at the chart’s time") }) }).setLngLat(at).addTo(map);
            },
            vehicles(/** @type {MapVehicle[]} */ list) {
                fleet.set(list);
                const one = list.find(({ id }) => id === followed);
                if (one) map.easeTo({ center: one.at, duration: isCalm ? 0 : 400 });
            },
            light: fleet.light,
            follow(/** @type {string | null} */ id) {
                followed = id;
                const one = fleet.all().find((each) => each.id === id);
                if (one) api.fly(one.at, Math.max(map.getZoom(), 15));
                options.onFollow?.(id);
            },
            line(/** @type {string} */ name, /** @type {MapPlace[] | null} */ path, /** @type {MapLine} */ look = {}) {
                shape(name, path && path.length > 1 ? line(path) : null, () => lineLayers(name, look));
            },
            recolor(/** @type {(number | null)[]} */ value, /** @type {number[]} */ scale) {
                if (!track) return;
                Object.assign(track, { value, scale });
                shape("track", steps(track), () => trackLayers(track));
                if (map.getLayer("track")) map.setPaintProperty("track", "line-color", trackLayers(track)[1].paint["line-color"]);
            },
            pin(/** @type {MapPin} */ pin) {
                const made = pinElement(pin);
                const marker = new maplibregl.Marker({ element: made, draggable: Boolean(pin.onDrag) }).setLngLat(pin.at).addTo(map);
                marker.on("dragend", () => { const { lng, lat } = marker.getLngLat().wrap(); pin.onDrag?.([lng, lat]); });
                return { element: made, move: (/** @type {MapPlace} */ at) => marker.setLngLat(at), remove: () => marker.remove() };
            },
            tell(/** @type {MapPlace | null} */ at, words = "") {
                bubble?.remove();
                bubble = at && new maplibregl.Popup({ offset: 18, maxWidth: "260px" }).setLngLat(at).setText(words).addTo(map);
            },
            pins(/** @type {MapPin[]} */ list) {
                for (const old of pins) old.remove();
                pins = list.map(api.pin);
            },
            view() {
                const { lng, lat } = map.getCenter().wrap(), bounds = map.getBounds();
                return { center: [lng, lat], zoom: map.getZoom(), bounds: bounds.toArray() };
            },
            all() {
                const places = [...fleet.all().map(({ at }) => at), ...(track?.path ?? []), ...(options.pins ?? []).map(({ at }) => at)];
                return places.length ? boundsOf(places) : null;
            },
        };

        for (const [index, each] of (options.lines ?? []).entries()) api.line(`line-${index}`, each.path, each);
        if (track && track.path.length > 1) {
            shape("track", steps(track), () => trackLayers(track));
            if (track.arrows !== false) shape("track-arrows", line(track.path), arrowLayers, true);
        }
        fleet.set(options.vehicles ?? []);
        api.pins(options.pins ?? []);
        listen(map, element, options, api);
        let styles = 0;
        map.on("style.load", () => {
            attach();
            styles += 1;
            element.dataset.style = String(styles);
        });
        map.on("dragstart", () => { if (followed) api.follow(null); });
        addEventListener("theme", () => map.setStyle(droverMapStyle.style(base, world.isThere), { diff: false }));
        worldWhenSeen(map, base, world);
        credits(element, map, base);
        if (options.controls !== false) controls(element, options, api);
        return api;
    }

    /** @param {any} map @param {HTMLElement} element @param {MapOptions} options @param {any} api */
    function listen(map, element, options, api) {
        let isTouched = false;
        for (const kind of ["dragstart", "wheel", "touchstart", "dblclick"]) map.on(kind, () => { isTouched = true; });
        map.on("resize", () => { if (options.bounds && !isTouched) map.fitBounds(options.bounds, { padding: options.pad ?? 48, maxZoom: options.maxZoom ?? 16.5, animate: false }); });
        map.on("click", (/** @type {any} */ event) => { const { lng, lat } = event.lngLat.wrap(); options.onClick?.([lng, lat]); });
        map.on("moveend", () => { element.dataset.zoom = map.getZoom().toFixed(2); });
        map.on("idle", () => { element.dataset.drawn = "yes"; });
        // A tile that is missing is a hole in the map; what else goes wrong is for who looks into it.
        map.on("error", (/** @type {any} */ { error }) => { element.dataset.fault = String(error?.message ?? error).slice(0, 200); });
        element.dataset.zoom = map.getZoom().toFixed(2);
        api.map = map;
    }

    return async function open(/** @type {HTMLElement | string} */ where, /** @type {MapOptions} */ options = {}) {
        const element = typeof where === "string" ? document.querySelector(where) : where;
        return canDraw() ? draw(element, options) : without(element, options);
    };
})();
