"use strict";
// Before the page is drawn: the reader's theme and whether the menu is collapsed, as this browser keeps them.
(function () {
    try {
        const theme = localStorage.getItem("theme");
        if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
        if (localStorage.getItem("slim") === "1") document.documentElement.dataset.slim = "";
    } catch {
        // A browser that keeps nothing follows the system.
    }
})();
