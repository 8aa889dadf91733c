"use strict";
// A photo of a machine: made small before it is sent, so that it is quick over a phone's network. What it holds beside the picture goes, too.
(function () {
    const label = document.getElementById("photo"), said = document.getElementById("photo-said");
    const input = label?.querySelector("input");
    if (!label || !said || !input) return;
    const sidePx = 1280, qualities = [0.85, 0.7, 0.5], bytesMax = 512 * 1024;

    function tell(/** @type {string} */ words) {
        said.textContent = words;
        said.hidden = false;
    }

    /** As a JPEG that is small enough; nothing where it cannot be made so. */
    async function small(/** @type {File} */ file) {
        const picture = await createImageBitmap(file);
        const share = Math.min(1, sidePx / Math.max(picture.width, picture.height));
        const canvas = drover.element("canvas", { width: `${Math.round(picture.width * share)}`, height: `${Math.round(picture.height * share)}` });
        canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
        for (const quality of qualities) {
            const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", quality));
            if (blob && blob.size <= bytesMax) return blob;
        }
        return null;
    }

    async function send(/** @type {File} */ file) {
        tell(t("Sending…"));
        try {
            const body = await small(file).catch(() => null);
            if (!body) return tell(t("This photo cannot be read. Choose a JPEG, PNG or WebP file."));
            const answer = await fetch(label.dataset.address ?? "", {
                method: "POST", body, headers: { "X-Drover-Form": label.dataset.mark ?? "", "Content-Type": "image/jpeg", Accept: "application/json" },
            });
            if (answer.ok) return location.reload();
            const problem = await answer.json().catch(() => null);
            tell(problem?.detail ?? t("The photo was not saved. Reload the page and try again."));
        } catch {
            tell(t("The server cannot be reached. Try again."));
        }
    }

    label.hidden = false;
    input.addEventListener("change", () => { if (input.files?.[0]) send(input.files[0]); });
})();
