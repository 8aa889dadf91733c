"use strict";
// What was just added: the page is loaded anew when a worker has taken it.
(function () {
    droverLive.onPage((page) => {
        if (!page.getElementById("waiting")) location.reload();
    });
    droverLive.start();
})();
