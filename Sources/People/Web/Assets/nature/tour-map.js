"use strict";
// What maps of tours have in common: the trail, the way from waypoint to waypoint, the frame, numbered markers. Tours write latitude
// before longitude; maps the other way round.

/** @param {[number, number]} place @returns {[number, number]} */
const tourTurned = ([latitude, longitude]) => [longitude, latitude];

/**
 * The lines of a tour on its map.
 * @param {any} map of drover.map
 */
function tourLines(map) {
    const { colour } = droverMapStyle;
    const line = (/** @type {[number, number][]} */ places) => ({ type: "Feature", properties: {}, geometry: { type: "LineString", coordinates: places.map(tourTurned) } });
    const look = {
        frame: () => [{ id: "frame", type: "line", paint: { "line-color": colour("--ink"), "line-width": 1.5, "line-dasharray": [3, 2] } }],
        way: () => [{ id: "way", type: "line", paint: { "line-color": colour("--accent"), "line-width": 2, "line-dasharray": [3, 3] } }],
        trail: () => [
            { id: "trail-case", type: "line", layout: { "line-cap": "round", "line-join": "round" }, paint: { "line-color": colour("--raised"), "line-width": 7 } },
            { id: "trail", type: "line", layout: { "line-cap": "round", "line-join": "round" }, paint: { "line-color": colour("--warning-solid"), "line-width": 4 } },
        ],
    };
    return {
        trail: (/** @type {[number, number][]} */ places) => map.shape("trail", places.length > 1 ? line(places) : null, look.trail),
        way: (/** @type {[number, number][]} */ places) => map.shape("way", places.length > 1 ? line(places) : null, look.way),
        /** Its south-western and north-eastern corner; null: none. */
        frame(/** @type {[[number, number], [number, number]] | null} */ corners) {
            const [[south, west], [north, east]] = corners ?? [[0, 0], [0, 0]];
            map.shape("frame", corners && line([[south, west], [south, east], [north, east], [north, west], [south, west]]), look.frame);
        },
    };
}

/**
 * @param {any} map
 * @param {[number, number]} place
 * @param {number} number
 * @param {string} title
 * @param {() => void} onclick
 * @param {(place: [number, number]) => void} [onDrag]
 */
function tourMarker(map, place, number, title, onclick, onDrag) {
    return map.pin({
        at: tourTurned(place), kind: "tour-marker", text: String(number), label: t("Waypoint %1: %2", number, title), onclick,
        onDrag: onDrag && ((/** @type {[number, number]} */ at) => onDrag(tourTurned(at))),
    });
}
