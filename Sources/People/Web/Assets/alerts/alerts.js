"use strict";
// Alerts as they are now. Forms are left alone: somebody may be writing.
(function () {
    droverLive.onPage((page) => {
        const parts = [
            "count", "updated", "tabs", "alerts", "unmonitored", "story", "rows", "downloads", "alert-status", "alert-acts", "alert-acts-phone", "happened",
            "told", "details",
        ];
        for (const id of parts) {
            const old = document.getElementById(id);
            // Somebody is choosing there.
            if (old?.querySelector("details.menu[open]") || old?.matches("details[open]")) continue;
            droverLive.replace(old, page.getElementById(id));
        }
        drover.charts?.news();
    });
    droverLive.start();

    // Where the vehicle of an alert was last.
    const element = document.getElementById("where");
    if (!element) return;
    const { vehicle, name, icon, sev, at } = element.dataset;
    const place = (at || "").split(",").map(Number);
    drover.map(element, {
        center: place, zoom: 14, vehicles: [{ id: vehicle, name, icon, at: place, state: "parked", sev: sev || undefined }], names: "always",
        controls: false, label: t("%1 on the map", name),
    });
})();
