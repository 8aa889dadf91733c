"use strict";
// Alerts as they are now. Forms are left alone: somebody may be writing.
(function () {
    droverLive.onPage((page) => {
        for (const id of ["count", "updated", "alerts", "story", "rows", "downloads"]) {
            droverLive.replace(document.getElementById(id), page.getElementById(id));
        }
    });
    droverLive.start();
})();
