"use strict";
// Charts: uPlot, wrapped once. Pages declare charts in HTML (chart-figure.js); scripts draw data of their own with
//
//   drover.chart(element, { time: [seconds], series: [{ name, unit, values, least, most, token, digits, kind }], limits, marks, spans, zone,
//     group, height, label })
//
// It returns the chart: set(options), csv(), png(title), zoom(from, until), destroy(). Charts of one group share crosshair and zoom; without
// a group all charts of a page are one. Both are told as events of the document, so that maps and sliders take part:
//
//   drover:time  { group, time: seconds or null, by }      drover:zoom  { group, from, until, by } in seconds; from null: all of it

/**
 * @typedef {{ value: number, kind: string, test?: string, text?: string }} ChartLimit
 * @typedef {{ time: number, severity?: string, text?: string, since?: number, until?: number | null, id?: string, value?: number }} ChartMark
 * @typedef {{ from: number, until: number, text?: string, token?: string }} ChartSpan
 * @typedef {{ name: string, unit?: string, values: (number | null | undefined)[], least?: (number | null | undefined)[],
 *   most?: (number | null | undefined)[], token?: string, digits?: number, kind?: string, width?: number }} ChartSeries
 * @typedef {{ time: number[], series: ChartSeries[], limits?: ChartLimit[], marks?: ChartMark[], spans?: ChartSpan[], zone?: string,
 *   group?: string, height?: number, label?: string, from?: number, until?: number, isBare?: boolean,
 *   onZoom?: (from: number | null, until: number | null) => void }} ChartOptions
 */

const droverChart = (function () {
    const pageGroup = "page";
    const axisFont = "11px ";
    /** Charts that are there, so that a theme that changes redraws them. @type {Set<Chart>} */
    const charts = new Set();

    // Numbers, times and colours.

    /** @type {Map<string, Intl.DateTimeFormat>} */
    const formats = new Map();

    /** @param {string} zone @param {Intl.DateTimeFormatOptions} parts */
    function format(zone, parts) {
        const key = zone + JSON.stringify(parts);
        let found = formats.get(key);
        if (!found) {
            found = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", ...parts });
            formats.set(key, found);
        }
        return found;
    }

    const year = (zone, s) => format(zone, { year: "numeric" }).format(s * 1000);
    /** With its year where that is another than now. */
    const day = (zone, s) => format(zone, { day: "numeric", month: "short", ...(year(zone, s) === year(zone, Date.now() / 1000) ? {} : { year: "numeric" }) }).format(s * 1000);
    const clock = (zone, s) => format(zone, { hour: "2-digit", minute: "2-digit" }).format(s * 1000);
    const seconds = (zone, s) => format(zone, { hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(s * 1000);

    /** `24 Nov 15:07:20`: as a tooltip or a row of the table has it. @param {string} zone @param {number} s @param {number} stepS */
    function moment(zone, s, stepS) {
        if (stepS >= 86_000) return day(zone, s);
        return `${day(zone, s)} ${stepS < 60 ? seconds(zone, s) : clock(zone, s)}`;
    }

    /** @param {number | null | undefined} value @param {number} [digits] */
    function number(value, digits = 1) {
        if (value == null) return "–";
        return value.toLocaleString("en-GB", { minimumFractionDigits: 0, maximumFractionDigits: digits });
    }

    const withUnit = (value, series) => number(value, series.digits) + (series.unit && value != null ? ` ${series.unit}` : "");

    /** A token's colour with some of it let through. @param {string} name @param {number} alpha */
    function faint(name, alpha) {
        const colour = drover.token(name);
        const parts = colour.match(/^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i);
        if (parts) return `rgba(${parts.slice(1).map((part) => parseInt(part, 16)).join()},${alpha})`;
        const channels = colour.match(/^rgb\(\s*(\d+)[ ,]+(\d+)[ ,]+(\d+)/);
        return channels ? `rgba(${channels.slice(1).join()},${alpha})` : colour;
    }

    /** @param {string} name @param {string} [className] @param {string} [text] */
    function element(name, className, text) {
        const made = document.createElement(name);
        if (className) made.className = className;
        if (text) made.textContent = text;
        return made;
    }

    // What is drawn below and above uPlot's lines.

    /** @param {uPlot} plot @param {() => void} paint */
    function clipped(plot, paint) {
        const { left, top, width, height } = plot.bbox;
        plot.ctx.save();
        plot.ctx.beginPath();
        plot.ctx.rect(left, top, width, height);
        plot.ctx.clip();
        paint();
        plot.ctx.restore();
    }

    /** Grey: stops, and when nothing was said. @param {uPlot} plot @param {ChartSpan[]} spans */
    function paintSpans(plot, spans) {
        const { top, height } = plot.bbox;
        for (const span of spans) {
            const from = plot.valToPos(span.from, "x", true), until = plot.valToPos(span.until, "x", true);
            plot.ctx.fillStyle = faint(span.token ?? "--quiet-solid", 0.14);
            plot.ctx.fillRect(from, top, until - from, height);
        }
    }

    /** Soft, from a limit to the next worse one or to the edge. @param {uPlot} plot @param {ChartLimit[]} limits */
    function paintBands(plot, limits) {
        for (const isLeast of [false, true]) {
            const judged = limits.filter((limit) => (limit.test === "below") === isLeast && limit.kind !== "recommended");
            judged.sort((a, b) => (a.value - b.value) * (isLeast ? -1 : 1));
            judged.forEach((limit, at) => paintBand(plot, limit, judged[at + 1]?.value ?? (isLeast ? -Infinity : Infinity)));
        }
    }

    /** @param {uPlot} plot @param {ChartLimit} limit @param {number} edge */
    function paintBand(plot, limit, edge) {
        const { min = 0, max = 0 } = plot.scales.y;
        const top = plot.valToPos(Math.min(Math.max(limit.value, edge), max), "y", true);
        const bottom = plot.valToPos(Math.max(Math.min(limit.value, edge), min), "y", true);
        if (bottom <= top) return;
        plot.ctx.fillStyle = faint(`--${limit.kind}-solid`, 0.1);
        plot.ctx.fillRect(plot.bbox.left, top, plot.bbox.width, bottom - top);
    }

    /** Dashed, with its words. @param {uPlot} plot @param {ChartLimit} limit */
    function paintLimit(plot, limit) {
        const { left, top, width, height } = plot.bbox, pen = plot.ctx, ratio = devicePixelRatio || 1;
        const y = plot.valToPos(limit.value, "y", true);
        if (y < top || y > top + height) return;
        const ink = drover.token(limit.kind === "recommended" ? "--ok" : `--${limit.kind}`);
        pen.strokeStyle = ink;
        pen.lineWidth = ratio;
        pen.setLineDash([5 * ratio, 4 * ratio]);
        pen.beginPath();
        pen.moveTo(left, y);
        pen.lineTo(left + width, y);
        pen.stroke();
        pen.setLineDash([]);
        if (limit.text) paintWords(plot, limit.text, left + 4 * ratio, y - 17 * ratio < top ? y + 2 * ratio : y - 17 * ratio, drover.token("--card"), ink);
    }

    /** On a ground of its own, so that lines do not cross it; gives its width. */
    function paintWords(plot, text, x, y, ground, ink) {
        const pen = plot.ctx, ratio = devicePixelRatio || 1;
        pen.font = `600 ${11 * ratio}px ${drover.token("--font")}`;
        const width = pen.measureText(text).width + 10 * ratio;
        pen.fillStyle = ground;
        pen.beginPath();
        pen.roundRect(x, y, width, 15 * ratio, 4 * ratio);
        pen.fill();
        pen.fillStyle = ink;
        pen.textAlign = "left";
        pen.textBaseline = "middle";
        pen.fillText(text, x + 5 * ratio, y + 8 * ratio);
        return width;
    }

    /** Flags where something was opened; those that would cover each other stand in rows. @param {uPlot} plot @param {ChartMark[]} marks */
    function paintMarks(plot, marks) {
        const { left, top, width, height } = plot.bbox, pen = plot.ctx, ratio = devicePixelRatio || 1;
        let covered = -Infinity, row = 0;
        for (const mark of marks) {
            const x = plot.valToPos(mark.time, "x", true);
            if (x < left || x > left + width) continue;
            const ink = drover.token(mark.severity ? `--${mark.severity}` : "--ink-2");
            pen.strokeStyle = ink;
            pen.lineWidth = ratio;
            pen.globalAlpha = 0.55;
            pen.beginPath();
            pen.moveTo(x, top);
            pen.lineTo(x, top + height);
            pen.stroke();
            pen.globalAlpha = 1;
            if (!mark.text) continue;
            pen.font = `600 ${11 * ratio}px ${drover.token("--font")}`;
            const wide = pen.measureText(mark.text).width + 10 * ratio;
            row = x < covered ? (row + 1) % 3 : 0;
            const start = x + wide > left + width ? x - wide : x;
            covered = start + wide + 8 * ratio;
            paintWords(plot, mark.text, start, top + row * 18 * ratio, ink, drover.token("--card"));
        }
    }

    // One chart.

    class Chart {
        /** @param {HTMLElement} host @param {ChartOptions} options */
        constructor(host, options) {
            this.host = host;
            this.options = options;
            this.zone = options.zone ?? "UTC";
            this.group = options.group ?? pageGroup;
            this.series = options.series;
            this.time = options.time;
            this.at = this.time.length - 1;
            this.range = this.whole();
            this.box = element("div", "plot");
            this.tip = element("div", "ctip");
            this.tip.hidden = true;
            this.host.append(this.box);
            /** @type {uPlot} */
            this.plot = this.made();
            this.attend();
            charts.add(this);
        }

        /** Seconds: all that there is. @returns {[number, number]} */
        whole() {
            const from = this.options.from ?? this.time[0] ?? 0;
            const until = this.options.until ?? this.time[this.time.length - 1] ?? from;
            return until > from ? [from, until] : [from - 30, from + 30];
        }

        get stepS() {
            const gaps = this.time.slice(1).map((s, at) => s - this.time[at]).filter((gap) => gap > 0);
            return gaps.length ? Math.min(...gaps) : 60;
        }

        get isZoomed() {
            const [from, until] = this.whole();
            return this.range[0] > from || this.range[1] < until;
        }

        made() {
            const { series, bands } = this.lines();
            const plot = new uPlot({
                width: Math.max(120, this.box.clientWidth), height: this.options.height ?? 160,
                padding: [10, 14, this.options.isBare ? 10 : 0, 4],
                tzDate: (s) => uPlot.tzDate(new Date(s * 1000), this.zone),
                legend: { show: false }, series, bands, axes: this.axes(),
                scales: { x: { time: true, range: () => this.range }, y: { range: () => this.heights() } },
                cursor: {
                    y: false, points: { size: 8, width: 2, fill: () => drover.token("--card") },
                    drag: { x: true, y: false, setScale: false },
                    bind: { dblclick: () => () => { this.tellZoom(null, null); return null; } },
                },
                hooks: {
                    drawClear: [(u) => this.paintBelow(u)], draw: [(u) => this.paintAbove(u)],
                    setCursor: [(u) => this.pointed(u)], setSelect: [(u) => this.selected(u)],
                },
            }, this.data(), this.box);
            plot.over.append(this.tip);
            return plot;
        }

        /** uPlot's series and bands: of each series its line, and above and below it what is filled between least and most. */
        lines() {
            /** @type {uPlot.Series[]} */
            const series = [{}];
            /** @type {uPlot.Band[]} */
            const bands = [];
            this.series.forEach((each, at) => {
                const token = each.token ?? `--c${at + 1}`;
                each.token = token;
                if (each.most) {
                    bands.push({ series: [series.length, series.length + 1], fill: () => faint(token, 0.16) });
                    for (const label of ["most", "least"]) series.push({ label, stroke: "transparent", width: 0, points: { show: false } });
                }
                series.push(this.line(each, token));
            });
            return { series, bands };
        }

        /** @param {ChartSeries} each @param {string} token @returns {uPlot.Series} */
        line(each, token) {
            const ink = () => drover.token(token);
            /** @type {uPlot.Series} */
            const line = { label: each.name, stroke: ink, width: each.width ?? 1.75, spanGaps: false, points: { show: loneOnly, size: 4, fill: ink } };
            if (each.kind === "area") line.fill = () => faint(token, 0.12);
            return line;
        }

        /** @returns {uPlot.AlignedData} */
        data() {
            // Where no least is known the band begins at the line.
            const least = (each) => each.values.map((value, at) => each.least?.[at] ?? value);
            const columns = this.series.flatMap((each) => each.most ? [each.most, least(each), each.values] : [each.values]);
            return /** @type {uPlot.AlignedData} */ ([this.time, ...columns]);
        }

        /** @returns {uPlot.Axis[]} */
        axes() {
            const common = {
                stroke: () => drover.token("--axis"), font: axisFont + drover.token("--font"), ticks: { show: false }, gap: 6,
                grid: { stroke: () => drover.token("--grid"), width: 1 },
            };
            return [
                { ...common, show: !this.options.isBare, size: 26, space: 72, grid: { show: false }, values: (u, splits, axis, space, stepS) => this.times(splits, stepS) },
                {
                    ...common, space: 32, values: (u, splits) => this.marks(splits),
                    // As wide as its longest label: "1,800 rpm" is not cut.
                    size: (u, labels) => Math.max(46, 16 + 7 * Math.max(0, ...(labels ?? []).map((each) => each?.length ?? 0))),
                },
            ];
        }

        /** Days where a day begins or a label is a day, else the time of day. @param {number[]} splits @param {number} stepS */
        times(splits, stepS) {
            return splits.map((s, at) => {
                if (stepS >= 86_000 || (at > 0 && day(this.zone, s) !== day(this.zone, splits[at - 1]))) return day(this.zone, s);
                return stepS < 60 ? seconds(this.zone, s) : clock(this.zone, s);
            });
        }

        /** The unit stands once, at the top. @param {number[]} splits */
        marks(splits) {
            const step = splits.length > 1 ? splits[1] - splits[0] : 1;
            const digits = step >= 1 ? 0 : step >= 0.1 ? 1 : 2;
            const unit = this.series[0]?.unit ?? "";
            return splits.map((value, at) => number(value, digits) + (at === splits.length - 1 && unit.length < 4 && unit ? ` ${unit}` : ""));
        }

        /** From the least to the greatest value, and to the limits, with some room. @returns {[number, number]} */
        heights() {
            const known = this.series.flatMap((each) => [...each.values, ...(each.least ?? []), ...(each.most ?? [])]).filter((value) => value != null);
            const all = /** @type {number[]} */ ([...known, ...(this.options.limits ?? []).map((limit) => limit.value)]);
            if (!all.length) return [0, 1];
            const low = Math.min(...all), high = Math.max(...all);
            // Values that hardly change are not drawn as if they did.
            const room = Math.max(high - low, Math.abs(high) * 0.02, 0.4) * 0.1;
            const standsOnZero = low >= 0 && (low - room < 0 || this.series.some((each) => each.kind === "area"));
            return [standsOnZero ? 0 : low - room, high + room];
        }

        /** @param {uPlot} plot */
        paintBelow(plot) {
            clipped(plot, () => {
                paintSpans(plot, this.options.spans ?? []);
                paintBands(plot, this.options.limits ?? []);
            });
        }

        /** @param {uPlot} plot */
        paintAbove(plot) {
            plot.ctx.save();
            for (const limit of this.options.limits ?? []) paintLimit(plot, limit);
            paintMarks(plot, this.options.marks ?? []);
            plot.ctx.restore();
        }

        // Crosshair, zoom and keys.

        /** The pointer has moved in this chart. @param {uPlot} plot */
        pointed(plot) {
            if (this.isQuiet) return;
            const isOver = plot.cursor.left != null && plot.cursor.left >= 0;
            const index = isOver ? plot.cursor.idx ?? null : null;
            if (index !== null) this.at = index;
            this.show(index);
            tell("drover:time", { group: this.group, time: index === null ? null : this.time[index], by: this });
        }

        /** Somewhere else the time under the crosshair is another. @param {number | null} s */
        follow(s) {
            this.isQuiet = true;
            const index = s === null ? null : this.nearest(s);
            if (index === null) this.plot.setCursor({ left: -10, top: -10 }, false);
            else this.plot.setCursor({ left: this.plot.valToPos(this.time[index], "x"), top: 10 }, false);
            this.show(index);
            this.isQuiet = false;
        }

        /** @param {number} s @returns {number | null} */
        nearest(s) {
            if (!this.time.length) return null;
            let [low, high] = [0, this.time.length - 1];
            while (low < high) {
                const middle = (low + high) >> 1;
                if (this.time[middle] < s) low = middle + 1; else high = middle;
            }
            return low > 0 && s - this.time[low - 1] < this.time[low] - s ? low - 1 : low;
        }

        /** The tooltip beside the crosshair; where another chart has the pointer, the value alone. @param {number | null} index */
        show(index) {
            this.tip.hidden = index === null;
            if (index === null) return;
            const when = element("time", "", moment(this.zone, this.time[index], this.stepS)), one = this.series[0];
            if (this.isQuiet && this.series.length === 1) this.tip.replaceChildren(element("b", "", number(one.values[index], one.digits)), one.values[index] == null ? "" : ` ${one.unit ?? ""}`);
            else this.tip.replaceChildren(when, ...this.series.map((each) => this.said(each, index)));
            const left = this.plot.valToPos(this.time[index], "x"), wide = this.tip.offsetWidth;
            this.tip.style.left = `${left + wide + 20 > this.plot.over.clientWidth ? Math.max(0, left - wide - 12) : left + 12}px`;
            this.tip.style.top = "6px";
        }

        /** One series in the tooltip. @param {ChartSeries} each @param {number} index */
        said(each, index) {
            const row = element("div"), swatch = element("i"), value = each.values[index];
            swatch.style.background = drover.token(each.token ?? "--c1");
            row.append(swatch, `${each.name} `, element("b", "", number(value, each.digits)), value == null ? "" : ` ${each.unit ?? ""}`);
            const least = each.least?.[index], most = each.most?.[index];
            const range = least == null ? t("up to %1", number(most, each.digits)) : t("%1 to %2", number(least, each.digits), number(most, each.digits));
            if (most != null && (least ?? value ?? most) < most) row.append(" ", element("span", "faint", range));
            return row;
        }

        /** Dragged over: that is shown from edge to edge. @param {uPlot} plot */
        selected(plot) {
            if (plot.select.width < 4) return;
            const from = plot.posToVal(plot.select.left, "x"), until = plot.posToVal(plot.select.left + plot.select.width, "x");
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            this.tellZoom(from, until);
        }

        /** To all charts of the group, this one among them. @param {number | null} from @param {number | null} until */
        tellZoom(from, until) { tell("drover:zoom", { group: this.group, from, until, by: this }); }

        /** @param {number | null} from @param {number | null} until Null: all of it. */
        zoom(from, until) {
            const [first, last] = this.whole();
            /** @type {[number, number]} */
            const asked = from === null || until === null ? [first, last] : [Math.max(first, from), Math.min(last, until)];
            asked[1] = Math.max(asked[1], asked[0] + 2);
            this.range = asked;
            this.plot.setScale("x", { min: this.range[0], max: this.range[1] });
            this.host.classList.toggle("zoomed", this.isZoomed);
            this.options.onZoom?.(this.isZoomed ? this.range[0] : null, this.isZoomed ? this.range[1] : null);
        }

        /** @param {KeyboardEvent} event */
        pressed(event) {
            if (event.ctrlKey || event.metaKey || event.altKey || !this.time.length) return;
            const step = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1 })[event.key];
            const factor = { "+": 0.7, "=": 0.7, "-": 1 / 0.7 }[event.key];
            if (step) this.move(step * (event.shiftKey ? 10 : 1));
            else if (factor) this.zoomAround(factor);
            else if (event.key === "Home") this.tellZoom(null, null);
            else if (event.key === "Escape") this.leave();
            else return;
            event.preventDefault();
        }

        /** The crosshair by so many values; those that are not shown are passed over. @param {number} count */
        move(count) {
            let at = Math.min(Math.max(this.at + count, 0), this.time.length - 1);
            const has = (index) => this.series.some((each) => each.values[index] != null);
            const way = Math.sign(count);
            while (!has(at) && at + way >= 0 && at + way < this.time.length) at += way;
            if (has(at)) this.at = at;
            this.plot.setCursor({ left: this.plot.valToPos(this.time[this.at], "x"), top: 10 }, false);
            this.show(this.at);
            this.describe();
            tell("drover:time", { group: this.group, time: this.time[this.at], by: this });
        }

        leave() {
            this.follow(null);
            tell("drover:time", { group: this.group, time: null, by: this });
        }

        /** @param {number} factor */
        zoomAround(factor) {
            const [from, until] = this.range, at = this.time[this.at], middle = at >= from && at <= until ? at : (from + until) / 2;
            this.tellZoom(middle - (middle - from) * factor, middle + (until - middle) * factor);
        }

        /** What the keys have reached, for who hears the page. */
        describe() {
            const text = this.series.map((each) => `${each.name} ${withUnit(each.values[this.at], each)}`).join(", ");
            this.box.setAttribute("aria-valuenow", String(this.at));
            this.box.setAttribute("aria-valuemax", String(Math.max(0, this.time.length - 1)));
            this.box.setAttribute("aria-valuetext", this.time.length ? `${moment(this.zone, this.time[this.at], this.stepS)}: ${text}` : t("nothing was read"));
        }

        attend() {
            this.box.tabIndex = 0;
            this.box.setAttribute("role", "slider");
            this.box.setAttribute("aria-valuemin", "0");
            this.box.setAttribute("aria-label", this.options.label ?? this.summary());
            this.describe();
            this.box.addEventListener("keydown", (event) => this.pressed(event));
            this.box.addEventListener("blur", () => this.leave());
            let frame = 0;
            this.watcher = new ResizeObserver(() => {
                cancelAnimationFrame(frame);
                frame = requestAnimationFrame(() => this.resized());
            });
            this.watcher.observe(this.box);
        }

        resized() {
            const width = this.box.clientWidth;
            if (width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.options.height ?? 160 });
        }

        /** `Coolant: from 81 to 98.5 °C, last 98.5 °C`. */
        summary() {
            const texts = this.series.map((each) => {
                const known = /** @type {number[]} */ (each.values.filter((value) => value != null));
                if (!known.length) return t("%1: nothing was read", each.name);
                const ends = [number(Math.min(...known), each.digits), withUnit(Math.max(...known), each), withUnit(known[known.length - 1], each)];
                return t("%1: from %2 to %3, last %4", each.name, ...ends);
            });
            return t("%1. Arrow keys move through it.", texts.join("; "));
        }

        // What others do with it.

        /** Other data, at the same zoom. @param {Partial<ChartOptions>} options */
        set(options) {
            const wasZoomed = this.isZoomed;
            Object.assign(this.options, options);
            this.time = this.options.time;
            this.series = this.options.series.map((each, at) => ({ ...each, token: each.token ?? this.series[at]?.token }));
            this.at = Math.min(Math.max(this.at, 0), Math.max(0, this.time.length - 1));
            if (!wasZoomed) this.range = this.whole();
            this.plot.setData(this.data(), false);
            this.plot.setScale("x", { min: this.range[0], max: this.range[1] });
            this.box.setAttribute("aria-label", this.options.label ?? this.summary());
            this.describe();
        }

        /** What is shown, as spreadsheets read it: times in UTC. */
        csv() {
            const columns = this.series.flatMap((each) => each.most ? [each.values, each.least ?? [], each.most] : [each.values]);
            const heads = this.series.flatMap((each) => {
                const name = each.name + (each.unit ? ` (${each.unit})` : "");
                return each.most ? [name, `${name} lowest`, `${name} highest`] : [name];
            });
            const quoted = (text) => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
            const rows = this.time.map((s, at) => [new Date(s * 1000).toISOString(), ...columns.map((column) => column[at] ?? "")]);
            const shown = rows.filter((row, at) => this.isShown(at) && row.slice(1).some((cell) => cell !== ""));
            return [["time", ...heads].map(quoted), ...shown].map((row) => row.join(",")).join("\r\n") + "\r\n";
        }

        /** @param {number} index */
        isShown(index) { return this.time[index] >= this.range[0] && this.time[index] <= this.range[1]; }

        /** The picture with its name, on the ground of a card. @param {string} title @returns {HTMLCanvasElement} */
        png(title) {
            const ratio = devicePixelRatio || 1, from = this.plot.ctx.canvas, made = document.createElement("canvas");
            made.width = from.width;
            made.height = from.height + 28 * ratio;
            const pen = /** @type {CanvasRenderingContext2D} */ (made.getContext("2d"));
            pen.fillStyle = drover.token("--card");
            pen.fillRect(0, 0, made.width, made.height);
            pen.fillStyle = drover.token("--ink");
            pen.font = `600 ${13 * ratio}px ${drover.token("--font")}`;
            pen.fillText(title, 10 * ratio, 18 * ratio);
            pen.drawImage(from, 0, 28 * ratio);
            return made;
        }

        /** The theme is another. */
        redraw() { this.plot.redraw(false, true); }

        destroy() {
            charts.delete(this);
            this.watcher?.disconnect();
            this.plot.destroy();
            this.box.remove();
        }
    }

    /** Single values between gaps have no line: they are dots. uPlot asks for each series. */
    function loneOnly(plot, seriesIndex) {
        const values = plot.data[seriesIndex];
        const isLone = (at) => values[at] != null && values[at - 1] == null && values[at + 1] == null;
        // Where hardly anything is there, each value is seen.
        return values.length <= 2 || (values.length < 200 && values.some((value, at) => isLone(at)));
    }

    function tell(name, detail) { document.dispatchEvent(new CustomEvent(name, { detail })); }

    document.addEventListener("drover:time", (event) => {
        const { group, time, by } = /** @type {CustomEvent} */ (event).detail;
        for (const chart of charts) if (chart.group === (group ?? pageGroup) && chart !== by) chart.follow(time);
    });
    document.addEventListener("drover:zoom", (event) => {
        const { group, from, until } = /** @type {CustomEvent} */ (event).detail;
        for (const chart of charts) if (chart.group === (group ?? pageGroup)) chart.zoom(from, until);
    });
    addEventListener("theme", () => { for (const chart of charts) chart.redraw(); });

    drover.chart = (host, options) => new Chart(host, options);
    return { Chart, number, moment, element };
})();
