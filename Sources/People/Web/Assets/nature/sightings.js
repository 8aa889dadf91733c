"use strict";
// The map of sightings: a square for each cell, the darker the more were seen there.

(async function drawSightings() {
    const element = document.getElementById("map");
    if (!element) return;
    const step = Number(element.dataset.step);
    const cells = element.dataset.cells.split(" ").map((/** @type {string} */ cell) => cell.split(",").map(Number));
    const most = Math.max(...cells.map((/** @type {number[]} */ cell) => cell[2]));
    // By the logarithm: some sites are walked each week.
    const opacity = (/** @type {number} */ count) => 0.25 + 0.6 * (Math.log(1 + count) / Math.log(1 + most));
    const features = cells.map(([row, column, sightings, individuals]) => {
        const [south, west, north, east] = [row * step, column * step, (row + 1) * step, (column + 1) * step];
        return {
            type: "Feature", properties: { opacity: opacity(sightings), sightings, individuals },
            geometry: { type: "Polygon", coordinates: [[[west, south], [east, south], [east, north], [west, north], [west, south]]] },
        };
    });
    const map = await drover.map(element, { bounds: boundsOf(features.flatMap(({ geometry }) => geometry.coordinates[0])), maxZoom: 16 });
    const colour = () => droverMapStyle.colour("--accent");
    map.shape("cells", { type: "FeatureCollection", features }, () => [
        { id: "cells", type: "fill", paint: { "fill-color": colour(), "fill-opacity": ["get", "opacity"] } },
        { id: "cells-edge", type: "line", paint: { "line-color": colour(), "line-width": 1 } },
    ]);
    element.dataset.cellsDrawn = String(features.length);
    map.map?.on("click", "cells", (/** @type {any} */ { lngLat, features: [cell] }) => {
        const { sightings, individuals } = cell.properties;
        map.tell(lngLat.toArray(), tn(sightings, "%1 sighting", "%1 sightings") + ", " + tn(individuals, "%1 individual", "%1 individuals"));
    });

    const here = document.getElementById("here");
    if (!map.map || !here) return;
    here.hidden = false;
    here.addEventListener("click", () => {
        const [[west, south], [east, north]] = map.view().bounds;
        const place = (/** @type {number} */ value, /** @type {number} */ limit) => Math.max(-limit, Math.min(limit, value)).toFixed(5);
        document.getElementById("box").value = [place(south, 90), place(west, 180), place(north, 90), place(east, 180)].join(",");
        document.getElementById("question").requestSubmit();
    });
})();
