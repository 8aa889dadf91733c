"use strict";
// The list of vehicles: which machines are selected, also while news come. Without it the bar above the list is always there.
(function () {
    const bulk = document.getElementById("bulk");
    if (!(bulk instanceof HTMLFormElement)) return;
    /** @type {Set<string>} */
    const selected = new Set();

    const boxes = () => /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("#rows input[name=vehicle]")]);

    function show() {
        const there = new Set(boxes().map((box) => box.value));
        for (const vehicle of [...selected]) if (!there.has(vehicle)) selected.delete(vehicle);
        for (const box of boxes()) {
            box.checked = selected.has(box.value);
            box.closest("tr")?.setAttribute("aria-selected", String(box.checked));
        }
        const all = document.getElementById("all");
        if (all instanceof HTMLInputElement) {
            all.hidden = there.size === 0;
            all.checked = there.size > 0 && selected.size === there.size;
            all.indeterminate = selected.size > 0 && selected.size < there.size;
        }
        bulk.hidden = selected.size === 0;
        const words = document.getElementById("selected");
        if (words) words.textContent = tn(selected.size, "%1 machine selected", "%1 machines selected");
    }

    document.addEventListener("change", (event) => {
        const box = event.target;
        if (!(box instanceof HTMLInputElement)) return;
        if (box.id === "all") {
            selected.clear();
            if (box.checked) for (const each of boxes()) selected.add(each.value);
        } else if (box.name === "vehicle") {
            if (box.checked) selected.add(box.value);
            else selected.delete(box.value);
        } else return;
        show();
    });
    bulk.addEventListener("reset", () => { selected.clear(); setTimeout(show); });
    for (const reset of bulk.querySelectorAll("[type=reset]")) reset.removeAttribute("hidden");
    droverLive.onPage(() => setTimeout(show));
    // What the browser kept of the page before.
    for (const box of boxes()) if (box.checked) selected.add(box.value);
    show();
})();
