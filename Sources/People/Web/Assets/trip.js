"use strict";
// One trip: its way on the map, the slider under it and the charts beside it move together; each line of what happened leads there.
//
// The moment that is shown is told as an event of the document, drover:time { group: "trip", time, by }, as all charts of a page tell it:
// `time` is what the charts stand against, seconds or the distance.

(async function () {
    const group = "trip";
    const element = /** @type {HTMLElement} */ (document.getElementById("track"));
    const say = (/** @type {string} */ text) => { /** @type {HTMLElement} */ (document.getElementById("no-track")).textContent = text; };
    const find = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

    /** @type {any} */
    let data;
    try {
        const answer = await fetch(element.dataset.track ?? "");
        if (!answer.ok) return say(t("The route of this trip cannot be read right now."));
        data = await answer.json();
    } catch {
        return say(t("The server cannot be reached."));
    }
    if (!data.ts.length) return say(t("Its readings are not here yet."));

    const zone = element.dataset.zone ?? "UTC";
    const clock = new Intl.DateTimeFormat("en-GB", { timeZone: zone, timeStyle: "medium" });
    const time = data.ts.map((/** @type {number} */ ms) => ms / 1000);
    const count = time.length;
    // Readings of one place have one distance; what charts stand against must rise.
    const way = data.distance.map((/** @type {number} */ value, /** @type {number} */ at) => value + at * 1e-7);
    const speed = data.signals.find((/** @type {any} */ signal) => signal.key === "speed_kmh") ?? null;
    let against = time;
    let now = 0;

    // MARK: the map

    // Readings with a place, and of every reading the last of them.
    const placed = time.map((/** @type {number} */ _, /** @type {number} */ at) => at).filter((/** @type {number} */ at) => data.latitude_deg[at] !== null);
    /** @type {[number, number][]} */
    const path = placed.map((/** @type {number} */ at) => [data.longitude_deg[at], data.latitude_deg[at]]);
    const placeOf = (/** @type {number} */ at) => path[Math.max(0, drover.countUpTo(placed, at) - 1)] ?? null;

    /** @param {number[]} list @param {number} value */
    function nearest(list, value) {
        const next = Math.min(drover.countUpTo(list, value), list.length - 1);
        return next > 0 && value - list[next - 1] <= list[next] - value ? next - 1 : next;
    }

    /** Five values from the least to the greatest that is shown, at round figures. */
    function scaleOf(/** @type {any} */ signal) {
        const known = signal.values.filter((/** @type {number | null} */ value) => value !== null);
        const low = signal.key === "speed_kmh" ? 0 : Math.floor(Math.min(...known)), high = Math.max(low + 1, Math.ceil(Math.max(...known) / 5) * 5);
        return [0, 1, 2, 3, 4].map((step) => low + (high - low) * step / 4);
    }

    const events = [...document.querySelectorAll("#events .ev")].map((line) => {
        const { at, icon, short } = /** @type {HTMLElement} */ (line).dataset, name = line.querySelector("b")?.textContent ?? "";
        const index = nearest(data.ts, Number(at));
        return { line, index, seconds: Number(at) / 1000, icon: icon ?? "", name, short: short ?? name, isBad: line.classList.contains("warn") };
    });

    /** @type {any} */
    let map = null;
    const key = drover.element("div", { class: "mapkey above" });

    function showKey(/** @type {any} */ signal, /** @type {number[]} */ scale) {
        key.replaceChildren(drover.element("b", {}, signal.name), String(Math.round(scale[0])), drover.element("span", { class: "ramp" }), `${Math.round(scale[4])} ${signal.unit}`);
    }

    async function drawMap() {
        if (path.length < 2 || !drover.map) return;
        const signal = speed ?? data.signals[0];
        const values = (/** @type {any} */ of) => placed.map((/** @type {number} */ at) => of?.values[at] ?? null);
        const scale = signal ? scaleOf(signal) : [0, 1, 2, 3, 4];
        const outline = [...element.children];
        const pins = events.filter((event) => event.icon === "parking" || event.isBad).map((event) => ({
            at: placeOf(event.index), kind: "evt", icon: event.icon, tone: event.isBad ? "--warning-solid" : "--ink-2", label: `${event.name}, ${clock.format(event.seconds * 1000)}`,
            onclick: () => go(event.index),
        }));
        for (const child of outline) child.remove();
        map = await drover.map(element, {
            bounds: boundsOf(path), pad: 40, maxZoom: 16.5, controls: true, label: t("The trip’s route, coloured by speed"),
            track: { path, value: values(signal), scale, width: 5 },
            pins: [...pins, { at: path[0], kind: "start", label: t("Start") }, { at: path[path.length - 1], kind: "end", label: t("End") }],
        });
        if (!map.map) {
            // No WebGL: what the server drew says more than an outline without colours.
            element.replaceChildren(...outline);
            return;
        }
        if (!signal) return;
        element.append(key);
        showKey(signal, scale);
        colours(values);
    }

    /** Another signal's colours: one press. */
    function colours(/** @type {(signal: any) => (number | null)[]} */ values) {
        const box = find("colours"), shown = data.signals.slice(0, 4), drawn = map;
        if (shown.length < 2) return;
        box.hidden = false;
        for (const signal of shown) {
            const button = drover.element("button", { class: "opt", type: "button", "aria-pressed": String(signal === (speed ?? shown[0])) }, signal.name);
            button.addEventListener("click", () => {
                for (const other of box.children) other.setAttribute("aria-pressed", String(other === button));
                const scale = scaleOf(signal);
                drawn.recolor(values(signal), scale);
                showKey(signal, scale);
            });
            box.append(button);
        }
    }

    // MARK: the charts

    /** Charts against the distance: uPlot takes what stands below for a time. */
    class WayChart extends droverChart.Chart {
        axes() {
            const [below, beside] = super.axes();
            return [{ ...below, splits: (/** @type {any} */ u, /** @type {number} */ axis, /** @type {number} */ from, /** @type {number} */ until) => marks(from, until) }, beside];
        }

        times(/** @type {number[]} */ splits) { return splits.map((value) => `${droverChart.number(value, 1)} ${data.distance_unit}`); }

        show(/** @type {number | null} */ index) {
            super.show(index);
            const told = this.tip.querySelector("time");
            if (told && index !== null) told.textContent = this.where(index);
        }

        where(/** @type {number} */ index) { return `${droverChart.number(this.time[index], 2)} ${data.distance_unit}`; }

        describe() {
            super.describe();
            this.box.setAttribute("aria-valuetext", `${this.where(this.at)}: ${this.series.map((each) => `${each.name} ${each.values[this.at] ?? "–"} ${each.unit ?? ""}`).join(", ")}`);
        }
    }

    /** Round distances. @param {number} from @param {number} until */
    function marks(from, until) {
        const rough = (until - from) / 6 || 1, power = 10 ** Math.floor(Math.log10(rough));
        const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? rough;
        const found = [];
        for (let value = Math.ceil(from / step) * step; value <= until; value += step) found.push(value);
        return found;
    }

    const tokens = ["--c1", "--c4", "--c3", "--c2", "--c5", "--c6"];
    const card = /** @type {HTMLElement} */ (document.querySelector(".along"));
    /** @type {Map<string, any>} */
    const charts = new Map();

    /** Where nothing was said for long the line is broken: one value more, of nothing. @param {any} signal */
    function broken(signal) {
        const x = [], values = [], isTime = against === time;
        for (let at = 0; at < count; at++) {
            if (isTime && at > 0 && time[at] - time[at - 1] > data.gap_s) {
                x.push((time[at] + time[at - 1]) / 2);
                values.push(null);
            }
            x.push(against[at]);
            values.push(signal.values[at]);
        }
        return { x, values };
    }

    function draw(/** @type {HTMLElement} */ figure) {
        const at = data.signals.findIndex((/** @type {any} */ signal) => signal.key === figure.dataset.key), signal = data.signals[at];
        if (!signal) return;
        charts.get(signal.key)?.destroy();
        for (const child of [...figure.children]) if (child.tagName !== "FIGCAPTION") child.remove();
        const isTime = against === time, isFirst = figure === card.querySelector("figure"), isLast = figure === [...card.querySelectorAll("figure")].at(-1);
        const spans = [...document.querySelectorAll("#events .ev[data-until]")].map((line) => {
            const { at: from, until } = /** @type {HTMLElement} */ (line).dataset;
            return { from: Number(from) / 1000, until: Number(until) / 1000, text: line.querySelector("b")?.textContent ?? "" };
        });
        const { x, values } = broken(signal);
        const options = {
            time: x, zone, group, height: isFirst ? 150 : 104, isBare: !isLast, spans: isTime ? spans : [],
            series: [{ name: signal.name, unit: signal.unit, values, digits: signal.digits, token: tokens[at % tokens.length], kind: isFirst ? "area" : "line", width: isFirst ? 1.75 : 1.4 }],
            limits: signal.limits.map((/** @type {any} */ limit) => ({ ...limit, kind: "warning" })).filter((/** @type {any} */ limit) => isNear(limit, signal)),
            marks: events.filter((event) => event.isBad).map((event) => ({ time: against[event.index], severity: "warning", text: isFirst ? event.short : "" })),
        };
        charts.set(signal.key, isTime ? drover.chart(figure, options) : new WayChart(figure, options));
    }

    /** A limit far away would press the line flat. @param {any} limit @param {any} signal */
    function isNear(limit, signal) {
        const known = signal.values.filter((/** @type {number | null} */ value) => value !== null), high = Math.max(...known), low = Math.min(...known);
        return limit.test === "below" ? limit.value > low - (high - low) : limit.value < high + (high - low) * 0.5;
    }

    function drawAll() { for (const figure of card.querySelectorAll("figure")) draw(/** @type {HTMLElement} */ (figure)); }

    /** Time or distance, and which signals. */
    function choices() {
        const box = find("against"), more = find("more"), list = more.querySelector(".pop");
        box.hidden = !data.distance.at(-1);
        box.querySelectorAll("button").forEach((button, at) => button.addEventListener("click", () => {
            for (const other of box.children) other.setAttribute("aria-pressed", String(other === button));
            against = at === 0 ? time : way;
            drawAll();
            go(now);
        }));
        more.hidden = data.signals.length <= card.querySelectorAll("figure").length;
        for (const signal of data.signals) {
            const shown = () => card.querySelector(`figure[data-key="${signal.key}"]`);
            const button = drover.element("button", { type: "button", "aria-pressed": String(Boolean(shown())) }, signal.name);
            button.addEventListener("click", () => {
                const figure = shown();
                if (figure) {
                    charts.get(signal.key)?.destroy();
                    charts.delete(signal.key);
                    figure.remove();
                } else {
                    const caption = drover.element("figcaption", {}, drover.element("b", {}, signal.name), " ", drover.element("span", { class: "soft" }, signal.unit));
                    card.append(drover.element("figure", { class: "chart", "data-key": signal.key }, caption));
                }
                button.setAttribute("aria-pressed", String(!figure));
                drawAll();
            });
            list?.append(button);
        }
    }

    // MARK: the moment

    const slider = /** @type {HTMLInputElement} */ (find("moment")), play = find("play");
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;

    /** Shows a reading everywhere but in the charts. @param {number} at */
    function show(at) {
        now = at;
        slider.value = String(Math.round(time[at] - time[0]));
        slider.style.setProperty("--at", `${(time[at] - time[0]) / Math.max(1, time[count - 1] - time[0]) * 100}%`);
        const fast = speed && speed.values[at] !== null ? `${Math.round(speed.values[at])} ${speed.unit}` : t("speed not known");
        const moment = clock.format(data.ts[at]);
        find("clock").textContent = moment;
        find("said").textContent = fast;
        // What a screen reader says of the slider.
        slider.setAttribute("aria-valuetext", `${moment}, ${fast}`);
        const place = placeOf(at);
        if (map?.map && place) map.cursor(place);
        element.dataset.cursor = place ? place.join() : "";
        for (const event of events) event.line.classList.toggle("lit", Math.abs(event.index - at) < 2);
    }

    /** @param {number} at */
    function go(at) {
        show(at);
        document.dispatchEvent(new CustomEvent("drover:time", { detail: { group, time: against[at], by: "slider" } }));
    }

    document.addEventListener("drover:time", (event) => {
        const { group: of, time: at, by } = /** @type {CustomEvent} */ (event).detail;
        if (of === group && by !== "slider" && at !== null) show(nearest(against, at));
    });

    /** @type {number | undefined} */
    let timer;
    function stop() {
        clearInterval(timer);
        timer = undefined;
        play.replaceChildren(drover.icon("play"));
        play.setAttribute("aria-label", t("Play the trip"));
    }

    play.addEventListener("click", () => {
        if (timer !== undefined) return stop();
        if (now === count - 1) go(0);
        play.replaceChildren(drover.icon("pause"));
        play.setAttribute("aria-label", t("Pause"));
        // The whole trip in half a minute; in few steps for who wishes no motion.
        const every = isCalm ? 1000 : 100, step = (time[count - 1] - time[0]) * every / 30_000;
        let at = time[now];
        timer = setInterval(() => {
            at += step;
            go(Math.min(count - 1, Math.max(now + (at >= time[Math.min(now + 1, count - 1)] ? 1 : 0), drover.countUpTo(time, at) - 1)));
            if (now === count - 1) stop();
        }, every);
    });

    slider.max = String(Math.max(1, Math.round(time[count - 1] - time[0])));
    slider.step = String(Math.max(1, Math.round((time[count - 1] - time[0]) / 500)));
    slider.addEventListener("input", () => {
        stop();
        go(nearest(time, time[0] + Number(slider.value)));
    });
    find("events").addEventListener("click", (event) => {
        const found = events.find((each) => event.target instanceof Node && each.line.contains(event.target));
        if (!found) return;
        event.preventDefault();
        stop();
        go(found.index);
        const place = placeOf(found.index);
        if (map?.map && place) map.fly(place, 16.4);
        element.scrollIntoView({ block: "nearest", behavior: isCalm ? "auto" : "smooth" });
    });

    /** The speed above the slider, and what was harsh. */
    function hills() {
        if (!speed) return;
        const space = "http://www.w3.org/2000/svg", svg = document.createElementNS(space, "svg"), area = document.createElementNS(space, "polygon");
        const high = Math.max(1, ...speed.values.filter((/** @type {number | null} */ value) => value !== null)), length = Math.max(1, time[count - 1] - time[0]);
        const points = speed.values.map((/** @type {number | null} */ value, /** @type {number} */ at) => `${((time[at] - time[0]) / length * 300).toFixed(1)},${(24 - (value ?? 0) / high * 22).toFixed(1)}`);
        svg.setAttribute("viewBox", "0 0 300 24");
        svg.setAttribute("preserveAspectRatio", "none");
        area.setAttribute("points", `0,24 ${points.join(" ")} 300,24`);
        svg.append(area);
        find("hills").replaceChildren(svg);
        for (const event of events.filter((each) => each.isBad)) {
            const tick = drover.element("i", { class: "dot warning tick" });
            tick.style.left = `${(event.seconds - time[0]) / length * 100}%`;
            find("hills").append(tick);
        }
    }

    find("replay").hidden = false;
    hills();
    drawAll();
    choices();
    await drawMap();
    go(0);
})();
