"use strict";
// Names and ids are completed as they are typed: a list with `data-names` asks that address. What a list has already stays when
// there is no network.

(function completeNames() {
    const known = new Map();
    let timer = 0;

    /** Adds names to what a list offers. */
    function offer(list, names) {
        if (!known.has(list)) known.set(list, new Set());
        const had = known.get(list);
        for (const { name, about, common, species } of names) {
            if (had.has(name) || had.size >= 2000) continue;
            had.add(name);
            const option = document.createElement("option");
            option.value = name;
            if (about) option.label = about;
            // Of a species, what people call it; of what people call it, the species.
            if (common) option.dataset.common = common;
            if (species) option.dataset.species = species;
            list.append(option);
        }
    }

    async function look(list, text) {
        try {
            const answer = await fetch(list.dataset.names + encodeURIComponent(text));
            if (answer.ok) offer(list, (await answer.json()).names);
        } catch { /* Without a network: what was offered stays. */ }
    }

    document.addEventListener("input", (event) => {
        const field = event.target;
        if (!(field instanceof HTMLInputElement) || !field.list?.dataset.names) return;
        const { list } = field;
        clearTimeout(timer);
        const text = field.value.trim();
        if (text.length >= 2 && !known.get(list)?.has(text) && navigator.onLine) timer = setTimeout(() => look(list, text), 250);
    });
    window.droverNames = { offer };
})();
