"use strict";
// Maps of all pages. The element says what they are drawn on: data-tiles (the operator's own tiles, served by us), else
// data-base (the coarse map that ships with the program).

/** A map in this element, without a view yet. */
function droverMap(element) {
    const data = element.dataset;
    const map = L.map(element, { worldCopyJump: true, maxZoom: 19 });
    map.attributionControl.setPrefix(false);
    map.attributionControl.addAttribution(escaped(data.attribution));
    L.control.scale({ position: "topright" }).addTo(map);
    if (data.tiles) {
        const options = { minNativeZoom: Number(data.minZoom), maxNativeZoom: Number(data.maxZoom), maxZoom: 19 };
        if (data.bounds) {
            const [west, south, east, north] = data.bounds.split(",").map(Number);
            options.bounds = [[south, west], [north, east]];
        }
        L.tileLayer(data.tiles, options).addTo(map);
    } else {
        coarse(map, data.base);
    }
    return map;
}

/** Land, lakes and borders, in the colours of light or dark. */
async function coarse(map, address) {
    const answer = await fetch(address);
    if (!answer.ok) return;
    // Below all that is drawn on the map, and not to be clicked.
    map.createPane("coarse").style.zIndex = 150;
    const layer = L.geoJSON(await answer.json(), {
        pane: "coarse", renderer: L.canvas({ pane: "coarse", padding: 0.5 }), interactive: false, style: coarseStyle,
    }).addTo(map);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => layer.setStyle(coarseStyle));
}

function coarseStyle(feature) {
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    switch (feature.properties.kind) {
        case "land": return { fillColor: colour("--land"), fillOpacity: 1, stroke: false };
        case "lake": return { fillColor: colour("--sea"), fillOpacity: 1, stroke: false };
        default: return { color: colour("--border"), weight: 1, opacity: 0.7 };
    }
}

/** Text as HTML. */
function escaped(text) {
    const element = document.createElement("span");
    element.textContent = text;
    return element.innerHTML;
}
