"use strict";
// The map as it was: tracks of the vehicles over a span of a day at most, and the bar that plays them. fleet-map.js draws what this says for
// the moment that is shown. The moment and the pace stand in the address, so that a link leads somebody else to the same moment.

/**
 * @typedef {{ id: string, name: string, at: number[], latitude_deg: number[], longitude_deg: number[], speed: (number | null)[] }} ReplayTrack
 * @typedef {{ at: [number, number], state: string, heading: number | null, speed: string | null, heard: number }} ReplayPlace
 */

const droverReplay = (function () {
    const found = document.getElementById("replay");
    if (!found) return null;
    const bar = found, { from, until, zone } = bar.dataset;
    const fromS = Number(from) / 1000, lengthS = Number(until) / 1000 - fromS;
    const find = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
    const slider = find("moment"), play = find("play"), pace = find("pace");
    const clock = new Intl.DateTimeFormat("en-GB", { timeZone: zone || "UTC", timeStyle: "medium" });
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const asked = new URLSearchParams(location.search);

    /** @type {Map<string, ReplayTrack>} */ const tracks = new Map();
    let gapS = 600, startS = fromS, unit = "km/h", now = 0;
    /** @type {() => void} */ let draw = () => {};
    /** @type {number | undefined} */ let timer;
    let told = 0;

    const words = find("replay-told"), plain = [...words.childNodes];

    function say(/** @type {string} */ text) {
        words.textContent = text;
        words.hidden = !text;
    }

    // MARK: what the server says

    /** @param {string[]} ids of those that are wanted; none: all */
    async function read(ids) {
        const few = ids.length ? `&vehicles=${ids.map(encodeURIComponent).join(",")}` : "";
        const answer = await fetch(`/map/replay?from=${from}&until=${until}${few}`);
        if (!answer.ok) throw new Error(t("The replay cannot be read: %1.", answer.status));
        const body = await answer.json();
        tracks.clear();
        for (const track of body.vehicles) tracks.set(track.id, track);
        [gapS, startS, unit] = [body.gap_s, body.from, body.speed_unit];
        bar.dataset.vehicles = String(tracks.size);
        if (!tracks.size) return say(t("No vehicle told where it was in this time."));
        say(body.is_cut ? t("The first %1 vehicles that told where they were. Search or choose a group to see others.", tracks.size) : "");
    }

    // MARK: where each was

    /** @param {ReplayTrack} track @param {number} at @returns {[number, number]} */
    const place = (track, at) => [track.longitude_deg[at], track.latitude_deg[at]];

    /** Metres to the east and north. @param {[number, number]} one @param {[number, number]} two */
    function step(one, two) {
        const metres = 111_195;
        return { east: (two[0] - one[0]) * metres * Math.cos(one[1] * Math.PI / 180), north: (two[1] - one[1]) * metres };
    }

    /** Between two places it goes straight; over a silence it stays where it was. Null: it had not told yet. @param {string} id @returns {ReplayPlace | null} */
    function placeOf(id) {
        const track = tracks.get(id);
        if (!track) return null;
        // The server's pieces begin a little before the span.
        const second = now + fromS - startS, at = drover.countUpTo(track.at, second) - 1;
        if (at < 0) return null;
        const here = place(track, at), heard = (startS + track.at[at]) * 1000, next = at + 1 < track.at.length ? at + 1 : null;
        const pause = next === null ? Infinity : track.at[next] - track.at[at];
        if (next === null || pause > gapS) return { at: here, state: second - track.at[at] > gapS ? "silent" : "parked", heading: null, speed: null, heard };
        const there = place(track, next), { east, north } = step(here, there), far = Math.hypot(east, north), share = (second - track.at[at]) / pause;
        const isMoving = far > 20 && far / pause > 0.5, fast = track.speed[at];
        return {
            at: [here[0] + (there[0] - here[0]) * share, here[1] + (there[1] - here[1]) * share], state: isMoving ? "moving" : fast === null ? "parked" : "idling",
            heading: isMoving ? (Math.atan2(east, north) * 180 / Math.PI + 360) % 360 : null, speed: isMoving && fast !== null ? `${fast} ${unit}` : null, heard,
        };
    }

    /** The way of one, for a line. @param {string | null} id */
    function way(id) {
        const track = id === null ? undefined : tracks.get(id);
        return track ? track.at.map((_, at) => place(track, at)) : null;
    }

    /** All places, to look at first. */
    const places = () => [...tracks.values()].flatMap((track) => track.at.map((_, at) => place(track, at)));

    // MARK: the moment

    /** In the address, not more often than it is read. @param {boolean} [isFinal] */
    function tell(isFinal = false) {
        if (!isFinal && performance.now() - told < 2000) return;
        told = performance.now();
        const address = new URL(location.href);
        address.searchParams.set("at", String(Math.round(now + fromS) * 1000));
        address.searchParams.set("pace", pace.value);
        history.replaceState(null, "", address);
    }

    /** @param {number} second since the beginning */
    function go(second, isFinal = false) {
        now = Math.min(lengthS, Math.max(0, second));
        const moment = clock.format((now + fromS) * 1000);
        const shown = [...tracks.keys()].map(placeOf), moving = shown.filter((one) => one?.state === "moving").length;
        const count = t("%1 of %2 moving", moving, tracks.size);
        slider.value = String(Math.round(now));
        slider.style.setProperty("--at", `${now / lengthS * 100}%`);
        slider.setAttribute("aria-valuetext", `${moment}, ${count}`);
        find("clock").textContent = moment;
        find("said").textContent = count;
        bar.dataset.now = String(Math.round(now + fromS));
        draw();
        tell(isFinal);
    }

    function stop() {
        clearInterval(timer);
        timer = undefined;
        play.replaceChildren(drover.icon("play"));
        play.setAttribute("aria-label", t("Play"));
    }

    function toggle() {
        if (timer !== undefined) {
            stop();
            return tell(true);
        }
        if (now >= lengthS) go(0);
        play.replaceChildren(drover.icon("pause"));
        play.setAttribute("aria-label", t("Pause"));
        // In few steps for who wishes no motion.
        const every = isCalm ? 1000 : 100;
        timer = setInterval(() => {
            go(now + Number(pace.value) * every / 1000);
            if (now >= lengthS) {
                stop();
                tell(true);
            }
        }, every);
    }

    /** Once the map is there. @param {() => void} drawing @param {boolean} canDraw */
    function start(drawing, canDraw) {
        if (!tracks.size) return;
        if (!canDraw) {
            words.replaceChildren(...plain);
            words.hidden = false;
            return;
        }
        draw = drawing;
        find("replay-bar").hidden = false;
        if (asked.has("pace") && [...pace.options].some((option) => option.value === asked.get("pace"))) pace.value = asked.get("pace");
        play.addEventListener("click", toggle);
        pace.addEventListener("change", () => tell(true));
        slider.addEventListener("input", () => {
            stop();
            go(Number(slider.value));
        });
        slider.addEventListener("change", () => tell(true));
        slider.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
            if (event.key !== " ") return;
            event.preventDefault();
            toggle();
        });
        // What was asked for, else when the first of them told where it was.
        const first = Math.min(...[...tracks.values()].map((track) => track.at[0])) + startS - fromS;
        const at = Number(asked.get("at")) / 1000 - fromS;
        go(asked.has("at") && at >= 0 && at <= lengthS ? at : first, true);
    }

    /** Something is known of then, and shown. */
    const isPlayed = () => tracks.size > 0 && !find("replay-bar").hidden;

    return { read, placeOf, way, places, start, say, isPlayed, nowMs: () => (now + fromS) * 1000 };
})();
