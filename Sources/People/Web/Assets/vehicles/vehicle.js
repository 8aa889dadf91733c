"use strict";
// A vehicle, or the list of them, as they are now. Charts move on by themselves, and forms are left alone: somebody may be writing.
(function () {
    droverLive.onPage((page) => {
        // The first readings bring these, with scripts of their own.
        const comes = ["#gauges", "#way", "figure.chart"].some((part) => page.querySelector(part) && !document.querySelector(part));
        if (comes) return location.reload();
        for (const id of ["state", "verdict", "gauges", "downloads", "story", "states", "rows"]) {
            droverLive.replace(document.getElementById(id), page.getElementById(id));
        }
        drover.charts?.news();
    });
    droverLive.start();
    // On a phone the tabs scroll: the one that is shown is in view.
    document.querySelector(".tabs.near [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });

    // The map has the way of what the charts show, coloured by the first of them; the dot is where the vehicle was under their crosshair.
    const element = document.getElementById("way");
    if (!element) return;
    const data = element.dataset;
    /** @type {Promise<any> | null} */
    let map = null;
    /** @type {number[]} */
    let times = [];
    /** @type {[number, number][]} */
    let path = [];

    /** The value at each place: that of its piece, else the one before. */
    function values(places, signal) {
        const known = new Map(signal?.at.map((piece, at) => [piece, signal.mean[at]]));
        let last = null;
        return places.at.map((piece) => {
            last = known.get(piece) ?? last;
            return last;
        });
    }

    function scaleOf(found) {
        const known = found.filter((value) => value != null), low = Math.min(...known), high = Math.max(...known);
        return [0, 0.25, 0.5, 0.75, 1].map((share) => low + share * Math.max(high - low, 0.1));
    }

    function key(signal, scale) {
        const words = (value) => `${Math.round(value)}`;
        const box = drover.element("div", { class: "mapkey" }, drover.element("b", {}, signal.name), words(scale[0]), drover.element("span", { class: "ramp" }), `${words(scale[4])} ${signal.unit}`);
        element?.querySelector(".mapkey")?.remove();
        element?.append(box);
    }

    const vehicle = () => ({ id: data.vehicle, name: data.name, icon: data.icon, at: path[path.length - 1], state: "parked", sev: data.sev || undefined });

    document.addEventListener("drover:series", (event) => {
        const body = /** @type {CustomEvent} */ (event).detail, places = body.places;
        if (!places?.at.length) return;
        times = places.at.map((piece) => body.from + piece * body.piece_s);
        path = places.at.map((piece, at) => [places.longitude_deg[at], places.latitude_deg[at]]);
        const signal = body.signals[0], found = values(places, signal), scale = signal && found.some((value) => value != null) ? scaleOf(found) : undefined;
        if (map) return void map.then((made) => made.vehicles([vehicle()]));
        map = drover.map(element, {
            bounds: boundsOf(path), pad: 40, maxZoom: 16, vehicles: [vehicle()], names: "always",
            track: path.length > 1 ? { path, value: found, scale, arrows: false, width: 3.5 } : undefined,
            label: t("The vehicle’s route"),
        });
        if (signal && scale) key(signal, scale);
    });

    document.addEventListener("drover:time", (event) => {
        const s = /** @type {CustomEvent} */ (event).detail.time;
        const at = s === null ? -1 : times.findLastIndex((time) => time <= s);
        map?.then((made) => made.cursor(at < 0 ? null : path[at]));
    });
})();
