internal import Fleet
internal import Presentation
internal import Reports

/// What people call places of a campus: its dispatchers add them by a tap on the map, rename and remove them.
struct PlacesView: Sendable {
    let campus: String
    let settings: CampusSettings
    let caller: PageCaller
    /// As it was typed.
    var typed: [String: String] = [:]
    var notice: FormView.Notice?
    /// The last change is on the log but not decided yet: the page reloads by itself.
    var isUndecided = false

    var path: String { "/dispatch/\(URLText.escaped(campus))/places" }

    var heading: PageHeading {
        PageHeading(
            t("Places of \(settings.name)"), crumb: (t("Dispatch"), "/dispatch?campus=\(URLText.escaped(campus))"))
    }

    func html(_ base: BaseMap) -> HTML {
        let places = settings.places ?? []
        let rows: [[HTML?]] = places.map(row)
        return """
            \(CampusTextView.notice(notice))
            \(isUndecided ? "<p role=\"status\" class=\"soon\" data-again=\"\(path)\">Sent. One moment …</p>" : "")
            <div class="beside">
            <div>
            \(add(places.count))
            \(HTML.table(
                caption: t("Places"), headers: [.text(t("Name")), .text(t("Where")), .text("")], rows: rows,
                empty: t("No places yet. Riders choose them by name: add the library, the gates, the car park.")))
            </div>
            \(CampusTextView.map(base, settings, label: t("Map of the campus and its places; the list says the same")))
            </div>
            """
    }

    private func hidden(_ act: PlaceChange.Act) -> HTML {
        caller.hidden([
            ("key", CampusPageRoutes.newKey()), ("base", String(settings.placesVersion)), ("act", act.rawValue),
        ])
    }

    private func add(_ count: Int) -> HTML {
        """
        <section class="card"><header><h2>Add a place</h2><span class="soft end">\(t("\(count) of \(CampusPlace.countMax)"))</span></header><div class="body">
        <form class="fields" method="post" action="\(path)" id="place">
        \(hidden(.add))
        <p class="soft">Tap the map where it is, and give it the name that people use.</p>
        <label for="name">Name</label><input id="name" name="name" type="text" maxlength="\(CampusPlace.nameBytesMax)" required autocomplete="off" value="\(typed["name"] ?? "")">
        \(CampusTextView.coordinates("", latitude: t("Latitude, degrees"), longitude: t("Longitude, degrees"), typed))
        <p class="tools" hidden><button type="button" class="quiet" data-here="">Use my position</button></p>
        <button class="btn primary">Add place</button></form></div></section>
        """
    }

    private func row(_ place: CampusPlace) -> [HTML?] {
        let outside = PlaceChange.metresOutside(place.place, settings)
        let mark: HTML =
            outside < 0.01
            ? ""
            : "<br><span class=\"warning\">\(t("\(CampusTextView.distance(outside, caller)) outside the campus"))</span>"
        let mine = CampusTextView.mark("●", place.name, place.place, kind: "stop", short: place.name)
        return [
            """
            <form class="row" method="post" action="\(path)">\(hidden(.rename))\(FormView.hidden("was", place.name))\
            <input name="name" type="text" maxlength="\(CampusPlace.nameBytesMax)" required autocomplete="off" aria-label="\(t("Name of \(place.name)"))" value="\(place.name)">\
            <button class="quiet" aria-label="\(t("Rename \(place.name)"))">Rename</button></form>
            """,
            "<span \(mine)>\(CampusTextView.degrees(place.place))</span>\(mark)",
            """
            <form class="one" method="post" action="\(path)">\(hidden(.remove))\(FormView.hidden("was", place.name))\
            <button class="quiet" aria-label="\(t("Remove \(place.name)"))">Remove</button></form>
            """,
        ]
    }
}
