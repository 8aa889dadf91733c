"use strict";
// *Connect* and *Get debug logs*: asks a machine's box now, and says in place how it goes. Without it the form leads to a page that says so.
(function () {
    const lookMs = 700, patienceMs = "45000";
    /** @type {Map<string, {state: string, words: string}>} */
    const told = new Map();

    const newID = () => [...crypto.getRandomValues(new Uint8Array(13))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const pause = () => new Promise((done) => setTimeout(done, lookMs));

    /** In its row of the list; on its own page above all. */
    function place(/** @type {string} */ vehicle) {
        const row = document.querySelector(`#rows [data-connect="${CSS.escape(vehicle)}"]`)?.closest("tr");
        if (row) {
            const words = row.querySelector("td.head .cell > span:last-child");
            let said = words?.querySelector(".asked");
            if (words && !said) words.append((said = drover.element("small", { class: "asked", role: "status" })));
            return said;
        }
        // Its page has a place for it, which the server fills, too.
        const strip = document.querySelector("p#downloads");
        if (strip) return strip;
        let said = document.getElementById("asked");
        if (!said && !document.getElementById("rows")) {
            said = drover.element("p", { id: "asked", role: "status" });
            document.getElementById("main")?.prepend(/** @type {HTMLElement} */ (said));
        }
        return said;
    }

    function show() {
        for (const [vehicle, { state, words }] of told) {
            const said = place(vehicle);
            if (!said) continue;
            const [tone, text] = { done: ["ok", t("Done: %1", words)], failed: ["warning", t("Not done: %1", words)] }[state] ?? ["info", words];
            said.className = said.tagName === "P" ? `strip ${tone}` : `asked ${tone}`;
            said.removeAttribute("hidden");
            if (said.textContent !== text) said.textContent = text;
            for (const button of document.querySelectorAll(`[data-connect="${CSS.escape(vehicle)}"]`)) {
                button.toggleAttribute("aria-busy", state === "waiting");
            }
        }
    }

    function tell(/** @type {string} */ vehicle, /** @type {string} */ state, /** @type {string} */ words) {
        told.set(vehicle, { state, words });
        show();
    }

    /** Until the box has answered, or nobody will. */
    async function outcome(/** @type {string} */ vehicle, /** @type {string} */ request, /** @type {number} */ ms) {
        const until = Date.now() + ms;
        while (Date.now() < until) {
            await pause();
            const answer = await fetch(`/vehicles/${encodeURIComponent(vehicle)}/asked?request=${request}`, { headers: { Accept: "application/json" } });
            if (!answer.ok) break;
            const found = await answer.json();
            if (found.state !== "waiting") return found;
        }
        return { state: "failed", words: t("No answer yet. Details shows what came of it.") };
    }

    async function ask(/** @type {HTMLButtonElement} */ button, /** @type {HTMLFormElement} */ form) {
        const vehicle = button.dataset.connect ?? "";
        if (told.get(vehicle)?.state === "waiting") return;
        const fields = new URLSearchParams();
        for (const [name, value] of new FormData(form)) if (typeof value === "string") fields.set(name, value);
        const request = newID();
        fields.set("id", request);
        tell(vehicle, "waiting", t("Connecting…"));
        try {
            const answer = await fetch(button.getAttribute("formaction") ?? form.action, {
                method: "POST", body: fields, redirect: "manual", headers: { Accept: "application/json" },
            });
            if (answer.type !== "opaqueredirect" && !answer.ok) {
                const problem = await answer.json().catch(() => null);
                return tell(vehicle, "failed", problem?.detail ?? t("The machine could not be asked. Reload the page and try again."));
            }
            const found = await outcome(vehicle, request, Number(button.dataset.patience ?? patienceMs));
            tell(vehicle, found.state, found.words);
            droverLive.refresh();
        } catch {
            tell(vehicle, "failed", t("The server cannot be reached. Try again."));
        }
    }

    document.addEventListener("submit", (event) => {
        const button = event.submitter, form = event.target;
        if (!(button instanceof HTMLButtonElement) || !(form instanceof HTMLFormElement) || !button.dataset.connect) return;
        event.preventDefault();
        button.closest("details.menu")?.removeAttribute("open");
        ask(button, form);
    });
    droverLive.onPage((page) => {
        droverLive.replace(document.getElementById("logs"), page.getElementById("logs"));
        setTimeout(show);
    });
})();
