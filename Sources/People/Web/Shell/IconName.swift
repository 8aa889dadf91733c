/// The icons of `Assets/icons.svg`, by the id of their symbol.
enum IconName: String, CaseIterable {
    case home, map, bell, car, van, truck, bus, tractor, bike, trip, chart, line, query, ride, drive, dispatch
    case leaf, sighting, survey, tour, rule, pin, place, notify, people, cog, find, me, more, menu, up, down, left
    case right, open, close, check, checks, plus, minus, filter, sort, calendar, clock, timer, play, pause, back
    case forward, download, print, mail, phone, message, mute, snooze, wrench, fuel, speed, temp, oil, tyre, battery
    case engine, rpm, harsh, idle, parking, silent, signal, follow, locate, layers, expand, shrink, link, share
    case edit, trash, copy, info, help, warn, lock, eye, star, sun, moon, side, cost, flag, camera, photo, mic
    case headset, qr, offline, sync, walk, butterfly, tree, flower, sprout, wheat, rain, weather, school, work
    case shield, key, building, table, columns, drag, compass, history, scale, code, undo, wheelchair, luggage
    case person, out, globe, external, compare, gallery, list, mountain, target, bookmark, send, path, warehouse
    case snow, money, key2, circle, tag, plug
}
