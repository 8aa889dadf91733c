"use strict";
// Charts that pages declare in HTML that the server writes (Shell/ChartView.swift). What stands in the figure is for who has no script, and
// goes when the chart is there:
//
//   <figure class="chart" data-source="/v1/vehicles/m-1/series?kind=machine" data-signals="coolant_c" data-from="1790000000000" data-until="1790007200000">
//     <figcaption>Coolant, °C</figcaption><svg>…</svg></figure>
//
//   data-title           what the chart is called, where the caption says more
//   data-source          a route that answers as GET /v1/vehicles/{vehicle}/series does, with the signals of all figures that share it; `from`
//                        and `until` are added to it. Figures that ask for the same are answered by one request
//   data-signals         keys of signals, parted by spaces; several are drawn in one chart
//   data-from, -until    what is asked for, epoch milliseconds; the chart begins and ends where the answer has values
//   data-zone            the account's time zone; of figures of one page the same
//   data-group           charts of one group share crosshair and zoom; without it all charts of a page are one group
//   data-height          pixels, 160 if nothing is said
//   data-tone            token of the first line's colour, `--c1` if nothing is said
//   data-live            it moves on: droverLive's news are asked for, so that `until` is always now
//   data-bare            no times below it: another chart of the same times stands beneath
//   data-alert           id of the alert that the figure is about: its time above the limit before it opened (hold time) is drawn, other
//                        alerts are flags without words
//
// Answers are told as events of the document, drover:series, so that a map draws the same.
//
// The page of an alert writes one figure with the alert's signal, from before it began until after it ended, and data-alert; value, limits,
// hold time and openings come with the answer.
(function () {
    const { Chart, moment, number, element } = droverChart;
    /** Answers that are kept; zooming to and fro asks once. */
    const keptMax = 24;
    /** @type {Map<string, Promise<any>>} */
    const kept = new Map();
    /** @type {Set<DeclaredChart>} */
    const declared = new Set();

    /** @param {string} address @param {boolean} isFresh It may be another now. */
    function answer(address, isFresh) {
        const known = kept.get(address);
        if (known && !isFresh) return known;
        const asked = fetch(address, { headers: { Accept: "application/json" } }).then((response) => {
            if (!response.ok) throw new Error(String(response.status));
            return response.json();
        });
        kept.set(address, asked);
        asked.catch(() => kept.delete(address));
        if (kept.size > keptMax) kept.delete(/** @type {string} */ (kept.keys().next().value));
        return asked;
    }

    /** Values of several signals by the times of all; where one has none its line goes on, where it was silent it is broken. */
    function merged(signals, gapS) {
        const time = [...new Set(signals.flatMap((signal) => [...signal.time, ...holes(signal.time, gapS)]))].sort((a, b) => a - b);
        const place = new Map(time.map((s, at) => [s, at]));
        const series = signals.map((signal) => {
            const holed = holes(signal.time, gapS);
            const column = (values) => {
                const made = Array(time.length).fill(undefined);
                signal.time.forEach((s, at) => { made[place.get(s) ?? 0] = values?.[at]; });
                for (const s of holed) made[place.get(s) ?? 0] = null;
                return made;
            };
            return {
                name: signal.name, unit: signal.unit, values: column(signal.mean),
                ...(signal.most ? { least: column(signal.least), most: column(signal.most) } : {}),
            };
        });
        return { time, series };
    }

    /** A moment in each gap. @param {number[]} time @param {number} gapS */
    function holes(time, gapS) {
        return time.slice(1).flatMap((s, at) => s - time[at] > gapS ? [(s + time[at]) / 2] : []);
    }

    /** When nothing was said. @param {number[]} time @param {number} gapS */
    function silences(time, gapS) {
        return time.slice(1).flatMap((s, at) => s - time[at] > gapS ? [{ from: time[at], until: s, text: t("No readings") }] : []);
    }

    /** A limit's words: what the rule says, in the reader's units. @param {string} kind @param {string} value */
    function limitText(kind, value) {
        if (kind === "warning") return t("Warning %1", value);
        return kind === "critical" ? t("Critical %1", value) : t("Recommended %1", value);
    }

    /** The answer of a route as a chart's options. */
    function optionsOf(body, keys, alert) {
        const signals = keys.map((key) => body.signals.find((signal) => signal.key === key)).filter(Boolean)
            .map((signal) => ({ ...signal, time: signal.at.map((piece) => body.from + piece * body.piece_s) }));
        const { time, series } = merged(signals, body.gap_s);
        const one = signals.length === 1 ? signals[0] : null;
        const limits = (one?.limits ?? []).map((limit) => ({ ...limit, text: limitText(limit.kind, `${number(limit.value)} ${one.unit}`) }));
        const marks = signals.flatMap((signal) => signal.alerts).map((each) => ({
            time: each.opened, severity: each.severity, text: alert ? each.id === alert ? t("Opened") : "" : t("Alert"), id: each.id, since: each.since,
        })).sort((a, b) => a.time - b.time);
        const held = marks.filter((mark) => mark.id === alert && mark.since < mark.time)
            .map((mark) => ({ from: mark.since, until: mark.time, token: `--${mark.severity}-solid`, text: t("Held") }));
        return { time, series, limits, marks, spans: [...(one ? silences(one.time, body.gap_s) : []), ...held] };
    }

    /** Each answer is told once to whoever draws it, too: drover:series. */
    let last = null;
    function told(body) {
        if (body === last) return;
        last = body;
        document.dispatchEvent(new CustomEvent("drover:series", { detail: body }));
    }

    class DeclaredChart {
        /** @param {HTMLElement} figure */
        constructor(figure) {
            this.figure = figure;
            const data = figure.dataset;
            this.keys = (data.signals ?? "").split(" ").filter(Boolean);
            this.from = Number(data.from) / 1000;
            this.until = Number(data.until) / 1000;
            this.isLive = data.live !== undefined;
            /** @type {InstanceType<typeof Chart> | null} */
            this.chart = null;
            /** What was asked for last; older answers come too late. */
            this.asked = 0;
            this.load();
        }

        get title() { return this.figure.dataset.title ?? this.figure.querySelector("figcaption")?.textContent?.trim() ?? t("Chart"); }

        /** @param {number} from @param {number} until */
        address(from, until) {
            const source = new URL(this.figure.dataset.source ?? "", location.href);
            source.searchParams.set("from", String(Math.floor(from * 1000)));
            source.searchParams.set("until", String(Math.ceil(until * 1000)));
            return source.href;
        }

        async load() {
            try {
                this.body = await answer(this.address(this.from, this.until), false);
                this.draw(this.body);
                told(this.body);
            } catch {
                // What the server has drawn stays.
                this.figure.classList.add("failed");
            }
        }

        /**
         * Where the values begin and end: no chart is half empty, and all charts of an answer are of the same time. What lives ends now, so that
         * a silence is seen; an alert's figure is of the alert's time. @returns {[number, number]}
         */
        fitted(body) {
            let [first, last] = [Infinity, -Infinity];
            for (const { at, alerts } of body.signals) {
                const times = [...at.slice(0, 1), ...at.slice(-1)].map((piece) => body.from + piece * body.piece_s);
                for (const s of [...times, ...(times.length ? alerts.map((each) => each.opened) : [])]) [first, last] = [Math.min(first, s), Math.max(last, s)];
            }
            if (first > last || this.figure.dataset.alert) return [this.from, this.until];
            return [Math.max(this.from, first), this.isLive ? this.until : Math.min(this.until, last)];
        }

        draw(body) {
            const data = this.figure.dataset;
            const [from, until] = this.fitted(body);
            const options = {
                ...optionsOf(body, this.keys, data.alert), zone: data.zone, group: data.group, height: Number(data.height) || 160, isBare: data.bare !== undefined,
                from, until, onZoom: (start, end) => this.zoomed(start, end),
            };
            if (!options.time.length) return;
            if (data.tone && options.series[0]) options.series[0].token = data.tone;
            if (this.chart) return this.chart.set(options);
            for (const old of [...this.figure.children]) if (old.tagName !== "FIGCAPTION") old.remove();
            this.figure.classList.add("drawn");
            this.chart = new Chart(this.figure, options);
            this.figure.append(this.menu(), this.table());
        }

        /** Finer than what is there, as soon as the fingers rest. @param {number | null} from @param {number | null} until */
        zoomed(from, until) {
            clearTimeout(this.wait);
            const ask = ++this.asked;
            if (from === null || until === null) return this.draw(this.body);
            this.wait = setTimeout(async () => {
                try {
                    // A little more than is shown, so that lines reach the edges.
                    const room = (until - from) / 20, body = await answer(this.address(from - room, until + room), false);
                    if (ask === this.asked && this.chart) this.chart.set(optionsOf(body, this.keys, this.figure.dataset.alert));
                } catch {
                    // The coarser values are there.
                }
            }, 150);
        }

        /** There is news: the chart ends now, and begins as long before as it did. */
        async news() {
            const lengthS = this.until - this.from, nowS = Math.floor(Date.now() / 1000);
            // Within a piece nothing is seen to move.
            if (!this.isLive || this.chart?.isZoomed || document.hidden || nowS - this.until < lengthS / 600) return;
            try {
                this.body = await answer(this.address(nowS - lengthS, nowS), true);
                [this.from, this.until] = [nowS - lengthS, nowS];
                this.draw(this.body);
                told(this.body);
            } catch {
                // droverLive says that the server is away.
            }
        }

        /** Back from a zoom, and what can be taken along. */
        menu() {
            const box = element("div", "chart-menu"), menu = element("details", "menu end"), pop = element("div", "pop"), head = element("summary", "btn ghost icon small");
            const back = this.button(t("Show all"), () => this.chart?.tellZoom(null, null));
            back.className = "btn ghost small back";
            head.append(drover.icon("download"));
            head.setAttribute("aria-label", t("Save %1", this.title));
            pop.append(
                this.button(t("Values as CSV"), () => save(new Blob([this.chart?.csv() ?? ""], { type: "text/csv" }), `${fileName(this.title)}.csv`)),
                this.button(t("Picture as PNG"), async () => save(await this.picture(), `${fileName(this.title)}.png`)));
            pop.addEventListener("click", () => menu.removeAttribute("open"));
            menu.append(head, pop);
            box.append(back, menu);
            return box;
        }

        /** @param {string} text @param {() => void} act */
        button(text, act) {
            const button = /** @type {HTMLButtonElement} */ (element("button", "", text));
            button.type = "button";
            button.addEventListener("click", act);
            return button;
        }

        /** @returns {Promise<Blob>} */
        picture() {
            const canvas = /** @type {InstanceType<typeof Chart>} */ (this.chart).png(this.title);
            return new Promise((done, fail) => { canvas.toBlob((blob) => blob ? done(blob) : fail(new Error("no picture"))); });
        }

        /** The values for who does not see the chart: made when somebody opens it. */
        table() {
            const details = /** @type {HTMLDetailsElement} */ (element("details", "data"));
            const box = element("div");
            box.tabIndex = 0;
            box.setAttribute("role", "region");
            box.setAttribute("aria-label", t("%1: values", this.title));
            const head = element("summary", "btn ghost icon small");
            head.append(drover.icon("table"));
            head.setAttribute("aria-label", t("%1 as a table", this.title));
            details.append(head, box);
            details.addEventListener("toggle", () => { if (details.open && this.chart) box.replaceChildren(tableOf(this.chart)); });
            return details;
        }
    }

    /** @param {InstanceType<typeof Chart>} chart */
    function tableOf(chart) {
        const table = element("table", "table"), head = element("tr"), body = element("tbody"), thead = element("thead");
        head.append(element("th", "", t("Time")), ...chart.series.map((each) => element("th", "num", each.name + (each.unit ? `, ${each.unit}` : ""))));
        chart.time.forEach((s, at) => {
            if (!chart.isShown(at) || chart.series.every((each) => each.values[at] == null)) return;
            const row = element("tr");
            row.append(element("td", "", moment(chart.zone, s, chart.stepS)), ...chart.series.map((each) => element("td", "num", number(each.values[at], each.digits))));
            body.append(row);
        });
        thead.append(head);
        table.append(thead, body);
        return table;
    }

    const fileName = (title) => title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "chart";

    /** @param {Blob} blob @param {string} name */
    function save(blob, name) {
        const link = document.createElement("a"), address = URL.createObjectURL(blob);
        link.href = address;
        link.download = name;
        link.click();
        setTimeout(() => URL.revokeObjectURL(address), 10_000);
    }

    /** Charts that were declared since, too. @param {ParentNode} [within] */
    function mount(within = document) {
        for (const figure of within.querySelectorAll("figure.chart[data-source]:not([data-is-mounted])")) {
            /** @type {HTMLElement} */ (figure).dataset.isMounted = "1";
            declared.add(new DeclaredChart(/** @type {HTMLElement} */ (figure)));
        }
    }

    drover.charts = {
        mount,
        /** To be called when the fleet has news. */
        news() { for (const each of declared) each.news(); },
    };
    mount();
})();
