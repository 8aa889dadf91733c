"use strict";
// The fleet's map. Its markers are made from the rows of the list, so that both say the same.
(function () {
    const map = droverMap(document.getElementById("map"));
    const markers = new Map();

    const rows = () => [...document.querySelectorAll("#vehicles tbody tr")];

    function sign(row) {
        const element = document.createElement("span");
        element.className = `sign ${row.dataset.state} ${row.dataset.severity}${"stale" in row.dataset ? " stale" : ""}`;
        element.textContent = row.dataset.severity ? "!" : row.querySelector(".state [aria-hidden]").textContent;
        return L.divIcon({ html: element, className: "", iconSize: [28, 28] });
    }

    /** What the row says, with its link. */
    function popup(row) {
        const element = document.createElement("div");
        const [state, alerts, time] = row.querySelectorAll("td");
        element.append(row.querySelector("th a").cloneNode(true), document.createElement("br"), state.textContent.trim(),
            document.createElement("br"), "alerts: " + alerts.textContent.trim(), document.createElement("br"), time.textContent.trim());
        return element;
    }

    function draw() {
        const seen = new Set();
        for (const row of rows()) {
            if (!row.dataset.place) continue;
            const name = row.dataset.vehicle, text = row.outerHTML;
            seen.add(name);
            const known = markers.get(name);
            if (known?.text === text) continue;
            const place = row.dataset.place.split(" ").map(Number);
            // Not by keyboard: the list has the same links in a better order.
            const marker = known?.marker ?? L.marker(place, { keyboard: false }).addTo(map);
            marker.setLatLng(place).setIcon(sign(row)).unbindPopup().bindPopup(popup(row));
            markers.set(name, { marker, text });
        }
        for (const [name, { marker }] of markers) {
            if (!seen.has(name)) { marker.remove(); markers.delete(name); }
        }
    }

    function fit() {
        const places = [...markers.values()].map(({ marker }) => marker.getLatLng());
        if (places.length) map.fitBounds(L.latLngBounds(places).pad(0.2), { maxZoom: 13, animate: false });
        else map.setView([30, 10], 2);
    }

    /** Row by row, so that who reads or stands on one that stays is not disturbed. */
    function update(page) {
        const old = rows(), fresh = [...page.querySelectorAll("#vehicles tbody tr")];
        const isSame = old.length === fresh.length && old.every((row, at) => row.dataset.vehicle === fresh[at].dataset.vehicle);
        if (isSame) old.forEach((row, at) => droverLive.replace(row, fresh[at]));
        else droverLive.replace(document.querySelector("#vehicles tbody"), page.querySelector("#vehicles tbody"));
        for (const id of ["count", "updated"]) {
            const old = document.getElementById(id), text = page.getElementById(id)?.textContent;
            if (text && old.textContent !== text) old.textContent = text;
        }
        draw();
    }

    draw();
    fit();
    droverLive.onPage(update);
    droverLive.start();
})();
