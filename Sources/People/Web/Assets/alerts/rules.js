"use strict";
// The form of a rule shows what it would have raised while somebody types or drags. Without it a button does the same.

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement} place Where it is shown.
 * @param {string} address What the server is asked.
 */
function tryRule(form, place, address) {
    const pauseMs = 250;
    const limit = /** @type {HTMLInputElement | null} */ (document.getElementById("threshold"));
    const clear = /** @type {HTMLInputElement | null} */ (document.getElementById("clear"));
    const other = /** @type {HTMLInputElement | null} */ (document.getElementById("other"));
    const changed = /** @type {HTMLElement} */ (document.getElementById("changed"));
    const unit = form.querySelector("label.in .unit")?.textContent || "";
    const tally = document.getElementById("tally");
    const first = fields().toString();
    let timer = 0;
    /** @type {AbortController | null} */
    let asking = null;

    function fields() {
        const chosen = new URLSearchParams();
        for (const [name, value] of new FormData(form)) {
            if (name !== "form" && name !== "based_on" && name !== "anyway") chosen.append(name, String(value));
        }
        return chosen;
    }

    function showChange() {
        const isChanged = fields().toString() !== first;
        const was = limit?.defaultValue;
        if (!isChanged) changed.textContent = other ? t("No changes yet. Drag the limit to see its effect.") : t("No changes yet.");
        else if (limit && was && limit.value !== was) changed.textContent = t("Limit %1, was %2. Not saved yet.", `${limit.value} ${unit}`.trim(), `${was} ${unit}`.trim());
        else changed.textContent = t("Changed. Not saved yet.");
    }

    function soon() {
        showChange();
        clearTimeout(timer);
        timer = setTimeout(ask, pauseMs);
    }

    async function ask() {
        asking?.abort();
        const mine = asking = new AbortController();
        place.setAttribute("aria-busy", "true");
        try {
            const answer = await fetch(`${address}?${fields()}`, { headers: { Accept: "application/json" }, signal: mine.signal });
            if (answer.status === 429) return void (timer = setTimeout(ask, 1000));
            const said = await answer.json();
            showErrors(said.errors || {});
            if (answer.status === 422) return say(Object.keys(said.errors || {}).length ? t("Check what is marked above.") : said.rest.join(" "));
            if (!answer.ok) return say(t("This cannot be tried right now. Press Try it."));
            show(said.html);
        } catch {
            if (!mine.signal.aborted) say(t("The server cannot be reached."));
        } finally {
            if (asking === mine) place.removeAttribute("aria-busy");
        }
    }

    function say(/** @type {string} */ text) {
        const line = document.createElement("p");
        line.className = "empty";
        line.textContent = text;
        place.replaceChildren(line);
        tell(text);
    }

    /** In one line at the top, which stays in sight on a phone. */
    function tell(/** @type {string} */ text) {
        const line = tally?.querySelector("span");
        if (!tally || !line) return;
        line.textContent = text;
        tally.hidden = !text;
    }

    function tellTried() {
        const answer = place.querySelector(".ansr");
        if (answer instanceof HTMLElement) tell(answer.dataset.said || "");
    }

    /** Made by our server, escaped there. */
    function show(/** @type {string} */ html) {
        const page = new DOMParser().parseFromString(html, "text/html");
        if (!page.body.children.length) return say(t("It raises no alert."));
        place.replaceChildren(...page.body.childNodes);
        tellTried();
    }

    function showErrors(/** @type {Record<string, string>} */ errors) {
        for (const old of form.querySelectorAll(".fld.bad, .bad .err")) old.remove();
        for (const field of form.querySelectorAll("[aria-invalid]")) {
            field.removeAttribute("aria-invalid");
            field.removeAttribute("aria-describedby");
        }
        for (const bad of form.querySelectorAll(".in.bad")) bad.classList.remove("bad");
        for (const [name, text] of Object.entries(errors)) {
            const field = document.getElementById(name);
            if (!field) continue;
            field.setAttribute("aria-invalid", "true");
            field.setAttribute("aria-describedby", `${name}-error`);
            field.closest(".in")?.classList.add("bad");
            const line = drover.element("p", { class: "fld bad" }, drover.element("span", { class: "err", id: `${name}-error` }, drover.icon("warn"), text));
            (field.closest(".lv, .sentence, .fld") || field).after(line);
            field.closest("details")?.setAttribute("open", "");
        }
    }

    /** The slider and the field say the same; the value at which an alert ends keeps its distance. */
    function setLimit(/** @type {string} */ text) {
        if (!limit) return;
        const [from, to, ends] = [Number(limit.value), Number(text), Number(clear?.value || NaN)];
        if (clear && clear.value && !Number.isNaN(from) && !Number.isNaN(ends)) clear.value = String(Math.round((ends + to - from) * 1000) / 1000);
        limit.value = text;
    }

    function showSlider() {
        if (!other || !limit) return;
        const value = Number(limit.value);
        if (limit.value && !Number.isNaN(value)) other.value = String(value);
        const share = (Number(other.value) - Number(other.min)) / (Number(other.max) - Number(other.min) || 1);
        other.style.setProperty("--at", `${share * 100}%`);
        const output = form.querySelector("output");
        if (output) output.textContent = `${limit.value} ${unit}`;
    }

    if (other && limit) {
        /** @type {HTMLElement} */ (document.getElementById("slide")).hidden = false;
        other.addEventListener("input", () => {
            setLimit(other.value);
            showSlider();
            soon();
        });
    }
    form.addEventListener("input", (event) => {
        if (event.target === other) return;
        showSlider();
        soon();
    });
    place.addEventListener("click", (event) => {
        const chip = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-limit]"));
        if (!chip || !limit) return;
        event.preventDefault();
        setLimit(chip.dataset.limit || "");
        showSlider();
        soon();
        limit.focus();
    });
    showSlider();
    showChange();
    tellTried();
    if (!place.querySelector(".ansr")) ask();
}

(function () {
    const form = document.getElementById("rule"), place = document.getElementById("tried");
    const address = document.getElementById("trial")?.dataset.tried;
    if (form instanceof HTMLFormElement && place && address) tryRule(form, place, address);
})();
