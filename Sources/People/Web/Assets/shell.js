"use strict";
// What all pages have: theme, menus, search, keys, sorted tables, short messages; and what scripts of several pages need. A page works without it.

/** @type {any} What scripts of pages share. */
const drover = (function () {
    const root = document.documentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)");

    function keep(/** @type {string} */ name, /** @type {string} */ value) {
        try {
            localStorage.setItem(name, value);
        } catch {
            // Nothing is kept: the choice holds for this page.
        }
    }

    const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);

    /** The value of a token (tokens.css) as the page shows it now, for canvases. */
    function token(/** @type {string} */ name) {
        const value = getComputedStyle(root).getPropertyValue(name).trim();
        const both = /^light-dark\((.+?),(.+)\)$/.exec(value);
        return both ? both[isDark() ? 2 : 1].trim() : value;
    }

    function setTheme(/** @type {string} */ choice) {
        if (choice === "system") delete root.dataset.theme;
        else root.dataset.theme = choice;
        keep("theme", choice);
        showTheme();
        dispatchEvent(new Event("theme"));
    }

    function showTheme() {
        for (const button of document.querySelectorAll("[data-theme-choice]")) {
            const choice = button.getAttribute("data-theme-choice");
            button.setAttribute("aria-pressed", String(choice === (root.dataset.theme || "system")));
        }
    }

    /** An icon of icons.svg, as an element. */
    function icon(/** @type {string} */ name) {
        const space = "http://www.w3.org/2000/svg";
        const svg = document.createElementNS(space, "svg");
        svg.setAttribute("class", "i");
        svg.setAttribute("aria-hidden", "true");
        const use = document.createElementNS(space, "use");
        use.setAttribute("href", `/assets/icons.svg#${name}`);
        svg.append(use);
        return svg;
    }

    /**
     * An element with attributes and content.
     * @param {string} name
     * @param {Record<string, string>} [attributes]
     * @param {...(Node | string)} content
     */
    function element(name, attributes = {}, ...content) {
        const made = document.createElement(name);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        made.append(...content);
        return made;
    }

    /** How old something is, as the server says it: cut, not rounded. */
    function ago(/** @type {number} */ ms, nowMs = Date.now()) {
        const seconds = Math.max(0, Math.floor((nowMs - ms) / 1000));
        if (seconds < 60) return t("%1 s ago", seconds);
        if (seconds < 7200) return t("%1 min ago", Math.floor(seconds / 60));
        if (seconds < 172800) return t("%1 h ago", Math.floor(seconds / 3600));
        return tn(Math.floor(seconds / 86400), "%1 day ago", "%1 days ago");
    }

    /** How many of a rising list are at most so large. @param {number[]} list @param {number} value */
    function countUpTo(list, value) {
        let [low, high] = [0, list.length];
        while (low < high) {
            const middle = (low + high) >> 1;
            if (list[middle] <= value) low = middle + 1; else high = middle;
        }
        return low;
    }

    /** A short message at the bottom; with *Undo* where there is a way back. */
    function toast(/** @type {string} */ words, /** @type {(() => void) | null} */ undo = null) {
        document.querySelector(".toast")?.remove();
        const box = element("div", { class: "toast", role: "status" }, element("span", {}, words));
        const end = setTimeout(() => box.remove(), 6000);
        if (undo) {
            const button = element("button", { type: "button" }, t("Undo"));
            button.addEventListener("click", () => { clearTimeout(end); box.remove(); undo(); });
            box.append(button);
        }
        document.body.append(box);
    }

    /** Disclosures with class menu: one at a time; Escape, a choice, and a click elsewhere close them. */
    function menus() {
        const open = () => document.querySelectorAll("details.menu[open]");
        document.addEventListener("click", (event) => {
            for (const menu of open()) {
                if (!(event.target instanceof Node) || !menu.contains(event.target)) menu.removeAttribute("open");
            }
        });
        document.addEventListener("keydown", (event) => {
            if (event.key !== "Escape") return;
            for (const menu of open()) {
                menu.removeAttribute("open");
                menu.querySelector("summary")?.focus();
            }
        });
    }

    function collapsing() {
        const button = document.querySelector("[data-slim]");
        if (!(button instanceof HTMLElement)) return;
        button.hidden = false;
        button.addEventListener("click", () => {
            root.toggleAttribute("data-slim");
            keep("slim", root.hasAttribute("data-slim") ? "1" : "0");
            dispatchEvent(new Event("resize"));
        });
    }

    /** `/` and Ctrl-K go to search. */
    function keys() {
        const field = document.getElementById("find-text");
        document.addEventListener("keydown", (event) => {
            const isTyping = event.target instanceof Element && event.target.matches("input, textarea, select");
            const isAsked = (event.key === "/" && !isTyping) || ((event.ctrlKey || event.metaKey) && event.key === "k");
            if (!isAsked || !(field instanceof HTMLInputElement)) return;
            event.preventDefault();
            field.focus();
            field.select();
        });
    }

    /** The field on top shows what is found while somebody types; without script its form asks the page /search. */
    function search() {
        const field = document.getElementById("find-text");
        const form = field?.closest("form");
        if (!(field instanceof HTMLInputElement) || !form) return;
        const list = element("ul", { id: "find-list", role: "listbox", "aria-label": t("Results") });
        const said = element("div", { class: "body said" });
        const box = element("div", { class: "pop found", hidden: "" }, said, list);
        const status = element("span", { class: "sr", "aria-live": "polite" });
        form.append(box, status);
        for (const [name, value] of Object.entries({ role: "combobox", "aria-expanded": "false", "aria-controls": "find-list", "aria-autocomplete": "list" })) {
            field.setAttribute(name, value);
        }
        let at = -1;
        let timer = 0;
        /** @type {AbortController | null} */
        let asking = null;

        function close() {
            asking?.abort();
            clearTimeout(timer);
            box.hidden = true;
            field?.setAttribute("aria-expanded", "false");
            choose(-1);
        }

        function choose(/** @type {number} */ place) {
            const options = [...list.children];
            at = options.length ? ((place + 1 + options.length + 1) % (options.length + 1)) - 1 : -1;
            options.forEach((option, number) => option.setAttribute("aria-selected", String(number === at)));
            if (at < 0) field?.removeAttribute("aria-activedescendant");
            else {
                field?.setAttribute("aria-activedescendant", options[at].id);
                options[at].scrollIntoView({ block: "nearest" });
            }
        }

        /** @param {{said: string, offer: string, count: string, results: {name: string, about: string, kind: string, icon: string, address: string}[]}} found */
        function show(found) {
            said.replaceChildren(...(found.said ? [element("b", {}, found.said), element("p", { class: "soft" }, found.offer)] : []));
            said.hidden = !found.said;
            list.replaceChildren(...found.results.map((result, number) => {
                const option = element(
                    "li", { id: `find-${number}`, role: "option", class: "item", "aria-selected": "false" },
                    element("span", { class: "ic s" }, icon(result.icon)),
                    element("span", {}, element("b", {}, result.name), element("small", {}, result.about)),
                    element("span", { class: "tag" }, result.kind));
                option.dataset.address = result.address;
                return option;
            }));
            status.textContent = found.said ? `${found.said} ${found.offer}` : found.count;
            box.hidden = false;
            field?.setAttribute("aria-expanded", "true");
            choose(-1);
        }

        async function ask() {
            const text = field instanceof HTMLInputElement ? field.value.trim() : "";
            if (!text) return close();
            asking?.abort();
            const mine = (asking = new AbortController());
            try {
                const answer = await fetch(`/search/results?q=${encodeURIComponent(text)}`, { signal: mine.signal, headers: { Accept: "application/json" } });
                if (!answer.ok) throw new Error(String(answer.status));
                const found = await answer.json();
                if (!mine.signal.aborted) show(found);
            } catch {
                // Enter still opens the page of results, which says what is wrong.
                if (!mine.signal.aborted) show({ said: t("Search is not answering."), offer: t("Press Enter to try again."), count: "", results: [] });
            }
        }

        field.addEventListener("input", () => {
            clearTimeout(timer);
            timer = setTimeout(ask, 120);
        });
        field.addEventListener("keydown", (event) => {
            if (event.key === "Escape" && !box.hidden) {
                event.preventDefault();
                close();
            } else if (event.key === "Escape") field.blur();
            else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
                event.preventDefault();
                if (box.hidden) ask();
                else choose(at + (event.key === "ArrowDown" ? 1 : -1));
            } else if (event.key === "Enter" && at >= 0 && !box.hidden) {
                event.preventDefault();
                go(list.children[at]);
            }
        });
        function go(/** @type {Element | null | undefined} */ option) {
            if (option instanceof HTMLElement && option.dataset.address) location.assign(option.dataset.address);
        }
        list.addEventListener("click", (event) => go(event.target instanceof Element ? event.target.closest("[role=option]") : null));
        // The field keeps the focus while a result is pressed.
        list.addEventListener("mousedown", (event) => event.preventDefault());
        form.addEventListener("focusout", (event) => {
            if (!(event.relatedTarget instanceof Node) || !form.contains(event.relatedTarget)) close();
        });
    }

    /** A value of a cell, to be compared: its number, else its words. */
    function worth(/** @type {HTMLTableRowElement} */ row, /** @type {number} */ column) {
        const cell = row.cells[column];
        const text = cell?.querySelector("time")?.getAttribute("datetime") ?? cell?.dataset.value ?? cell?.textContent?.trim() ?? "";
        const number = /^[−-]?[\d,.\s]+/.test(text) && !/^\d{4}-/.test(text) ? parseFloat(text.replace(/[,\s]/g, "").replace("−", "-")) : NaN;
        return { text, number };
    }

    /** Heads of a table with data-sort sort the rows that are shown. */
    function sorting() {
        for (const table of document.querySelectorAll("table[data-sort]")) {
            for (const head of table.querySelectorAll("thead th")) {
                if (!head.textContent?.trim() || head.querySelector("a, button, .sr")) continue;
                const button = element("button", { type: "button" }, ...head.childNodes);
                head.append(button);
                button.addEventListener("click", () => sort(/** @type {HTMLTableElement} */ (table), /** @type {HTMLTableCellElement} */ (head)));
            }
        }
    }

    function sort(/** @type {HTMLTableElement} */ table, /** @type {HTMLTableCellElement} */ head) {
        const isDown = head.getAttribute("aria-sort") === "ascending";
        for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => ({ row, worth: worth(row, head.cellIndex) }));
        rows.sort((one, two) => {
            const isNumber = !Number.isNaN(one.worth.number) && !Number.isNaN(two.worth.number);
            const order = isNumber ? one.worth.number - two.worth.number : one.worth.text.localeCompare(two.worth.text);
            return isDown ? -order : order;
        });
        body.append(...rows.map(({ row }) => row));
    }

    /** Forms with data-auto send themselves when a choice changes. */
    function autoForms() {
        document.addEventListener("change", (event) => {
            const target = event.target;
            if (!(target instanceof HTMLSelectElement || target instanceof HTMLInputElement)) return;
            if (target.form?.hasAttribute("data-auto") && target.type !== "search" && target.type !== "text") target.form.requestSubmit();
        });
    }

    /** Columns that somebody chose are shown next time, too: in this browser, where the address says nothing else. */
    function columns() {
        const form = document.querySelector("form[data-columns]");
        if (!(form instanceof HTMLFormElement)) return;
        const name = `columns:${form.dataset.columns}`, address = new URL(location.href);
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            const told = new FormData(form), chosen = told.getAll("columns").filter((each) => each !== "none").join(",") || "none";
            const isOwn = chosen === form.dataset.standard;
            keep(name, isOwn ? "" : chosen);
            told.delete("columns");
            const next = new URL(form.action);
            for (const [key, value] of told) next.searchParams.append(key, String(value));
            if (!isOwn) next.searchParams.set("columns", chosen);
            location.assign(next.href.replaceAll("%2C", ","));
        });
        document.querySelector("[data-columns-reset]")?.addEventListener("click", () => keep(name, ""));
        let kept = "";
        try {
            kept = localStorage.getItem(name) ?? "";
        } catch {
            // Nothing is kept.
        }
        if (!kept || address.searchParams.has("columns")) return;
        address.searchParams.set("columns", kept);
        location.replace(address.href.replaceAll("%2C", ","));
    }

    /** What the field view keeps of machines on a device (field/kept.js) is one account's: null: nobody's any more. */
    async function forgetOthers(/** @type {string | null} */ account) {
        if (!("caches" in window)) return;
        for (const name of await caches.keys()) {
            if (name.startsWith("drover-field:") && name !== `drover-field:${account}`) await caches.delete(name);
        }
    }

    function keeping() {
        const account = document.querySelector("[data-account]")?.getAttribute("data-account");
        if (account) forgetOthers(account).catch(() => {});
        document.addEventListener("submit", (event) => {
            const form = event.target;
            if (!(form instanceof HTMLFormElement) || form.getAttribute("action") !== "/logout" || !("caches" in window)) return;
            event.preventDefault();
            forgetOthers(null).catch(() => {}).finally(() => form.submit());
        });
    }

    function start() {
        for (const themes of document.querySelectorAll(".themes")) themes.removeAttribute("hidden");
        for (const button of document.querySelectorAll("[data-theme-choice]")) {
            button.addEventListener("click", () => setTheme(button.getAttribute("data-theme-choice") ?? "system"));
        }
        showTheme();
        dark.addEventListener("change", () => dispatchEvent(new Event("theme")));
        menus();
        collapsing();
        keys();
        search();
        sorting();
        autoForms();
        columns();
        keeping();
        const top = document.querySelector(".top");
        addEventListener("scroll", () => top?.classList.toggle("stuck", scrollY > 4), { passive: true });
    }

    start();
    return { token, icon, element, ago, countUpTo, toast };
})();
