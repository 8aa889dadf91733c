"use strict";
// The button that has this browser told of alerts, where the browser can.

(function () {
    const form = document.getElementById("push");
    const said = document.getElementById("push-said");
    if (!form) return;
    if (!("serviceWorker" in navigator) || !("PushManager" in window)) {
        said.textContent = t("This browser cannot receive pushes. On an iPhone, put this page on the home screen first.");
        return;
    }
    form.hidden = false;

    function bytes(text) {
        const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
        return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
    }

    function add(name, value) {
        const field = document.createElement("input");
        field.type = "hidden";
        field.name = name;
        field.value = value;
        form.append(field);
    }

    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        said.textContent = t("Asking this browser …");
        try {
            if (await Notification.requestPermission() !== "granted") {
                said.textContent = t("This browser may not show notices: allow it in its settings for this page.");
                return;
            }
            await navigator.serviceWorker.register("/push-worker.js");
            const worker = await navigator.serviceWorker.ready;
            const subscription = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(form.dataset.key) });
            const { endpoint, keys } = subscription.toJSON();
            if (!keys) throw new Error(t("it gave no keys"));
            add("endpoint", endpoint);
            add("p256dh", keys.p256dh);
            add("auth", keys.auth);
            add("agent", navigator.userAgent);
            form.submit();
        } catch (fault) {
            said.textContent = t("This browser’s push service cannot be reached: %1", fault.message);
        }
    });
})();
