"use strict";
// Pages that are kept as the fleet is now. The server says that there is news; the page is asked for again, with what is chosen
// in its form, and what has changed is put in the place of what was there.

const droverLive = (function () {
    // At least so long between two looks, and ten times as long as one takes: a large fleet's page is not asked for all the time.
    const pauseMs = 2000;
    const listeners = [];
    let askedMs = 0;
    let tookMs = 0;
    let isWaiting = false;
    let isStarted = false;

    function say(text) {
        const place = document.getElementById("live");
        if (place && place.textContent !== text) place.textContent = text;
    }

    /** Soon, and not more often than people read; not at all while nobody looks. */
    function news() {
        if (isWaiting || document.hidden) return;
        isWaiting = true;
        setTimeout(refresh, Math.max(0, askedMs + Math.max(pauseMs, 10 * tookMs) - Date.now()));
    }

    async function refresh() {
        askedMs = Date.now();
        try {
            const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
            // Logged out meanwhile: the log-in is another page. What is not there any more, or not for this reader, is not shown on.
            if (answer.redirected || [403, 404].includes(answer.status)) return location.reload();
            if (!answer.ok) return say(t("The server does not answer; what you see may be old."));
            const page = new DOMParser().parseFromString(await answer.text(), "text/html");
            for (const listener of listeners) listener(page);
        } catch {
            say(t("The server cannot be reached; what you see may be old."));
        } finally {
            tookMs = Date.now() - askedMs;
            isWaiting = false;
        }
    }

    /** Hears of news at this address, until the function that is returned is called. */
    function listen(address = "/v1/live", type = "fleet") {
        let events = null;
        let isClosed = false;
        const close = () => { isClosed = true; events.close(); };

        function open() {
            if (isClosed) return;
            events = new EventSource(address);
            events.onopen = () => say("");
            events.onerror = () => {
                say(t("Not live right now; trying again."));
                // Browsers try again by themselves, but not when they were refused: streams of pages that were just left count.
                if (events.readyState === EventSource.CLOSED) setTimeout(open, 5000);
            };
            events.addEventListener(type, news);
        }

        open();
        addEventListener("pagehide", close);
        if (!isStarted) {
            isStarted = true;
            document.addEventListener("visibilitychange", news);
            // A page that is shown again from the browser's memory.
            addEventListener("pageshow", (shown) => { if (shown.persisted) location.reload(); });
        }
        return close;
    }

    /** Puts the new content in the place of the old where they differ; who is on a link or button stays on it. */
    function replace(old, fresh) {
        if (!old || !fresh || old.outerHTML === fresh.outerHTML) return old;
        const active = old.contains(document.activeElement) ? document.activeElement : null;
        const link = active?.getAttribute("href"), id = active?.id;
        old.replaceWith(fresh);
        if (link) [...fresh.querySelectorAll("a")].find((each) => each.getAttribute("href") === link)?.focus();
        else if (id) [...fresh.querySelectorAll("[id]")].find((each) => each.id === id)?.focus();
        return fresh;
    }

    return { start: listen, news, onPage: (listener) => listeners.push(listener), refresh, replace };
})();
