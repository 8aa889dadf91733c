"use strict";
// The list of alerts: what is selected, by hand or by keys, and what is said of it at once. Without it each button leads to a page.
(function () {
    const list = /** @type {HTMLElement} */ (document.getElementById("alerts"));
    const bulk = document.getElementById("bulk");
    if (!list || !(bulk instanceof HTMLFormElement)) return;
    /** @type {Set<string>} */
    const selected = new Set();
    let at = "";

    const rows = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#alerts .al")]);
    const rowAt = () => rows().find((row) => row.dataset.alert === at);
    const box = (/** @type {Element} */ row) => /** @type {HTMLInputElement | null} */ (row.querySelector("input.check"));

    function show() {
        for (const other of document.querySelectorAll("[data-assign]")) other.removeAttribute("hidden");
        const there = new Set(rows().map((row) => row.dataset.alert));
        for (const alert of [...selected]) if (!there.has(alert)) selected.delete(alert);
        for (const row of rows()) {
            const check = box(row);
            const isSelected = selected.has(row.dataset.alert || "");
            if (check) check.checked = isSelected;
            row.classList.toggle("sel", isSelected);
        }
        bulk.hidden = selected.size === 0;
        const words = document.getElementById("selected");
        if (words) words.textContent = tn(selected.size, "%1 selected", "%1 selected");
    }

    document.addEventListener("change", (event) => {
        const check = event.target;
        if (!(check instanceof HTMLInputElement) || check.name !== "alert") return;
        if (check.checked) selected.add(check.value);
        else selected.delete(check.value);
        show();
    });
    bulk.addEventListener("reset", () => { selected.clear(); setTimeout(show); });
    // Somebody else is chosen in the bar above the list, which has all names once.
    document.addEventListener("click", (event) => {
        const other = event.target instanceof Element ? event.target.closest("[data-assign]") : null;
        if (!(other instanceof HTMLElement)) return;
        other.closest("details")?.removeAttribute("open");
        selected.clear();
        selected.add(other.dataset.assign || "");
        show();
        const to = document.getElementById("to");
        to?.scrollIntoView({ block: "center" });
        to?.focus();
    });
    for (const reset of bulk.querySelectorAll("[type=reset]")) reset.removeAttribute("hidden");
    for (const keys of document.querySelectorAll(".keys")) keys.removeAttribute("hidden");

    // Acknowledged ones are on the other tab.
    addEventListener("acknowledged", (event) => {
        const alert = /** @type {CustomEvent} */ (event).detail;
        const row = rows().find((each) => each.dataset.alert === alert);
        const all = rows();
        const next = row && (all[all.indexOf(row) + 1] || all[all.indexOf(row) - 1]);
        selected.delete(alert);
        if (row?.contains(document.activeElement)) next?.querySelector("a")?.focus();
        if (at === alert) at = next?.dataset.alert || "";
        row?.remove();
        show();
    });
    droverLive.onPage(() => setTimeout(show));

    /** J and K move, X selects, A acknowledges: as mail programs have them. */
    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        const on = event.target;
        if (on instanceof HTMLElement && on.matches("input:not([type=checkbox]), select, textarea")) return;
        const all = rows();
        const row = rowAt();
        if (event.key === "j" || event.key === "k") {
            const step = event.key === "j" ? 1 : -1;
            const next = all[row ? Math.max(0, Math.min(all.length - 1, all.indexOf(row) + step)) : 0];
            if (!next) return;
            at = next.dataset.alert || "";
            next.querySelector("a")?.focus();
        } else if (event.key === "x" && row) {
            box(row)?.click();
        } else if (event.key === "a" && row) {
            /** @type {HTMLButtonElement | null} */ (row.querySelector("[data-acknowledge]"))?.click();
        }
    });
    document.addEventListener("focusin", (event) => {
        const row = event.target instanceof Element ? event.target.closest("#alerts .al") : null;
        if (row instanceof HTMLElement) at = row.dataset.alert || "";
    });
    show();
})();
