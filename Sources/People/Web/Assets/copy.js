"use strict";
// Buttons that copy what stands in a field: data-copy has its id. Without a script, or a clipboard, the text is there to be marked.
(function () {
    async function copy(/** @type {HTMLButtonElement} */ button, /** @type {HTMLInputElement} */ field) {
        field.select();
        try {
            await navigator.clipboard.writeText(field.value);
            drover.toast(t("Copied"));
        } catch {
            // Only a page that came safely may write there: the field is marked, so that the keys for it do.
            drover.toast(t("Marked. Press Ctrl+C to copy."));
        }
    }

    for (const button of document.querySelectorAll("button[data-copy]")) {
        if (!(button instanceof HTMLButtonElement)) continue;
        const field = document.getElementById(button.dataset.copy ?? "");
        if (!(field instanceof HTMLInputElement)) continue;
        // The way to a page of ours, as somebody elsewhere reaches it.
        if (field.value.startsWith("/")) field.value = new URL(field.value, location.href).href;
        button.hidden = false;
        button.addEventListener("click", () => copy(button, field));
    }
})();
