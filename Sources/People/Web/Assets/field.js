"use strict";
// One machine as it is now.
(function () {
    droverLive.onPage((page) => droverLive.replace(document.getElementById("field"), page.getElementById("field")));
    droverLive.start();
})();
