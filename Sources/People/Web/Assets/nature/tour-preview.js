"use strict";
// The preview's map: waypoints of the list, the trail and the frame.

(async function showTour() {
    const element = document.getElementById("map");
    const places = (/** @type {string} */ text) => text.split(" ").filter(Boolean).map((pair) => /** @type {[number, number]} */ (pair.split(",").map(Number)));
    const frame = places(element.dataset.frame);
    const items = [...document.querySelectorAll("#waypoints > li")];
    const waypoints = items.map((item) => /** @type {[number, number]} */ (item.dataset.place.split(",").map(Number)));
    const all = [...frame, ...waypoints, ...places(element.dataset.line)].map(tourTurned);
    const map = await drover.map(element, all.length > 0 ? { bounds: boundsOf(all), maxZoom: 16 } : {});
    const lines = tourLines(map);
    if (frame.length === 2) lines.frame([frame[0], frame[1]]);
    lines.trail(places(element.dataset.line));
    lines.way(waypoints);
    waypoints.forEach((place, index) => {
        const title = items[index].querySelector("h2").textContent;
        tourMarker(map, place, index + 1, title, () => items[index].scrollIntoView({ block: "start" }));
    });
})();
