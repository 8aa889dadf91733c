"use strict";
// The picture of who is told follows the hour while it is dragged: the server draws it, as it does without a script.

(function () {
    const pauseMs = 120;
    let timer = 0;

    async function draw(/** @type {HTMLFormElement} */ form) {
        const chosen = new URLSearchParams();
        for (const [name, value] of new FormData(form)) chosen.append(name, String(value));
        try {
            const answer = await fetch(`/notices?${chosen}`, { headers: { Accept: "text/html" } });
            if (!answer.ok || answer.redirected) return;
            const page = new DOMParser().parseFromString(await answer.text(), "text/html");
            const steps = page.querySelector("#flow .flow"), said = page.querySelector("#flow [role=status]");
            if (steps) document.querySelector("#flow .flow")?.replaceWith(steps);
            if (said) document.querySelector("#flow [role=status]")?.replaceWith(said);
        } catch {
            // The button asks again, and says what is wrong.
        }
    }

    function start(/** @type {HTMLInputElement} */ hour, /** @type {HTMLFormElement} */ form) {
        function show() {
            hour.style.setProperty("--at", `${Number(hour.value) / 23 * 100}%`);
            const output = form.querySelector("output b");
            if (output) output.textContent = `${hour.value.padStart(2, "0")}:00`;
        }

        /** @type {HTMLElement} */ (form.querySelector("button")).hidden = true;
        hour.addEventListener("input", () => {
            show();
            clearTimeout(timer);
            timer = setTimeout(() => draw(form), pauseMs);
        });
        show();
    }

    const hour = document.getElementById("at");
    if (hour instanceof HTMLInputElement && hour.form) start(hour, hour.form);
})();
