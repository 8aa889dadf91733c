"use strict";
// What maps of tours have in common: the trail, the way from waypoint to waypoint, the frame, numbered markers.

/** Lines and the frame on one canvas, in the colours of light or dark. */
function tourLines(map) {
    const renderer = L.canvas({ padding: 0.5 });
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const styles = {
        trail: () => ({ color: colour("--warn"), weight: 4, opacity: 1 }),
        way: () => ({ color: colour("--accent"), weight: 2, opacity: 1, dashArray: "6 6" }),
        frame: () => ({ color: colour("--ink"), weight: 2, opacity: 1, fill: false }),
    };
    const options = (kind) => ({ renderer, interactive: false, ...styles[kind]() });
    const lines = {
        trail: L.polyline([], options("trail")).addTo(map), way: L.polyline([], options("way")).addTo(map),
        frame: L.rectangle([[0, 0], [0, 0]], options("frame")),
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        for (const kind of Object.keys(lines)) lines[kind].setStyle(styles[kind]());
    });
    return lines;
}

function tourMarker(place, number, title, options = {}) {
    const icon = L.divIcon({ className: "tour-marker", html: String(number), iconSize: [32, 32] });
    return L.marker(place, { icon, title: `Waypoint ${number}: ${title}`, alt: `Waypoint ${number}: ${title}`, keyboard: true, ...options });
}
