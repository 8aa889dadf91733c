"use strict";
// The fleet's map and the list beside it are one: hovering lights, a click flies there and opens a card. What is chosen, searched and
// filtered stands in the address. The server makes the list, the worst first; the markers are drawn from JSON.

/**
 * @typedef {MapVehicle & { at: [number, number] | null, speed: string | null, heard: number | null, alerts: number, words: string }} FleetVehicle
 */

(async function () {
    /** Of map-replay.js, where the map is of another time. @type {any} */
    const replay = typeof droverReplay === "undefined" ? null : droverReplay;
    const { element: make, icon } = drover;
    const isPhone = matchMedia("(width <= 760px)").matches;
    const element = document.getElementById("map"), card = document.getElementById("one"), form = document.getElementById("filter");
    /** The states as the list has them: name and tone. @type {[string, string, string][]} */
    const states = [["moving", t("Moving"), "info"], ["idling", t("Idling"), "idle"], ["parked", t("Parked"), "quiet"], ["silent", t("Silent"), "silent"]];
    /** From here streets are told apart, and so are names. */
    const namesFrom = 14;
    /** @type {FleetVehicle[]} */ let vehicles = [];
    let isCut = false;
    /** @type {string | null} */ let chosen = new URLSearchParams(location.search).get("v");
    /** @type {string | null} */ let followed = null;

    // MARK: what the server says

    /** Of more than it gives at once, the server searches. */
    const from = () => element.dataset.vehiclesFrom + (isCut ? location.search : "");

    async function read() {
        const answer = await fetch(from(), { headers: { Accept: "application/json" } });
        if (!answer.ok) throw new Error(t("The positions cannot be read: %1.", answer.status));
        const told = await answer.json();
        isCut = told.is_cut;
        vehicles = told.vehicles.map((/** @type {any[]} */ [id, name, kind, state, sev, at, heading, group, speed, heard, alerts]) =>
            ({ id, name, icon: kind, state, sev, at, heading, group: group || (kind === "tractor" ? t("Machines") : t("Cars")), tag: group, speed, heard, alerts, words: `${name} ${id.slice(id.indexOf("/") + 1)}`.toLowerCase() }));
    }

    /** As they were at the moment that is played: where nothing is known of then, nothing of now is shown either. */
    function replayed() {
        for (const one of vehicles) Object.assign(one, { at: null, state: "silent", sev: "", heading: null, speed: null, heard: null, alerts: 0, ...replay.placeOf(one.id) });
    }

    const asked = () => {
        const address = new URLSearchParams(location.search);
        return { search: (address.get("search") ?? "").toLowerCase(), group: address.get("group") ?? "", state: address.get("state") ?? "" };
    };

    /** Those that the filters leave. */
    function left() {
        const { search, group, state } = asked();
        return vehicles.filter((/** @type {any} */ one) => (!search || one.words.includes(search)) && (!group || one.tag === group || isCut)
            && (!state || (state === "alert" ? one.alerts > 0 : one.state === state)));
    }

    /** Of these, those that have told where they are. */
    const placed = () => left().filter(({ at }) => at);

    // MARK: the map

    const map = await drover.map(element, {
        pointers: isPhone ? "worst" : true, inset: 80, insetBottom: isPhone ? innerHeight * 0.4 : 40, namesFrom,
        onPick: pick, onHover: lightItem, onClick: () => choose(null), onFollow: (/** @type {string | null} */ id) => { followed = id; showCard(); },
    });

    const home = () => boundsOfMost(placed().map(({ at }) => /** @type {[number, number]} */ (at)), element);

    function draw() {
        if (replay) replayed();
        if (replay?.isPlayed()) regroup();
        map.vehicles(placed());
        map.light(chosen);
        sayNothing();
    }

    /** Over the map, where the filters leave nothing on it: markers that are gone are no answer. */
    function sayNothing() {
        const place = document.getElementById("nothing"), { search, group, state } = asked(), found = left();
        const words = !(search || group || state) || found.some(({ at }) => at) ? "" : found.length ? t("None of these has told where it is") : t("No vehicle fits");
        if (place && place.textContent !== words) place.textContent = words;
    }

    /** Where none of what a filter leaves is in view. */
    function seek() {
        const places = placed().map(({ at }) => /** @type {[number, number]} */ (at)), bounds = map.map?.getBounds();
        if (bounds && places.length && !places.some((at) => bounds.contains(at))) map.fit(boundsOf(places), isPhone ? 40 : 70, 15.5);
    }

    // MARK: the list

    const items = () => [...document.querySelectorAll("#vehicles .item")];

    function lightItem(/** @type {string | null} */ id) {
        for (const item of items()) item.classList.toggle("lit", item.dataset.vehicle === id);
    }

    function markChosen() {
        for (const item of items()) {
            if (item.dataset.vehicle === chosen) item.setAttribute("aria-current", "true");
            else item.removeAttribute("aria-current");
        }
    }

    function pick(/** @type {string} */ id) {
        choose(id);
        items().find((item) => item.dataset.vehicle === id)?.scrollIntoView({ block: "nearest" });
        const vehicle = vehicles.find((one) => one.id === id);
        if (vehicle?.at) map.fly(vehicle.at, Math.max(map.view().zoom, 15.6));
    }

    function choose(/** @type {string | null} */ id) {
        if (id !== followed && followed) map.follow(null);
        chosen = id;
        setAddress({ v: id ?? "" });
        map.light(id);
        if (replay) map.line("way", replay.way(id), { token: "--accent", width: 4, opacity: 0.7 });
        markChosen();
        showCard();
    }

    let grouped = "";
    /** In a replay: the list by the states of its moment; what was wrong then is not told. */
    function regroup() {
        const known = new Map(items().map((item) => [item.dataset.vehicle, item]));
        const listed = vehicles.filter(({ id }) => known.has(id)), key = listed.map(({ state }) => state).join();
        if (key === grouped || !listed.length) return;
        grouped = key;
        const list = document.getElementById("vehicles"), rest = list.querySelector(":scope > .empty");
        const parts = states.flatMap(([state, name, tone]) => {
            const members = listed.filter((one) => one.state === state);
            for (const one of members) {
                const item = known.get(one.id);
                item.querySelector(".ic").className = "ic";
                item.querySelector("small").textContent = one.group;
                item.lastElementChild.replaceWith(make("span", { class: `pill ${tone}` }, name));
            }
            return members.length ? [make("h2", { class: "grp" }, name, make("span", { class: "count" }, String(members.length))), ...members.map(({ id }) => known.get(id))] : [];
        });
        keepingFocus(list, () => list.replaceChildren(...parts, ...(rest ? [rest] : [])));
        for (const chip of document.querySelectorAll("#states [data-state]")) {
            chip.hidden = chip.dataset.state === "alert";
            chip.querySelector("b").textContent = vehicles.filter(({ state }) => state === chip.dataset.state).length.toLocaleString("en");
        }
    }

    // MARK: the card of the chosen one

    function showCard() {
        const vehicle = vehicles.find(({ id }) => id === chosen);
        card.hidden = !vehicle;
        if (!vehicle) return;
        const id = vehicle.id.slice(vehicle.id.indexOf("/") + 1);
        const close = make("button", { type: "button", class: "btn ghost icon small end", "aria-label": t("Close") }, icon("close"));
        close.addEventListener("click", () => choose(null));
        const name = make("span", { class: "grow ell" }, make("b", { class: "ell" }, vehicle.name), make("small", { class: "soft" }, id === vehicle.name ? vehicle.group : id));
        card.replaceChildren(make("header", {}, make("span", { class: `ic ${vehicle.sev}` }, icon(vehicle.icon)), name, close), facts(vehicle), footer(vehicle, id));
    }

    function facts(/** @type {FleetVehicle} */ vehicle) {
        const [, words, tone] = states.find(([state]) => state === vehicle.state) ?? states[3];
        const pills = make("div", { class: "pills" }, make("span", { class: `pill ${tone}` }, words));
        if (vehicle.alerts) pills.prepend(make("span", { class: `pill ${vehicle.sev || "warning"}` }, tn(vehicle.alerts, "%1 open alert", "%1 open alerts")));
        const fact = (/** @type {string} */ label, /** @type {Node | string} */ value) => make("span", {}, make("small", { class: "faint" }, label), make("b", {}, value));
        const said = make("div", { class: "facts" });
        if (vehicle.speed) said.append(fact(t("Speed"), vehicle.speed));
        said.append(fact(t("Last heard of"), vehicle.heard === null ? t("never") : ago(vehicle.heard)));
        if (!vehicle.at) said.append(fact(t("Position"), t("not known yet")));
        return make("div", { class: "body" }, pills, said);
    }

    /** In words, exact on hover. */
    function ago(/** @type {number} */ ms) {
        const words = drover.ago(ms, replay ? replay.nowMs() : Date.now());
        return make("time", { datetime: new Date(ms).toISOString(), title: new Date(ms).toLocaleString("en-GB") }, words);
    }

    function footer(/** @type {FleetVehicle} */ vehicle, /** @type {string} */ id) {
        const kind = vehicle.id.slice(0, vehicle.id.indexOf("/"));
        const open = make("a", { class: "btn small primary end", href: `/vehicles/${encodeURIComponent(id)}?kind=${kind}` }, t("Open vehicle"), icon("right"));
        if (!vehicle.at || !map.map) return make("footer", {}, open);
        const follow = make("button", { type: "button", class: "btn small", "aria-pressed": String(followed === vehicle.id) }, icon("follow"), t("Follow"));
        follow.addEventListener("click", () => map.follow(followed === vehicle.id ? null : vehicle.id));
        return make("footer", {}, follow, open);
    }

    // MARK: filters

    /** @param {Record<string, string>} changes */
    function setAddress(changes) {
        const address = new URL(location.href);
        for (const [name, value] of Object.entries(changes)) {
            if (value) address.searchParams.set(name, value);
            else address.searchParams.delete(name);
        }
        history.replaceState(null, "", address);
    }

    let turn = 0;
    /** Markers at once, the list as soon as the server has made it. @param {Record<string, string>} changes */
    async function ask(changes) {
        setAddress(changes);
        draw();
        if (!isCut) seek();
        turn += 1;
        const mine = turn;
        const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
        if (!answer?.ok || answer.redirected) return location.reload();
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (mine !== turn) return;
        show(page);
        if (replay) {
            await replay.read(chosenOnes());
            draw();
        } else if (isCut) { await read(); draw(); seek(); }
    }

    /** The list as another answer has it; who reads or stands on an item that stays is not disturbed. @param {Document} page */
    function show(page) {
        const old = items(), fresh = [...page.querySelectorAll("#vehicles .item")];
        const list = document.getElementById("vehicles");
        grouped = "";
        // One that went from the end of a group to the beginning of the next leaves the order of items as it was.
        const order = (/** @type {Document} */ of) => [...of.querySelectorAll("#vehicles :is(.item, .grp)")].map((each) => each.dataset.vehicle ?? each.textContent).join("\n");
        if (old.length && order(document) === order(page)) old.forEach((item, index) => droverLive.replace(item, fresh[index]));
        else keepingFocus(list, () => list.replaceChildren(...page.getElementById("vehicles").childNodes));
        for (const id of ["states", "count", "updated"]) {
            const place = document.getElementById(id), now = page.getElementById(id);
            if (place && now && place.innerHTML !== now.innerHTML) keepingFocus(place, () => place.replaceChildren(...now.childNodes));
        }
        markChosen();
    }

    /** @param {HTMLElement} part @param {() => void} change */
    function keepingFocus(part, change) {
        const active = /** @type {HTMLElement | null} */ (document.activeElement);
        const key = active && part.contains(active) ? active.dataset.vehicle ?? active.dataset.state : null;
        change();
        if (key) [...part.querySelectorAll("a")].find((link) => (link.dataset.vehicle ?? link.dataset.state) === key)?.focus();
    }

    // MARK: hearing

    document.getElementById("vehicles").addEventListener("click", (event) => {
        const item = event.target instanceof Element && event.target.closest(".item");
        // Who wants a tab of its own gets the vehicle's page; so does who clicks one without a place.
        if (!item || !item.dataset.place || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        // On a phone the list would lie over where the map flies.
        setTall(false);
        pick(item.dataset.vehicle);
    });
    const over = (/** @type {Event} */ event) => {
        const item = event.target instanceof Element && event.target.closest(".item");
        map.light(item ? item.dataset.vehicle : chosen);
    };
    for (const kind of ["mouseover", "focusin"]) document.getElementById("vehicles").addEventListener(kind, over);
    for (const kind of ["mouseleave", "focusout"]) document.getElementById("vehicles").addEventListener(kind, () => map.light(chosen));

    document.getElementById("states").addEventListener("click", (event) => {
        const chip = event.target instanceof Element && event.target.closest("[data-state]");
        if (!chip || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        ask({ state: chip.hasAttribute("aria-current") ? "" : chip.dataset.state });
    });
    let timer = 0;
    const search = document.getElementById("search"), group = document.getElementById("group");
    search.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(() => ask({ search: search.value.trim() }), 150);
    });
    group?.addEventListener("change", () => ask({ group: group.value }));
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        clearTimeout(timer);
        ask({ search: search.value.trim(), group: group?.value ?? "" });
    });
    document.getElementById("show").hidden = true;

    const taller = document.getElementById("taller");
    taller.hidden = false;
    taller.addEventListener("click", () => setTall(taller.getAttribute("aria-expanded") !== "true"));
    function setTall(/** @type {boolean} */ isTall) {
        taller.parentElement.classList.toggle("tall", isTall);
        taller.setAttribute("aria-expanded", String(isTall));
    }

    // MARK: start

    async function refresh() {
        await read();
        if (replay) await replay.read(chosenOnes());
        draw();
        showCard();
    }

    /** Of a search or group its vehicles are played, else the first by name. */
    function chosenOnes() {
        const { search, group } = asked();
        if (!search && !group) return [];
        return vehicles.filter((/** @type {any} */ one) => (!search || one.words.includes(search)) && (!group || one.tag === group || isCut)).map(({ id }) => id).slice(0, 100);
    }

    droverLive.onPage((/** @type {Document} */ page) => { show(page); refresh(); });
    try {
        await refresh();
    } catch (error) {
        const words = error instanceof Error ? error.message : t("The positions cannot be read.");
        if (replay) replay.say(words);
        else drover.toast(words);
    }
    if (replay) replay.start(() => { draw(); if (!card.hidden) showCard(); }, Boolean(map.map));
    const first = replay ? boundsOfMost(replay.places(), element) : home();
    if (first) map.fit(first, isPhone ? 40 : 70, 15.5);
    const vehicle = vehicles.find(({ id }) => id === chosen);
    if (vehicle) pick(vehicle.id);
    else if (chosen) choose(null);
    // What was does not change while somebody looks at it.
    if (!replay) droverLive.start();
})();
