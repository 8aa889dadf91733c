"use strict";
// The preview's map: waypoints of the list, the trail and the frame.

(function showTour() {
    const element = document.getElementById("map");
    const places = (text) => text.split(" ").filter(Boolean).map((pair) => pair.split(",").map(Number));
    const map = droverMap(element);
    const frame = places(element.dataset.frame);
    const items = [...document.querySelectorAll("#waypoints > li")];
    const waypoints = items.map((item) => item.dataset.place.split(",").map(Number));
    const all = [...frame, ...waypoints];
    if (all.length > 0) map.fitBounds(all, { maxZoom: 16, animate: false });
    else map.setView([20, 0], 2);
    const lines = tourLines(map);
    if (frame.length === 2) lines.frame.setBounds(frame).addTo(map);
    lines.trail.setLatLngs(places(element.dataset.line));
    lines.way.setLatLngs(waypoints);
    waypoints.forEach((place, index) => {
        const title = items[index].querySelector("h2").textContent;
        tourMarker(place, index + 1, title).addTo(map).on("click", () => items[index].scrollIntoView({ block: "start" }));
    });
})();
