"use strict";
// Acknowledging an alert where one stands: the form is sent, the page stays, and it can be taken back. Any page may have such forms, or
// buttons of a form, with data-acknowledge.
(function () {
    /** Alerts that were acknowledged here and may not be stored yet: a page that is looked at again must not offer them anew. */
    const done = new Set();

    /** @typedef {{form: HTMLFormElement, button: HTMLElement | null, alert: string, action: string}} Said */

    /** The form that an event sends, if it acknowledges something. */
    function said(/** @type {SubmitEvent} */ event) {
        const form = event.target;
        if (!(form instanceof HTMLFormElement)) return null;
        const button = event.submitter;
        const alert = button?.dataset.acknowledge || form.dataset.acknowledge;
        if (!alert) return null;
        const action = button?.getAttribute("formaction") || form.getAttribute("action") || "";
        return { form, button: button || form.querySelector("button"), alert, action };
    }

    /** What shows the alert says that it is acknowledged. */
    function settle() {
        for (const each of document.querySelectorAll("[data-acknowledge]")) {
            if (!(each instanceof HTMLElement) || !done.has(each.dataset.acknowledge)) continue;
            each.replaceWith(drover.element("span", { class: "pill ok" }, t("Acknowledged")));
        }
    }

    async function post(/** @type {HTMLFormElement} */ form, /** @type {string} */ action) {
        const body = new URLSearchParams();
        // What is selected beside it is not meant.
        for (const [name, value] of new FormData(form)) if (name !== "alert" && typeof value === "string") body.append(name, value);
        const answer = await fetch(action, { method: "POST", headers: { Accept: "application/json" }, body });
        // Sent twice it counts once; the next one is another.
        for (const name of ["id", "batch"]) {
            const field = form.elements.namedItem(name);
            if (answer.ok && field instanceof HTMLInputElement) field.value = `a-${[...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
        }
        return answer;
    }

    async function send(/** @type {Said} */ { form, button, alert, action }) {
        button?.setAttribute("aria-busy", "true");
        try {
            const answer = await post(form, action);
            // Logged out, or refused: the page that says so.
            if (answer.redirected || answer.status === 401) return location.reload();
            if (!answer.ok) return drover.toast((await answer.json()).detail || t("This did not work. Try again in a moment."));
            done.add(alert);
            dispatchEvent(new CustomEvent("acknowledged", { detail: alert }));
            settle();
            drover.toast(t("Acknowledged. It is with you now."), () => takeBack(form, alert, action.replace(/[^/]+$/, "reopen")));
        } catch {
            drover.toast(t("The server cannot be reached. Try again in a moment."));
        } finally {
            button?.removeAttribute("aria-busy");
        }
    }

    async function takeBack(/** @type {HTMLFormElement} */ form, /** @type {string} */ alert, /** @type {string} */ action) {
        try {
            const answer = await post(form, action);
            if (!answer.ok) return drover.toast(t("This could not be taken back. Open the alert and try there."));
            done.delete(alert);
            drover.toast(t("Taken back."));
            // As soon as it is stored the page shows it again.
            setTimeout(() => location.reload(), 1200);
        } catch {
            drover.toast(t("The server cannot be reached. Open the alert and try there."));
        }
    }

    document.addEventListener("submit", (event) => {
        const found = said(event);
        if (!found) return;
        event.preventDefault();
        if (found.button?.getAttribute("aria-busy") !== "true") send(found);
    });
    new MutationObserver(settle).observe(document.body, { childList: true, subtree: true });
})();
