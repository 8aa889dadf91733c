"use strict";
// The answer of a scan shows when it is there.
(function () {
    droverLive.onPage((page) => {
        for (const id of ["waiting", "found", "history"]) droverLive.replace(document.getElementById(id), page.getElementById(id));
        droverLive.replace(document.querySelector(".top .slot.status"), page.querySelector(".top .slot.status"));
    });
    droverLive.start();
})();
