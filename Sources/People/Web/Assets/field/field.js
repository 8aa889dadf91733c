"use strict";
// One machine as it is now, in panels to swipe through; found by the sticker that the camera sees; and as it was last where there is no network.
(function () {
    const point = document.getElementById("point"), asOf = document.getElementById("asof");
    const isOffline = point?.hasAttribute("data-offline") ?? false;
    const calm = matchMedia("(prefers-reduced-motion: reduce)");

    /** Ages grow also where nobody tells. */
    function age() {
        for (const time of document.querySelectorAll("time[data-ago]")) time.textContent = drover.ago(Date.parse(time.dateTime));
        if (asOf?.dataset.ms) asOf.querySelector(".grow").textContent = t("As of %1, no network.", drover.ago(Number(asOf.dataset.ms)));
    }

    /** That what is shown is old; null: it is not. */
    function sayAge(keptMs) {
        if (!asOf) return;
        if (keptMs === null) delete asOf.dataset.ms;
        else asOf.dataset.ms = String(keptMs);
        if (keptMs !== null) asOf.replaceChildren(drover.icon("offline"), drover.element("span", { class: "grow" }));
        asOf.hidden = keptMs === null;
        age();
    }

    // MARK: Panels

    function panels(field) {
        const box = field?.querySelector(".panels"), all = [...(box?.querySelectorAll(".panel") ?? [])];
        if (!box || !all.length) return;
        const links = [...field.querySelectorAll(".flick nav a")], steps = [...field.querySelectorAll("[data-step]")];
        const at = () => {
            const left = box.getBoundingClientRect().left;
            const far = all.map((panel) => Math.abs(panel.getBoundingClientRect().left - left));
            // Scrolled to the end, the last one is meant where several are side by side.
            if (box.scrollLeft > 0 && box.scrollLeft >= box.scrollWidth - box.clientWidth - 1) return all.length - 1;
            return far.indexOf(Math.min(...far));
        };
        const go = (index) => {
            const panel = all[Math.min(Math.max(index, 0), all.length - 1)];
            const left = panel.offsetLeft - box.offsetLeft;
            box.scrollTo({ left, behavior: calm.matches ? "auto" : "smooth" });
        };
        const mark = () => {
            const now = at();
            links.forEach((link, index) => (index === now ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
            for (const step of steps) step.disabled = now + Number(step.dataset.step) < 0 || now + Number(step.dataset.step) >= all.length;
        };
        links.forEach((link, index) => link.addEventListener("click", (event) => { event.preventDefault(); go(index); }));
        for (const step of steps) step.addEventListener("click", () => go(at() + Number(step.dataset.step)));
        field.querySelector(".steps").hidden = false;
        box.addEventListener("scroll", () => requestAnimationFrame(mark), { passive: true });
        box.addEventListener("keydown", (event) => {
            if (event.target !== box) return;
            const to = { ArrowLeft: at() - 1, ArrowRight: at() + 1, Home: 0, End: all.length - 1 }[event.key];
            if (to === undefined) return;
            event.preventDefault();
            go(to);
        });
        mark();
    }

    /** The same with news, at the panel where the reader is. */
    function renew(old, fresh) {
        if (!old || !fresh) return;
        const left = old.querySelector(".panels")?.scrollLeft ?? 0;
        // Without what changes by itself, so that an age alone replaces nothing.
        const plain = (field) => {
            const copy = field.cloneNode(true);
            for (const time of copy.querySelectorAll("time[data-ago]")) time.textContent = "";
            for (const each of copy.querySelectorAll("#live, .steps, .flick nav")) each.remove();
            return copy.outerHTML;
        };
        if (plain(old) === plain(fresh)) return;
        const shown = droverLive.replace(old, fresh);
        panels(shown);
        const box = shown.querySelector(".panels");
        if (box) box.scrollLeft = left;
    }

    // MARK: One machine's page

    function machinePage() {
        const field = document.getElementById("field");
        droverLive.onPage((page) => {
            const reader = page.querySelector("[data-account]")?.getAttribute("data-account") ?? null;
            // Somebody else logged in meanwhile, in another tab: what is theirs is not kept as the first one's.
            if (reader !== droverKept.account) return location.reload();
            const fresh = page.getElementById("field");
            droverKept.keep(fresh);
            droverLive.replace(document.querySelector(".top .slot.status"), page.querySelector(".top .slot.status"));
            renew(document.getElementById("field"), fresh);
        });
        droverLive.start();
        addEventListener("offline", () => sayAge(Date.now()));
        addEventListener("online", () => { sayAge(null); droverLive.news(); });
        panels(field);
        droverKept.keep(field);
        droverKept.keepFrame();
    }

    // MARK: Pointing at one

    const part = (id) => document.getElementById(id);

    function say(words, isLoud = false) {
        const place = part("said");
        if (place.textContent !== words) place.textContent = words;
        place.classList.toggle("loud", isLoud);
    }

    /** What stands on a sticker: a machine, something to look for, or nothing of ours. */
    function understood(text) {
        const code = text.replace(/\s+/g, " ").trim();
        if (/^https?:\/\//i.test(code)) {
            if (!URL.canParse(code)) return { fault: t("This code cannot be read.") };
            const address = new URL(code);
            if (![location.host, point.dataset.site].includes(address.host)) return { fault: t("This code is not of this site: it leads to %1. Nothing was opened.", address.host.slice(0, 80)) };
            const machine = /^\/field\/([A-Za-z0-9._-]{1,64})$/.exec(address.pathname)?.[1];
            return machine ? { machine } : { fault: t("This code is not a machine's sticker.") };
        }
        if (!code || new TextEncoder().encode(code).length > 64) return { fault: t("This code is not a machine's sticker.") };
        return { code };
    }

    /** Turns rise: an answer that comes after a later question is not shown. */
    let turn = 0, seen = "", seenMs = 0;

    function show(field, keptMs) {
        if (!field) return;
        for (const each of field.querySelectorAll("#live")) each.remove();
        const found = part("found"), over = part("over");
        const sight = field.querySelector(".sight");
        const isPicture = !part("video").hidden || !part("still").hidden;
        over.replaceChildren();
        found.replaceChildren(field);
        // Over the picture where there is one, else above the panels.
        if (isPicture && sight) over.append(sight);
        found.hidden = false;
        panels(field);
        sayAge(keptMs);
        say(`${field.dataset.name}: ${sight?.querySelector(".verdict")?.textContent ?? ""}`);
    }

    const fetched = (address, accept) => {
        const patience = AbortSignal.timeout ? { signal: AbortSignal.timeout(8000) } : {};
        return fetch(address, { headers: { Accept: accept }, ...patience });
    };

    /** The answer and its text; nothing where there is no network. */
    async function asked(address, accept) {
        try {
            const answer = isOffline ? null : await fetched(address, accept);
            return { answer, text: (await answer?.text()) ?? "" };
        } catch {
            return { answer: null, text: "" };
        }
    }

    async function showMachine(id, mine) {
        const { answer, text } = await asked(`/field/${encodeURIComponent(id)}`, "text/html");
        if (mine !== turn) return;
        if (!answer || answer.status >= 500) {
            const kept = await droverKept.machine(id);
            if (mine !== turn) return;
            return kept?.field ? show(kept.field, kept.keptMs) : say(t("%1 was not kept on this device, and there is no network.", id), true);
        }
        if (answer.status === 404) {
            droverKept.forget(id);
            return say(t("There is no such machine that you may see."), true);
        }
        const field = answer.ok && !answer.redirected ? droverKept.part(text, false) : null;
        if (!field) return say(t("You are logged out. Reload this page to log in."), true);
        droverKept.keep(field);
        show(field, null);
    }

    async function showNamed(code, mine) {
        const { answer, text } = await asked(`/v1/field-view?code=${encodeURIComponent(code)}`, "application/json");
        if (mine !== turn) return;
        if (answer?.status === 401 || answer?.status === 403) return say(t("You are logged out. Reload this page to log in."), true);
        const machines = answer?.ok ? JSON.parse(text).machines : null;
        if (!machines) {
            const kept = await droverKept.named(code);
            if (mine !== turn) return;
            return kept ? show(kept.field, kept.keptMs) : say(t("No machine with %1 was kept on this device, and there is no network.", code), true);
        }
        if (machines.length === 1) return showMachine(machines[0].vehicle, mine);
        if (!machines.length) return say(t("No machine that you may see has %1 on it.", code), true);
        const items = machines.map((each) => drover.element("li", {},
            drover.element("a", { class: "item", href: `/field/${encodeURIComponent(each.vehicle)}` }, drover.element("b", {}, each.name ?? each.vehicle))));
        part("found").replaceChildren(drover.element("ul", { class: "plain card" }, ...items));
        part("found").hidden = false;
        say(t("Several machines have that on them. Which one is it?"));
    }

    function identify(text) {
        const { machine, code, fault } = understood(text);
        const mine = ++turn;
        if (fault) return say(fault, true);
        say(t("Looking it up …"));
        return machine ? showMachine(machine, mine) : showNamed(code, mine);
    }

    /** The camera sees a code many times: one of three seconds ago is the same one. */
    function sighted(text) {
        if (text === seen && Date.now() - seenMs < 3000) { seenMs = Date.now(); return; }
        [seen, seenMs] = [text, Date.now()];
        identify(text);
    }

    function picture(isVideo, isPhoto) {
        part("video").hidden = !isVideo;
        part("still").hidden = !isPhoto;
        part("scene").classList.toggle("live", isVideo || isPhoto);
        document.querySelector("#scene .frame").hidden = !isVideo;
        part("freeze").hidden = !isVideo;
        part("shut").hidden = !isVideo && !isPhoto;
        part("open").hidden = isVideo;
    }

    function camera() {
        const video = part("video"), open = part("open"), freeze = part("freeze"), decoder = point.dataset.decoder;
        const shut = () => {
            const sight = part("over").querySelector(".sight"), field = part("found").querySelector(".field");
            if (sight && field) field.prepend(sight);
            droverCamera.stop(video);
            freeze.setAttribute("aria-pressed", "false");
            picture(false, false);
            seen = "";
        };
        part("scene").hidden = false;
        open.hidden = !droverCamera.has();
        if (open.hidden) say(t("This browser offers no camera here. Use a photo, or type what stands on the machine."));
        open.addEventListener("click", async () => {
            open.disabled = true;
            try {
                picture(true, false);
                // Before the first look: what that says stays.
                say(t("Point the camera at the sticker on a machine."));
                await droverCamera.start(video, decoder, sighted);
                freeze.focus();
            } catch (fault) {
                shut();
                say(fault.name === "NotAllowedError"
                    ? t("The camera is not allowed for this page. Allow it in the browser's settings, use a photo, or type what stands on the machine.")
                    : t("The camera cannot be opened. Use a photo, or type what stands on the machine."), true);
            } finally {
                open.disabled = false;
            }
        });
        freeze.addEventListener("click", () => {
            const isFrozen = freeze.getAttribute("aria-pressed") !== "true";
            freeze.setAttribute("aria-pressed", String(isFrozen));
            if (isFrozen) video.pause();
            else video.play();
        });
        part("shut").addEventListener("click", () => { shut(); open.focus(); });
        part("photo").addEventListener("change", async (event) => {
            const [file] = event.target.files;
            event.target.value = "";
            if (!file) return;
            shut();
            picture(false, true);
            say(t("Looking for a code in the photo …"));
            try {
                const code = await droverCamera.photo(file, part("still"), decoder);
                if (code) await identify(code);
                else say(t("No code in this photo. Take it closer to the sticker, or type what stands on the machine."), true);
            } catch {
                picture(false, false);
                say(t("The browser cannot read this file as a picture."), true);
            }
        });
        addEventListener("pagehide", shut);
    }

    /** The machines of the list, one after the other: a page of fifty is as many questions. */
    function taking() {
        const button = part("take");
        if (!button || droverKept.account === null || !("caches" in window)) return;
        button.hidden = false;
        button.addEventListener("click", async () => {
            button.disabled = true;
            const links = [...document.querySelectorAll("#machines a[data-machine]")];
            let count = 0;
            try {
                await droverKept.keepFrame();
                for (const link of links) {
                    const answer = await fetched(link.getAttribute("href"), "text/html");
                    const field = answer.ok && !answer.redirected ? droverKept.part(await answer.text(), false) : null;
                    if (field) { await droverKept.keep(field); count += 1; }
                    button.lastChild.textContent = t("%1 of %2 kept", count, links.length);
                }
                drover.toast(tn(count, "%1 machine is kept on this device.", "%1 machines are kept on this device."));
            } catch {
                drover.toast(t("The network was lost: %1 of %2 are kept.", count, links.length));
            } finally {
                button.disabled = false;
            }
        });
    }

    async function keptList() {
        const all = (await droverKept.all()).filter((each) => each.field), box = part("kept");
        if (!box || !all.length) return;
        const items = all.map(({ field, keptMs }) => {
            const small = drover.element("small", {}, drover.element("time", { datetime: new Date(keptMs).toISOString(), "data-ago": "" }));
            const words = drover.element("span", {}, drover.element("b", {}, field.dataset.name), small);
            const button = drover.element("button", { class: "item", type: "button" }, words);
            button.addEventListener("click", () => identify(field.dataset.machine));
            return drover.element("li", {}, button);
        });
        box.querySelector("ul").replaceChildren(...items);
        box.hidden = false;
        age();
    }

    function pointPage() {
        camera();
        taking();
        part("typed").addEventListener("submit", (event) => {
            event.preventDefault();
            identify(part("code").value);
        });
        if (!isOffline) { droverKept.keepFrame(); return; }
        keptList();
        const named = /^\/field\/([^/]+)$/.exec(location.pathname)?.[1];
        if (named) identify(decodeURIComponent(named));
        // As soon as there is a network again, the page itself is. A device says so too early, and not at all where only the server was away.
        const back = () => fetched(location.pathname, "text/html").then(() => location.reload(), () => setTimeout(back, 5000));
        if (navigator.onLine) setTimeout(back, 5000);
        else addEventListener("online", back, { once: true });
    }

    setInterval(age, 10_000);
    age();
    if (point) pointPage();
    else machinePage();
})();
