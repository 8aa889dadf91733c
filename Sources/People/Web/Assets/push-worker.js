"use strict";
// Shows what is pushed, and opens the page that it is about.

self.addEventListener("push", (event) => {
    const told = event.data ? event.data.json() : {};
    // One that comes twice replaces itself.
    event.waitUntil(self.registration.showNotification(told.title || "Drover", { body: told.body || "", tag: told.id, data: told.open || "/alerts" }));
});

self.addEventListener("notificationclick", (event) => {
    event.notification.close();
    event.waitUntil(self.clients.openWindow(event.notification.data));
});
