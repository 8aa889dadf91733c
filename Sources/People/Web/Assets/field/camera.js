"use strict";
// Codes in the camera's picture or in a photo: by the browser's own detector, else by qr/decode.js. Nothing of a picture leaves the device.

const droverCamera = (function () {
    /** At most five looks a second, at no more of the picture than a sticker needs. */
    const lookMs = 200, lookSide = 640;
    const photoBytesMax = 40_000_000, photoSides = [1600, 800, 400];

    const pad = document.createElement("canvas");
    let reader = null, stream = null, timer = 0;

    /** Reads the code of a canvas; null: there is none. */
    async function makeReader(decoder) {
        const Detector = /** @type {any} */ (globalThis).BarcodeDetector;
        if (Detector) {
            try {
                if ((await Detector.getSupportedFormats()).includes("qr_code")) {
                    const detector = new Detector({ formats: ["qr_code"] });
                    return async (canvas) => (await detector.detect(canvas))[0]?.rawValue ?? null;
                }
            } catch {
                // It names itself and cannot: the decoder of ours can.
            }
        }
        const { decodeQR } = await import(decoder);
        return async (canvas) => {
            try {
                return decodeQR(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height));
            } catch {
                return null; // As it says that there is no code.
            }
        };
    }

    const readerOf = (decoder) => (reader ??= makeReader(decoder).catch((fault) => { reader = null; throw fault; }));

    /** Draws a picture onto a canvas, no side longer than that. */
    function draw(canvas, source, width, height, side) {
        const scale = Math.min(1, side / Math.max(width, height));
        canvas.width = Math.max(1, Math.round(width * scale));
        canvas.height = Math.max(1, Math.round(height * scale));
        canvas.getContext("2d", { willReadFrequently: true }).drawImage(source, 0, 0, canvas.width, canvas.height);
        return canvas;
    }

    /**
     * Shows the camera and tells each code that it sees.
     * @param {HTMLVideoElement} video
     */
    async function start(video, decoder, found) {
        stop(video);
        const size = { width: { ideal: 1280 }, height: { ideal: 720 } };
        stream = await navigator.mediaDevices.getUserMedia({ audio: false, video: { facingMode: { ideal: "environment" }, ...size } });
        video.srcObject = stream;
        await video.play();
        const read = await readerOf(decoder);
        const mine = stream;
        async function look() {
            if (stream !== mine) return;
            const startMs = performance.now();
            if (!document.hidden && !video.paused && video.videoWidth > 0) {
                try {
                    const code = await read(draw(pad, video, video.videoWidth, video.videoHeight, lookSide));
                    if (code && stream === mine && !video.paused) found(code);
                } catch {
                    // A frame that cannot be read: the next one may.
                }
            }
            // A slow device has as long a pause as it looked.
            timer = setTimeout(look, Math.max(lookMs, 2 * (performance.now() - startMs)));
        }
        look();
    }

    function stop(video) {
        clearTimeout(timer);
        for (const track of stream?.getTracks() ?? []) track.stop();
        stream = null;
        video.srcObject = null;
    }

    /** The code of a photo, which is shown on the canvas; null: there is none. */
    async function photo(file, canvas, decoder) {
        if (file.size > photoBytesMax) return null;
        const read = await readerOf(decoder), picture = await createImageBitmap(file);
        try {
            draw(canvas, picture, picture.width, picture.height, photoSides[0]);
            for (const side of photoSides) {
                const code = await read(draw(pad, picture, picture.width, picture.height, side));
                if (code) return code;
            }
            return null;
        } finally {
            picture.close();
        }
    }

    /** Not where a page came over plain HTTP from another machine. */
    const has = () => Boolean(navigator.mediaDevices?.getUserMedia);

    return { has, photo, start, stop };
})();
