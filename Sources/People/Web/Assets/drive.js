"use strict";
// A drive while it lasts: its values are asked for once a second while somebody looks, and at once when an alert is told.
(function () {
    droverLive.onPage((page) => {
        for (const id of ["state", "updated", "values"]) droverLive.replace(document.getElementById(id), page.getElementById(id));
        // Somebody may be writing in its forms: only when there is a trip, or none any more.
        const trip = document.getElementById("trip"), now = page.getElementById("trip");
        if (trip && now && !trip.childElementCount !== !now.childElementCount) trip.replaceWith(now);
        // Read out when it changes only.
        const old = document.getElementById("drive-alerts"), fresh = page.getElementById("drive-alerts");
        if (old && fresh && old.innerHTML !== fresh.innerHTML) old.innerHTML = fresh.innerHTML;
        for (const input of document.querySelectorAll("input[name=trip]")) input.value = page.querySelector("input[name=trip]")?.value ?? input.value;
    });

    async function look() {
        if (!document.hidden) await droverLive.refresh();
        setTimeout(look, 1000);
    }
    setTimeout(look, 1000);

    const alerts = new EventSource(document.getElementById("values").dataset.events);
    alerts.addEventListener("alert", () => droverLive.refresh());
    addEventListener("pagehide", () => alerts.close());
    addEventListener("pageshow", (shown) => { if (shown.persisted) location.reload(); });

    // What counts is when it was pressed; pressed twice, it is said once. Of forms that come later, too.
    document.addEventListener("submit", (event) => {
        const form = event.target.closest("form.drive");
        if (!form) return;
        if (form.elements.ts.value) return event.preventDefault();
        form.elements.ts.value = Date.now();
    });
})();
