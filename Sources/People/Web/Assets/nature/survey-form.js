"use strict";
// The form of a survey, for surveyors and reviewers. Surveyors' drafts, photos too, are kept on the device until the server has
// the survey: it is sent again with the same id until there is a clear answer, and counts once.

(function surveyForm() {
    const form = document.getElementById("survey") ?? document.getElementById("fields");
    const correction = document.getElementById("correction");
    const said = document.getElementById("said");
    const lists = ["sightings", "sections", "surveyors"];
    const top = (name) => form.querySelector(`[name="${name}"]`);
    const digits = (number) => String(number).padStart(2, "0");
    /** Everything but the site and the walk; null: a correction shows all of it. */
    const rest = document.getElementById("rest");
    /** What was there before, with fields that the form does not show. */
    let base = { schema: 1, sightings: [] };

    // MARK: rows

    function number(list) {
        [...document.getElementById(list).children].forEach((row, index) => {
            row.querySelector(".number").textContent = index + 1;
            for (const input of row.querySelectorAll("[name]")) {
                const name = input.name.replace(/^(\w+)\.\d+\./, `$1.${index + 1}.`), id = name.replaceAll(".", "-");
                row.querySelector(`label[for="${input.id}"]`).htmlFor = id;
                [input.name, input.id] = [name, id];
            }
        });
    }

    /** - a row for `item`, of what the survey had there. */
    function add(list, item = {}) {
        const row = document.getElementById(list + "-row").content.firstElementChild.cloneNode(true);
        row.item = item;
        row.photos = [];
        document.getElementById(list).append(row);
        number(list);
        for (const tools of row.querySelectorAll(".tools")) tools.hidden = tools.matches(".photos") && correction !== null;
        for (const input of row.querySelectorAll("[name]")) show(input, item[input.name.split(".")[2]]);
        row.querySelector("input[type=file]")?.addEventListener("change", (event) => {
            row.photos.push(...event.target.files);
            tellPhotos(row);
            keep();
        });
        return row;
    }

    function tellPhotos(row) {
        const count = row.photos.length + (row.item.photos?.length ?? 0);
        row.querySelector(".photos span").textContent = count ? tn(count, "%1 photo", "%1 photos") : "";
    }

    function show(input, value) {
        if (value === undefined || value === null) return (input.value = "");
        if (input.dataset.kind === "flag") input.value = value ? "yes" : "no";
        else if (input.dataset.kind === "time") input.value = String(value).slice(11, 19).replace(/:00$/, "");
        else if (input.dataset.kind === "moment") input.value = String(value).slice(0, 16);
        else input.value = value;
    }

    /** Undefined: nothing is said. */
    function value(input) {
        const text = input.value.trim();
        if (text === "") return undefined;
        switch (input.dataset.kind) {
            case "flag": return text === "yes";
            case "number": case "whole": return Number(text);
            case "moment": return withSeconds(text) + offset();
            case "time": return top("start").value.slice(0, 10) + "T" + withSeconds(text) + offset();
            default: return text;
        }
    }

    const withSeconds = (text) => (/T?\d\d:\d\d$/.test(text) && text.split(":").length === 2 ? text + ":00" : text);
    const offset = () => top("offset").value.trim();

    function put(object, key, item) {
        if (item === undefined) delete object[key];
        else object[key] = item;
    }

    /** A time that the form shows to the minute stays as it was told to the second. */
    function unlessShown(input, old) {
        const probe = input.cloneNode();
        show(probe, old);
        return old !== undefined && probe.value === input.value ? old : value(input);
    }

    function read() {
        const survey = structuredClone(base);
        for (const input of form.querySelectorAll("[data-kind]")) {
            const path = input.name.split(".");
            if (lists.includes(path[0]) || path[0] === "offset") continue;
            if (path.length === 1) put(survey, path[0], unlessShown(input, base[path[0]]));
            else {
                const inner = survey[path[0]] ?? {};
                put(inner, path[1], value(input));
                put(survey, path[0], Object.keys(inner).length ? inner : undefined);
            }
        }
        for (const list of lists) {
            const items = [...document.getElementById(list).children].map((row) => {
                const item = structuredClone(row.item ?? {});
                for (const input of row.querySelectorAll("[data-kind]")) {
                    const key = input.name.split(".")[2];
                    put(item, key, unlessShown(input, row.item?.[key]));
                }
                if (list === "surveyors" && item.name && !item.role) item.role = "recorder";
                return item;
            }).filter((item) => Object.keys(item).length > 0);
            put(survey, list, items.length || list === "sightings" ? items : undefined);
        }
        return survey;
    }

    function fill(survey) {
        base = survey;
        const start = survey.start ?? "";
        const zone = /([+-]\d\d:\d\d|Z)$/.exec(start)?.[1];
        top("offset").value = zone ?? deviceOffset();
        for (const input of form.querySelectorAll("[data-kind]")) {
            const path = input.name.split(".");
            if (lists.includes(path[0]) || path[0] === "offset") continue;
            show(input, path.length === 1 ? survey[path[0]] : survey[path[0]]?.[path[1]]);
        }
        for (const list of lists) {
            document.getElementById(list).replaceChildren();
            for (const item of survey[list] ?? []) add(list, item);
        }
        form.dispatchEvent(new Event("survey-filled"));
    }

    /** By this device's clock, to the second, without its zone. */
    function now() {
        const at = new Date();
        return `${at.getFullYear()}-${digits(at.getMonth() + 1)}-${digits(at.getDate())}T${digits(at.getHours())}:${digits(at.getMinutes())}:${digits(at.getSeconds())}`;
    }

    function deviceOffset() {
        const ahead = -new Date().getTimezoneOffset(), size = Math.abs(ahead);
        return ahead === 0 ? "Z" : (ahead < 0 ? "-" : "+") + digits(Math.floor(size / 60)) + ":" + digits(size % 60);
    }

    // MARK: places

    function here() {
        return new Promise((done, failed) => navigator.geolocation
            ? navigator.geolocation.getCurrentPosition(done, failed, { enableHighAccuracy: true, timeout: 20000, maximumAge: 5000 })
            : failed(new Error(t("this device does not tell where it is"))));
    }

    async function nearNames() {
        const [latitude, longitude] = [top("latitude").value, top("longitude").value];
        if (!latitude || !longitude || !navigator.onLine) return;
        const month = Number(top("start").value.slice(5, 7)) || new Date().getMonth() + 1;
        try {
            const answer = await fetch(`/surveys/species?lat=${Number(latitude).toFixed(5)}&lon=${Number(longitude).toFixed(5)}&month=${month}`);
            if (!answer.ok) return;
            const { species: names, common = [] } = await answer.json();
            droverNames.offer(document.getElementById("taxa"), names.flatMap((name, index) => common[index]
                ? [{ name, about: common[index], common: common[index] }, { name: common[index], about: name, species: name }] : [{ name }]));
            form.dispatchEvent(new CustomEvent("survey-names", { detail: { names } }));
        } catch { /* Names can be typed. */ }
    }

    form.addEventListener("click", async (event) => {
        const button = event.target.closest("button");
        if (!button) return;
        if (button.matches(".add")) {
            add(button.dataset.list).querySelector("input").focus();
        } else if (button.matches(".remove")) {
            const row = button.closest(".row"), list = row.dataset.row;
            row.remove();
            number(list);
            form.querySelector(`.add[data-list=${list}]`).focus();
        } else if (button.matches(".here")) {
            const row = button.closest(".row"), field = (key) => row.querySelector(`[name$=".${key}"]`);
            field("time").value = now().slice(11, 16);
            try {
                const { coords } = await here();
                field("latitude").value = coords.latitude.toFixed(6);
                field("longitude").value = coords.longitude.toFixed(6);
                said.textContent = t("The place is right to %1 m.", Math.round(coords.accuracy));
            } catch (error) { said.textContent = t("Without a place: %1.", error.message); }
        } else if (button.id === "place") {
            const place = document.getElementById("place-said");
            try {
                const { coords } = await here();
                top("latitude").value = coords.latitude.toFixed(6);
                top("longitude").value = coords.longitude.toFixed(6);
                place.textContent = t("Right to %1 m.", Math.round(coords.accuracy));
                nearNames();
            } catch (error) { place.textContent = t("No place: %1. Type it, or leave it out.", error.message); }
        } else return;
        keep();
    });
    for (const tools of form.querySelectorAll(":scope > .tools, #rest > .tools")) tools.hidden = false;

    // MARK: correction

    if (correction) {
        const json = document.getElementById("json");
        fill(JSON.parse(json.value));
        form.hidden = false;
        document.getElementById("plain").hidden = true;
        top("site").readOnly = true;
        correction.addEventListener("submit", (event) => {
            const wrong = [...form.elements].find((element) => !element.checkValidity());
            if (wrong) {
                event.preventDefault();
                wrong.closest("details")?.setAttribute("open", "");
                wrong.reportValidity();
                return;
            }
            json.value = JSON.stringify(read());
        });
    }

    // MARK: drafts

    const hidden = form.querySelector("[name=survey]");
    const account = form.dataset.account;
    let timer = 0, isSending = false;
    /** Somebody has typed something: an empty form is no draft. */
    let isTouched = false;

    function store(mode, work) {
        return new Promise((done, failed) => {
            const open = indexedDB.open("drover-surveys", 1);
            open.onupgradeneeded = () => open.result.createObjectStore("drafts", { keyPath: "survey" });
            open.onerror = () => failed(open.error);
            open.onsuccess = () => {
                const change = open.result.transaction("drafts", mode);
                const asked = work(change.objectStore("drafts"));
                change.oncomplete = () => { open.result.close(); done(asked.result); };
                change.onerror = change.onabort = () => { open.result.close(); failed(change.error); };
            };
        });
    }

    function draft() {
        const photos = [...document.getElementById("sightings").children].map((row) => row.photos ?? []);
        return { survey: hidden.value, account, told: read(), photos, changed: Date.now() };
    }

    /** Soon: each letter is no write. */
    function keep() {
        if (correction) return;
        isTouched = true;
        clearTimeout(timer);
        timer = setTimeout(keepNow, 300);
    }

    async function keepNow() {
        clearTimeout(timer);
        if (correction || isSending || !isTouched) return;
        try {
            await store("readwrite", (drafts) => drafts.put(draft()));
            form.dataset.kept = "yes";
        } catch (error) { said.textContent = t("This device keeps no draft: %1.", error?.message ?? t("its store is closed")); }
    }

    async function listDrafts() {
        const place = document.getElementById("drafts");
        let kept;
        try { kept = (await store("readonly", (drafts) => drafts.getAll())).filter((each) => each.account === account && each.survey !== hidden.value); }
        catch { return; }
        place.replaceChildren();
        if (kept.length === 0) return;
        const title = document.createElement("h2"), list = document.createElement("ul");
        title.textContent = t("Drafts on this device");
        for (const each of kept.sort((a, b) => b.changed - a.changed)) {
            const item = document.createElement("li"), name = [each.told.site ?? t("no site yet"), each.told.start?.slice(0, 10) ?? t("no day yet"), tn(each.told.sightings.length, "%1 sighting", "%1 sightings")].join(", ");
            item.className = "tools";
            const go = document.createElement("button"), drop = document.createElement("button");
            go.type = drop.type = "button";
            [go.textContent, drop.textContent] = [t("Go on with %1", name), t("Throw away")];
            drop.className = "quiet";
            drop.setAttribute("aria-label", t("Throw away the draft %1", name));
            go.addEventListener("click", async () => { await keepNow(); take(each); });
            drop.addEventListener("click", async () => { await store("readwrite", (drafts) => drafts.delete(each.survey)); listDrafts(); });
            item.append(go, drop);
            list.append(item);
        }
        place.append(title, list);
    }

    function take(kept) {
        isTouched = false;
        hidden.value = kept.survey;
        fill(kept.told);
        [...document.getElementById("sightings").children].forEach((row, index) => {
            row.photos = kept.photos?.[index] ?? [];
            tellPhotos(row);
        });
        listDrafts();
        rest.open = true;
        form.querySelector("summary").focus();
    }

    // MARK: handing in

    class Refused extends Error { constructor(detail, faults = []) { super(detail); this.faults = faults; } }

    async function ask(path, body, type) {
        const answer = await fetch(path, { method: "POST", body, headers: { "Content-Type": type, "X-Drover-Form": form.dataset.mark } });
        if (answer.ok) return answer.json();
        const problem = await answer.json().catch(() => ({ detail: t("The server answered %1.", answer.status) }));
        // Not now: what is kept here goes again.
        if (answer.status >= 500 || answer.status === 429) throw new TypeError(problem.detail);
        throw new Refused(problem.detail, problem.faults ?? []);
    }

    async function send() {
        if (isSending) return;
        isTouched = true;
        await keepNow();
        isSending = true;
        const faults = document.getElementById("faults"), button = form.querySelector(":scope > p.tools:last-of-type button");
        faults.replaceChildren();
        button.disabled = true;
        said.textContent = t("Sending…");
        try {
            const rows = [...document.getElementById("sightings").children];
            for (const row of rows) {
                while (row.photos?.length) {
                    const { photo } = await ask("/survey-photos", row.photos[0], row.photos[0].type || "application/octet-stream");
                    row.item.photos = [...new Set([...(row.item.photos ?? []), photo])];
                    row.photos.shift();
                }
            }
            const survey = { ...read(), survey: hidden.value };
            await ask("/surveys", JSON.stringify(survey), "application/json");
            await store("readwrite", (drafts) => drafts.delete(hidden.value)).catch(() => {});
            location.assign("/surveys?said=taken");
        } catch (error) {
            isSending = false;
            await keepNow();
            if (error instanceof Refused) {
                said.textContent = error.message;
                for (const fault of error.faults) faults.append(Object.assign(document.createElement("li"), { textContent: fault }));
            } else {
                form.dataset.waits = "yes";
                said.textContent = t("Not handed in yet: it is kept on this device and goes when there is a network again.")
                    + (error.message && navigator.onLine ? " " + error.message : "");
            }
        } finally { button.disabled = false; }
    }

    if (!correction) {
        rest.open = false;
        fill({ schema: 1, sightings: [] });
        for (const list of lists) add(list);
        top("start").value = top("stop").value = now().slice(0, 16);
        form.addEventListener("input", keep);
        form.addEventListener("change", (event) => { if (["latitude", "longitude", "start"].includes(event.target.name)) nearNames(); });
        form.addEventListener("submit", (event) => { event.preventDefault(); send(); });
        addEventListener("online", () => { if (form.dataset.waits) send(); });
        // A field that must be filled in may stand where it is folded away.
        form.addEventListener("invalid", (event) => event.target.closest("details")?.setAttribute("open", ""), true);
        window.droverSurvey = { form, top, add, number, keep, nearNames, now, survey: () => base };
        listDrafts();
    }
    form.dataset.ready = "yes";
})();
