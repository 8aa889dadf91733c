"use strict";
// Names of species are completed as they are typed: what the page knows already stays when there is no network.

(function completeNames() {
    const list = document.getElementById("taxa");
    if (!list) return;
    const known = new Set();
    let timer = 0;

    /** Adds names to what is offered. */
    function offer(names) {
        for (const name of names) {
            if (known.has(name) || known.size >= 2000) continue;
            known.add(name);
            const option = document.createElement("option");
            option.value = name;
            list.append(option);
        }
    }

    async function look(text) {
        try {
            const answer = await fetch("/sightings/names?search=" + encodeURIComponent(text));
            if (answer.ok) offer((await answer.json()).taxa.flatMap((taxon) => [taxon.name, taxon.given]));
        } catch { /* Without a network: what was offered stays. */ }
    }

    document.addEventListener("input", (event) => {
        if (!("taxa" in event.target.dataset)) return;
        clearTimeout(timer);
        const text = event.target.value.trim();
        if (text.length >= 2 && !known.has(text) && navigator.onLine) timer = setTimeout(() => look(text), 250);
    });
    window.droverTaxa = { offer };
})();
