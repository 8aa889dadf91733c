"use strict";
// The map of sightings: a square for each cell, the darker the more were seen there.

(function drawSightings() {
    const element = document.getElementById("map");
    if (!element) return;
    const map = droverMap(element);
    const step = Number(element.dataset.step);
    const cells = element.dataset.cells.split(" ").map((cell) => cell.split(",").map(Number));
    const most = Math.max(...cells.map((cell) => cell[2]));
    const colour = () => getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
    // By the logarithm: some sites are walked each week.
    const opacity = (count) => 0.25 + 0.6 * (Math.log(1 + count) / Math.log(1 + most));
    const layer = L.featureGroup(cells.map(([row, column, sightings, individuals]) =>
        L.rectangle([[row * step, column * step], [(row + 1) * step, (column + 1) * step]],
            { color: colour(), weight: 1, fillOpacity: opacity(sightings) })
            .bindTooltip(`${sightings} sightings, ${individuals} individuals`))).addTo(map);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => layer.setStyle({ color: colour() }));
    map.fitBounds(layer.getBounds().pad(0.1), { maxZoom: 16, animate: false });

    const here = document.getElementById("here");
    here.hidden = false;
    here.addEventListener("click", () => {
        const bounds = map.getBounds();
        const place = (value, most) => Math.max(-most, Math.min(most, value)).toFixed(5);
        document.getElementById("box").value = [place(bounds.getSouth(), 90), place(bounds.getWest(), 180),
            place(bounds.getNorth(), 90), place(bounds.getEast(), 180)].join(",");
        document.getElementById("question").requestSubmit();
    });
})();
