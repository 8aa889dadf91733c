"use strict";
// What maps are drawn in: land, water, streets and names in the colours of the tokens (tokens.css), so that maps follow the theme.
// The operator's tiles, or the sample's streets, have the schema of OpenMapTiles; the world beneath is Natural Earth.

/**
 * What the element of a map says it is drawn on (Sources/People/Web/Shell/BaseMap.swift).
 * @typedef {object} MapBase
 * @property {string} [tiles] address with {z}, {x} and {y}
 * @property {string} [kind] vector or raster
 * @property {number} minZoom
 * @property {number} maxZoom
 * @property {[number, number, number, number]} [bounds] west, south, east, north of the tiles; none: the world
 * @property {string} [world] address of Natural Earth
 * @property {string} glyphs address with {fontstack} and {range}
 */

const droverMapStyle = (function () {
    const probe = document.createElement("span");
    probe.hidden = true;
    document.body.append(probe);

    /** The colour of a token as the page shows it now. */
    function colour(/** @type {string} */ token) {
        probe.style.color = `var(${token})`;
        return getComputedStyle(probe).color;
    }

    /** @param {HTMLElement} element @returns {MapBase} */
    function base(element) {
        const { dataset } = element;
        const whole = (/** @type {string | undefined} */ address) => address && new URL(address, location.href).href.replaceAll("%7B", "{").replaceAll("%7D", "}");
        const bounds = /** @type {[number, number, number, number] | undefined} */ (dataset.bounds?.split(",").map(Number));
        return {
            tiles: whole(dataset.tiles), kind: dataset.kind, minZoom: Number(dataset.minZoom ?? 0), maxZoom: Number(dataset.maxZoom ?? 14),
            bounds, world: whole(dataset.world), glyphs: whole(dataset.glyphs) ?? "",
        };
    }

    // MARK: words of the style's language

    /** Widths and sizes that grow with the zoom: pairs of zoom and value. */
    const byZoom = (/** @type {any[]} */ ...pairs) => ["interpolate", ["exponential", 1.5], ["zoom"], ...pairs];
    const isOf = (/** @type {string[]} */ ...classes) => ["in", ["get", "class"], ["literal", classes]];
    const name = ["coalesce", ["get", "name:latin"], ["get", "name"]];
    const hasName = ["any", ["has", "name:latin"], ["has", "name"]];

    /** @param {string} id @param {string} type @param {string} from @param {object} rest @returns {any} */
    const layer = (id, type, from, rest) => ({ id, type, source: "tiles", "source-layer": from, ...rest });

    /** @param {string} id @param {string} from @param {string} token @param {object} [rest] */
    const area = (id, from, token, { paint = {}, ...rest } = /** @type {any} */ ({})) =>
        layer(id, "fill", from, { ...rest, paint: { "fill-color": colour(token), ...paint } });

    /** @param {string} id @param {string} token @param {number} width in pixels at zoom 15 @param {any[]} filter @param {{ from?: number, dash?: number[] }} [rest] */
    function road(id, token, width, filter, { from = 5, dash } = {}) {
        return layer(id, "line", "transportation", {
            filter, minzoom: from, layout: { "line-cap": "round", "line-join": "round" },
            paint: { "line-color": colour(token), "line-width": byZoom(12, width * 0.18, 15, width, 18, width * 4.4), ...(dash ? { "line-dasharray": dash } : {}) },
        });
    }

    /** @param {string} id @param {string} from @param {{ zoom: number, filter?: any[], layout?: object, paint?: object, font?: string, token?: string }} rest */
    function words(id, from, { zoom, filter = hasName, layout = {}, paint = {}, font = "Regular", token = "--map-ink" }) {
        return layer(id, "symbol", from, {
            minzoom: zoom, filter,
            layout: { "text-field": name, "text-font": [`Noto Sans ${font}`], "text-max-width": 7, "text-padding": 8, "text-max-angle": 32, ...layout },
            paint: { "text-color": colour(token), "text-halo-color": colour("--map-halo"), "text-halo-width": 1.6, ...paint },
        });
    }

    // MARK: layers, from the ground up

    const big = isOf("motorway", "trunk", "primary", "secondary"), middle = isOf("tertiary"), small = isOf("minor", "residential"), way = isOf("service", "track");

    function ground() {
        return [
            area("campus", "landuse", "--campus", { filter: isOf("university", "school", "college", "library"), paint: { "fill-opacity": 0.7 } }),
            area("green", "landcover", "--park"),
            area("pitch", "landuse", "--park", { filter: isOf("pitch", "playground"), paint: { "fill-opacity": 0.8 } }),
            area("park", "park", "--park"),
            area("water", "water", "--water"),
            layer("stream", "line", "waterway", { paint: { "line-color": colour("--water"), "line-width": 2 } }),
            road("foot", "--foot", 0.9, isOf("path"), { from: 15, dash: [2, 1.6] }),
            area("building", "building", "--building", { minzoom: 13, paint: { "fill-outline-color": colour("--building-line") } }),
        ];
    }

    function streets() {
        return [
            road("rail", "--railway", 1.3, isOf("rail", "transit", "tram")), road("rail-ties", "--land", 0.8, isOf("rail"), { dash: [3, 3] }),
            road("way-case", "--street-line", 3.2, way, { from: 14 }), road("small-case", "--street-line", 6, small),
            road("middle-case", "--street-line", 7.6, middle), road("big-case", "--street-big-line", 9.4, big),
            road("way", "--street", 2, way, { from: 14 }), road("small", "--street", 4.6, small),
            road("middle", "--street", 6.2, middle), road("big", "--street-big", 7.8, big),
            layer("border", "line", "boundary", { filter: ["<=", ["get", "admin_level"], 4], paint: { "line-color": colour("--map-ink"), "line-opacity": 0.35, "line-dasharray": [3, 2] } }),
        ];
    }

    const along = (/** @type {number} */ spacing, /** @type {any[]} */ size) => ({ "symbol-placement": "line", "symbol-spacing": spacing, "text-size": size });

    function names() {
        const sights = ["in", ["get", "subclass"], ["literal", ["station", "university", "museum", "theatre", "cathedral", "library"]]];
        return [
            words("number", "housenumber", { zoom: 17, filter: ["has", "housenumber"], layout: { "text-field": ["get", "housenumber"], "text-size": 10, "text-padding": 12 }, paint: { "text-opacity": 0.65 } }),
            words("street-small", "transportation_name", { zoom: 15.2, filter: ["all", hasName, isOf("service", "minor", "residential", "track", "path")], layout: along(260, byZoom(15, 10.5, 18, 13)) }),
            words("street-middle", "transportation_name", { zoom: 13.6, filter: ["all", hasName, isOf("tertiary", "minor")], layout: along(240, byZoom(14, 10.5, 18, 14)) }),
            words("street-big", "transportation_name", { zoom: 12, font: "Bold", filter: ["all", hasName, isOf("motorway", "trunk", "primary", "secondary")], layout: along(340, byZoom(13, 10.5, 18, 15)) }),
            words("park-name", "poi", { zoom: 15.5, font: "Italic", token: "--ok", filter: ["all", hasName, isOf("park", "garden")], layout: { "text-size": 11, "text-padding": 20 } }),
            words("sight", "poi", { zoom: 14.4, font: "Bold", token: "--water-ink", filter: ["all", hasName, sights, ["<", ["get", "rank"], 12]], layout: { "text-size": 11, "text-padding": 26 } }),
            words("water-name", "water_name", { zoom: 10, font: "Italic", token: "--water-ink", layout: { "text-size": 11 } }),
            words("place", "place", { zoom: 4, font: "Bold", layout: { "text-size": 12, "text-transform": "uppercase", "text-letter-spacing": 0.1, "text-padding": 30 }, paint: { "text-opacity": 0.7 } }),
        ];
    }

    /** Land, lakes and borders of the world; coarse, and so beneath all that is right to a metre. */
    function world() {
        const of = (/** @type {string} */ kind) => ["==", ["get", "kind"], kind];
        return [
            { id: "world-land", type: "fill", source: "world", filter: of("land"), paint: { "fill-color": colour("--land") } },
            { id: "world-lake", type: "fill", source: "world", filter: of("lake"), paint: { "fill-color": colour("--water") } },
            { id: "world-border", type: "line", source: "world", filter: of("border"), paint: { "line-color": colour("--map-ink"), "line-opacity": 0.4, "line-width": 1 } },
        ];
    }

    // MARK: where the tiles end

    /** @param {[number, number, number, number]} bounds @param {number} by degrees outwards @returns {[number, number][]} */
    function frame([west, south, east, north], by) {
        const [w, s, e, n] = [west - by * 1.8, south - by, east + by * 1.8, north + by];
        return [[w, s], [e, s], [e, n], [w, n], [w, s]];
    }

    const polygon = (/** @type {[number, number][][]} */ coordinates, /** @type {number} */ opacity) =>
        ({ type: "Feature", properties: { opacity }, geometry: { type: "Polygon", coordinates } });

    /** Land beneath the streets of a city: the coarse world's shores may lie kilometres off. Its edge is soft. */
    function land(/** @type {[number, number, number, number]} */ bounds) {
        return [...Array(8).keys()].map((step) => polygon([frame(bounds, 0.05 + step * 0.003)], step === 0 ? 1 : 0.3));
    }

    /** Over the streets: they fade where the tiles end, instead of being cut. */
    function fade(/** @type {[number, number, number, number]} */ bounds) {
        return [...Array(7).keys()].map((step) =>
            polygon([frame(bounds, 0.05), frame(bounds, -step * 0.00012).reverse()], [1, 0.5, 0.4, 0.32, 0.25, 0.18, 0.12][step]));
    }

    /** @param {string} id @param {any} features */
    function edge(id, features) {
        return {
            source: { type: "geojson", data: { type: "FeatureCollection", features } },
            layer: {
                id, type: "fill", source: id,
                paint: { "fill-color": colour("--land"), "fill-antialias": false, "fill-opacity": ["interpolate", ["linear"], ["zoom"], 8, 0, 10.5, ["get", "opacity"]] },
            },
        };
    }

    // MARK: the whole

    /** @param {MapBase} base */
    function tiles(base) {
        const bounds = base.bounds ? { bounds: base.bounds } : {};
        if (base.kind === "raster") return { type: "raster", tiles: [base.tiles], tileSize: 256, minzoom: base.minZoom, maxzoom: base.maxZoom, ...bounds };
        return { type: "vector", tiles: [base.tiles], minzoom: base.minZoom, maxzoom: base.maxZoom, ...bounds };
    }

    /**
     * @param {MapBase} base
     * @param {boolean} hasWorld the world beneath is loaded: what is no land is sea
     * @returns {any}
     */
    function style(base, hasWorld) {
        const empty = { type: "FeatureCollection", features: [] };
        const sources = /** @type {Record<string, object>} */ ({ world: { type: "geojson", data: hasWorld ? base.world : empty, maxzoom: 8 } });
        const layers = /** @type {object[]} */ ([{ id: "ground", type: "background", paint: { "background-color": colour(hasWorld ? "--water" : "--land") } }, ...world()]);
        // Above all but names: tracks and places are drawn beneath this one.
        const under = { id: "under-names", type: "background", layout: { visibility: "none" } };
        if (!base.tiles) return whole(base, sources, [...layers, under]);
        sources.tiles = tiles(base);
        if (base.kind === "raster") return whole(base, sources, [...layers, { id: "tiles", type: "raster", source: "tiles" }, under]);
        const inner = [...ground(), ...streets()];
        if (!base.bounds) return whole(base, sources, [...layers, ...inner, under, ...names()]);
        const [beneath, over] = [edge("land", land(base.bounds)), edge("fade", fade(base.bounds))];
        Object.assign(sources, { land: beneath.source, fade: over.source });
        return whole(base, sources, [...layers, beneath.layer, ...inner, over.layer, under, ...names()]);
    }

    const whole = (/** @type {MapBase} */ base, /** @type {object} */ sources, /** @type {object[]} */ layers) => ({ version: 8, glyphs: base.glyphs, sources, layers });

    /** Whether what is looked at is not wholly on tiles of streets. */
    function needsWorld(/** @type {MapBase} */ base, /** @type {any} */ map) {
        if (base.tiles && !base.bounds) return false;
        if (!base.bounds || map.getZoom() < 10) return true;
        const [west, south, east, north] = base.bounds, seen = map.getBounds();
        return seen.getWest() < west - 0.05 || seen.getEast() > east + 0.05 || seen.getSouth() < south - 0.05 || seen.getNorth() > north + 0.05;
    }

    /** Whether streets could be seen at this zoom, and there are none in all that is seen. */
    function isWithoutStreets(/** @type {MapBase} */ base, /** @type {any} */ map) {
        if (map.getZoom() < 11 || (base.tiles && !base.bounds)) return false;
        if (!base.bounds) return true;
        const [west, south, east, north] = base.bounds, seen = map.getBounds();
        return seen.getEast() < west || seen.getWest() > east || seen.getNorth() < south || seen.getSouth() > north;
    }

    return { base, colour, style, needsWorld, isWithoutStreets };
})();
