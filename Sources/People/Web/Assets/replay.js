"use strict";
// A trip on the map, and where the car was at each moment of it.
(async function () {
    const element = document.getElementById("map");
    const map = droverMap(element);
    map.setView([30, 10], 2);
    const say = (text) => { document.getElementById("no-track").textContent = text; };
    let track;
    try {
        const answer = await fetch(element.dataset.track);
        if (!answer.ok) return say("The way of this trip cannot be read right now.");
        track = await answer.json();
    } catch {
        return say("The server cannot be reached.");
    }
    if (!track.ts.length) return say("Its readings hold no places, so there is nothing on the map.");

    const places = track.ts.map((_, at) => [track.latitude_deg[at], track.longitude_deg[at]]);
    const line = L.polyline(places, { className: "track", weight: 4 }).addTo(map);
    map.fitBounds(line.getBounds().pad(0.1), { animate: false });

    const sign = document.createElement("span");
    sign.className = "sign moving";
    sign.textContent = "▲";
    const marker = L.marker(places[0], { keyboard: false, icon: L.divIcon({ html: sign, className: "", iconSize: [28, 28] }) }).addTo(map);

    const moment = document.getElementById("moment"), play = document.getElementById("play");
    const isUS = element.dataset.units === "us";
    const clock = new Intl.DateTimeFormat("en-GB", { timeZone: element.dataset.zone, timeStyle: "medium" });

    function show() {
        const at = Number(moment.value);
        marker.setLatLng(places[at]);
        const speed = track.speed_kmh[at];
        const fast = speed === null ? "speed not known" : isUS ? `${Math.round(speed / 1.609344)} mph` : `${Math.round(speed)} km/h`;
        const text = `${clock.format(track.ts[at])}, ${fast}`;
        document.getElementById("said").textContent = text;
        // What a screen reader says of the slider.
        moment.setAttribute("aria-valuetext", text);
    }

    let timer = null;
    function stop() {
        clearInterval(timer);
        timer = null;
        play.textContent = "Play";
    }
    play.addEventListener("click", () => {
        if (timer !== null) return stop();
        if (Number(moment.value) === places.length - 1) moment.value = "0";
        play.textContent = "Pause";
        // The whole trip in half a minute.
        const step = Math.max(1, Math.round(places.length / 300));
        timer = setInterval(() => {
            moment.value = String(Math.min(places.length - 1, Number(moment.value) + step));
            show();
            if (Number(moment.value) === places.length - 1) stop();
        }, 100);
    });
    moment.max = String(places.length - 1);
    moment.addEventListener("input", () => { stop(); show(); });
    document.getElementById("replay").hidden = false;
    show();
})();
