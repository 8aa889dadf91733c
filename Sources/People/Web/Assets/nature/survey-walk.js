"use strict";
// Walk mode of a new survey: a site, a track, a button a species. The rows of the form are what counts; tallies only write and show them,
// so that drafts, photos and sending are the form's.

(function surveyWalk() {
    const survey = window.droverSurvey, walk = document.getElementById("walk");
    if (!survey || !walk) return;
    const at = (id) => document.getElementById(id);
    const { form, top } = survey;
    const list = at("tallies"), rows = () => [...at("sightings").children];
    const field = (row, key) => row.querySelector(`[name$=".${key}"]`);
    const done = [];
    let section = "", sections = [], here = null, watch = null, route = [];

    // MARK: Tallies

    function tally(item) {
        const { species, common } = item.dataset;
        const more = document.createElement("button"), fewer = document.createElement("button"), count = document.createElement("output");
        more.type = fewer.type = "button";
        more.className = "more";
        more.append(Object.assign(document.createElement("b"), { textContent: common || species }));
        if (common) more.append(Object.assign(document.createElement("em"), { textContent: species }));
        fewer.className = "fewer";
        fewer.textContent = "−";
        fewer.setAttribute("aria-label", t("One fewer: %1", common || species));
        more.addEventListener("click", () => { step(species, 1); first(item, more); });
        fewer.addEventListener("click", () => { if (step(species, -1)) first(item, fewer); });
        item.replaceChildren(more, count, fewer);
        return item;
    }

    /** The last counted stands first. */
    function first(item, button) {
        if (list.firstElementChild === item) return;
        list.prepend(item);
        button.focus({ preventScroll: true });
    }

    const isSame = (one, other) => one.toLowerCase() === other.toLowerCase();
    const offered = (name) => [...at("taxa").options].find((option) => isSame(option.value, name))?.dataset ?? {};
    /** Of what people call it; of other names those. */
    const scientific = (name) => (name ? [...list.children].find((item) => isSame(item.dataset.common, name))?.dataset.species ?? offered(name).species ?? name : "");

    /** By the scientific name, or by what people call it. */
    function tallyOf(name) {
        const species = scientific(name), { common = "" } = offered(species);
        const found = [...list.children].find((item) => isSame(item.dataset.species, species));
        if (found && (found.dataset.common || !common)) return found;
        const item = found ?? document.createElement("li");
        item.dataset.species ??= species;
        item.dataset.common = common;
        tally(item);
        if (!found) list.append(item);
        return item;
    }

    const isOf = (row, species) => isSame(scientific(field(row, "species").value.trim()), species);
    const rowOf = (species, name) => rows().findLast((row) => isOf(row, species) && field(row, "section").value.trim() === name);

    /** One more or one fewer in a section. False: there is none to take away. */
    function change(species, by, name) {
        let row = rowOf(species, name);
        if (!row && by < 0) row = rows().findLast((each) => isOf(each, species));
        if (!row && by < 0) return null;
        if (!row) {
            const empty = rows().find((each) => [...each.querySelectorAll("[data-kind]")].every((input) => !input.value));
            row = empty ?? survey.add("sightings");
            field(row, "species").value = species;
            field(row, "section").value = name;
            field(row, "count").value = "0";
            if (watch !== null) field(row, "time").value = survey.now().slice(11, 16);
            if (here) [field(row, "latitude").value, field(row, "longitude").value] = [here.latitude.toFixed(6), here.longitude.toFixed(6)];
        }
        const was = field(row, "section").value.trim(), count = Number(field(row, "count").value) + by;
        if (count > 0) field(row, "count").value = String(count);
        else {
            row.remove();
            if (rows().length === 0) survey.add("sightings");
            survey.number("sightings");
        }
        if (watch !== null) top("stop").value = survey.now().slice(0, 16);
        survey.keep();
        show();
        return was;
    }

    function step(species, by) {
        const name = change(species, by, section);
        if (name === null) return false;
        done.push({ species, by, name });
        at("walk-undo").disabled = false;
        return true;
    }

    function show() {
        const counts = new Map();
        for (const row of rows()) {
            const name = scientific(field(row, "species").value.trim()).toLowerCase();
            if (name) counts.set(name, (counts.get(name) ?? 0) + Number(field(row, "count").value));
        }
        for (const item of list.children) {
            const count = counts.get(item.dataset.species.toLowerCase()) ?? 0;
            item.querySelector("output").textContent = String(count);
            item.querySelector(".fewer").disabled = count === 0;
        }
    }

    at("walk-undo").addEventListener("click", () => {
        const last = done.pop();
        if (last) change(last.species, -last.by, last.name);
        at("walk-undo").disabled = done.length === 0;
    });
    function other() {
        const name = at("walk-other").value.trim();
        if (!name) return at("walk-other").focus();
        const item = tallyOf(name);
        step(item.dataset.species, 1);
        list.prepend(item);
        at("walk-other").value = "";
    }
    at("walk-add").addEventListener("click", other);
    at("walk-other").addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        other();
    });

    // MARK: Sections

    function showSections() {
        const button = (text, name, onclick) => {
            const made = Object.assign(document.createElement("button"), { type: "button", className: "chip", textContent: text });
            if (name !== null) made.setAttribute("aria-pressed", String(name === section));
            made.addEventListener("click", onclick);
            return made;
        };
        at("walk-sections").replaceChildren(
            ...sections.map((name) => button(t("Section %1", name), name, () => { section = name; showSections(); })),
            button(t("Next section"), null, () => {
                const next = sections[sections.indexOf(section) + 1] ?? String(sections.length + 1);
                if (!sections.includes(next)) sections.push(next);
                section = next;
                showSections();
            }));
    }

    // MARK: The site

    function choose() {
        const known = at("known-site"), option = known?.selectedOptions[0];
        const isKnown = Boolean(option?.value), facts = option?.dataset ?? {};
        at("new-site").hidden = isKnown;
        route = [];
        if (isKnown) {
            top("site").value = option.value;
            for (const [name, key] of [["site_name", "name"], ["route", "route"], ["protocol", "protocol"], ["latitude", "lat"], ["longitude", "lon"]]) {
                top(name).value = facts[key] ?? "";
            }
            route = (facts.line ?? "").split(" ").filter(Boolean).map((pair) => pair.split(",").map(Number));
            survey.nearNames();
        } else if (known) for (const name of ["site", "site_name", "route", "latitude", "longitude"]) top(name).value = "";
        sections = (facts.sections ?? "").split("\n").filter(Boolean);
        if (sections.length === 0) sections = ["1"];
        [section] = sections;
        showSections();
        draw();
    }
    at("known-site")?.addEventListener("change", () => { choose(); survey.keep(); });
    // The id of a new site follows from its name until it is typed.
    let isTyped = false;
    top("site").addEventListener("input", () => { isTyped = top("site").value !== ""; });
    top("site_name").addEventListener("input", () => {
        if (isTyped || at("new-site").hidden) return;
        top("site").value = top("site_name").value.normalize("NFD").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 48);
    });

    // MARK: The way

    const metres = (a, b) => Math.hypot((a[0] - b[0]) * 111_320, (a[1] - b[1]) * 111_320 * Math.cos(a[0] * Math.PI / 180));
    const way = () => (survey.survey().waypoints ?? []).map(({ latitude, longitude }) => [latitude, longitude]);

    function draw() {
        const mine = way(), all = [...route, ...mine], map = at("walk-map");
        // Only elements of HTML have the property.
        map.toggleAttribute("hidden", all.length < 2);
        if (all.length < 2) return;
        const turn = Math.cos(all[0][0] * Math.PI / 180);
        const xs = all.map(([, lon]) => lon * turn), ys = all.map(([lat]) => lat);
        const [west, east, south, north] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
        const scale = Math.min(280 / Math.max(east - west, 1e-6), 130 / Math.max(north - south, 1e-6));
        const spot = ([lat, lon]) => [150 + (lon * turn - (west + east) / 2) * scale, 75 - (lat - (south + north) / 2) * scale].map((each) => each.toFixed(1));
        const path = (places) => places.map((place, index) => (index ? "L" : "M") + spot(place).join(" ")).join("");
        map.querySelector(".route").setAttribute("d", path(route));
        map.querySelector(".way").setAttribute("d", path(mine));
        const [x, y] = mine.length ? spot(mine.at(-1)) : ["-9", "-9"];
        map.querySelector("circle").setAttribute("cx", x);
        map.querySelector("circle").setAttribute("cy", y);
    }

    function moved({ coords }) {
        here = { latitude: coords.latitude, longitude: coords.longitude };
        const place = [coords.latitude, coords.longitude], before = way();
        if (!top("latitude").value) {
            [top("latitude").value, top("longitude").value] = place.map((each) => each.toFixed(6));
            survey.nearNames();
        }
        const isNew = before.length === 0 || metres(before.at(-1), place) >= 8;
        // More than a survey holds, or no better than a guess.
        if (isNew && coords.accuracy <= 50 && before.length < 5_000) {
            (survey.survey().waypoints ??= []).push({ latitude: Number(place[0].toFixed(7)), longitude: Number(place[1].toFixed(7)), time: survey.now() + top("offset").value.trim() });
            survey.keep();
            draw();
        }
        tell();
    }

    function tell(trouble = "") {
        const mine = way();
        const length = Math.round(mine.slice(1).reduce((sum, place, index) => sum + metres(mine[index], place), 0));
        at("walk-said").textContent = trouble || (watch === null ? "" : here ? t("Walking: %1 m", length) : t("Waiting for a position"));
    }

    at("walk-start").addEventListener("click", () => {
        top("start").value = top("stop").value = survey.now().slice(0, 16);
        watch = navigator.geolocation?.watchPosition(moved, () => tell(t("No position: counting goes on without it.")), { enableHighAccuracy: true, maximumAge: 5000 }) ?? 0;
        at("walk-start").hidden = true;
        at("walk-stop").hidden = false;
        survey.keep();
        tell();
    });
    at("walk-stop").addEventListener("click", () => {
        navigator.geolocation?.clearWatch(watch);
        watch = null;
        top("stop").value = survey.now().slice(0, 16);
        at("walk-start").hidden = false;
        at("walk-start").textContent = t("Start again");
        at("walk-stop").hidden = true;
        survey.keep();
        tell(t("Walk finished. Check it and send."));
    });

    // MARK: With the form

    form.addEventListener("input", (event) => { if (event.target.closest("#sightings")) show(); });
    form.addEventListener("click", (event) => { if (event.target.closest(".remove")) show(); });
    // A draft was taken up.
    form.addEventListener("survey-filled", () => {
        done.length = 0;
        at("walk-undo").disabled = true;
        const known = at("known-site");
        if (known) known.value = [...known.options].some((option) => option.value === top("site").value) ? top("site").value : "";
        at("new-site").hidden = Boolean(known?.value);
        for (const row of rows()) if (field(row, "species").value.trim()) tallyOf(field(row, "species").value.trim());
        show();
        draw();
    });
    form.addEventListener("survey-names", (event) => {
        // Few enough to be those of the place, not all that there are.
        const { names } = /** @type {CustomEvent} */ (event).detail;
        const isHere = (name) => [...list.children].some((item) => isSame(item.dataset.species, name));
        if (names.length <= 60) for (const name of names) if (list.children.length < 24 || isHere(name)) tallyOf(name);
        show();
    });
    for (const item of list.children) tally(item);
    if (at("known")) at("known").hidden = false;
    walk.hidden = false;
    choose();
    show();
})();
