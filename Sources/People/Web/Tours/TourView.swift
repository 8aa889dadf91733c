internal import Basics
internal import Codecs
internal import Fleet
internal import HTTPServer
internal import Presentation
internal import Reports
internal import Storage
internal import Tiles
internal import Tours

/// The panel's pages as HTML.
enum TourView {
    /// `2026-11-22 09:15` in the reader's zone.
    private static func time(_ ms: Int64, _ caller: PageCaller) -> HTML {
        // Any day will do: its calendar tells all times of the zone.
        let day = ZonedDay(date: "2026-01-01", zone: caller.zone) ?? ZonedDay(date: "2026-01-01", zone: "UTC")!
        return "<time datetime=\"\(UTC.text(ms))\">\(day.minute(ms))</time>"
    }

    static func list(_ drafts: [TourStore.Draft], _ caller: PageCaller, notice: String?) -> HTML {
        let rows = drafts.map { draft -> [HTML?] in
            [
                "<a href=\"/tours/\(draft.tour)\">\(draft.area)</a>",
                draft.version == 0 ? HTML.pill("quiet", t("Draft")) : .t("Version \(draft.version)"),
                "\(time(draft.changedMs, caller))<br><span class=\"soft\">\(draft.changedBy)</span>",
                "<a href=\"/tours/\(draft.tour)/preview\" aria-label=\"Preview of \(draft.area)\">Preview</a> <a href=\"/tours/\(draft.tour)/visits\" aria-label=\"Visits to \(draft.area)\">Visits</a>\(" <a href=\"/trail-tours/\(draft.tour)\" aria-label=\"Visitors’ page of \(draft.area)\">Visitors’ page</a>", if: draft.version > 0)",
            ]
        }
        let table = HTML.table(
            caption: t("All tours"),
            headers: [.word(t("Area")), .text(t("Published")), .word(t("Last changed")), .word(t("More"))],
            rows: rows, empty: t("No tours yet. Name an area to start one."), narrow: .cards)
        return """
            \(notice.map(HTML.fault))
            <div class="split">
            \(table)
            <section class="card" aria-labelledby="new-tour"><header><h2 id="new-tour">New tour</h2></header>
            <form class="body form" method="post" action="/tours">
            <input type="hidden" name="\(CSRFGuard.field)" value="\(caller.mark)">
            <div class="fld"><label for="area">Name of the area</label>
            <input id="area" name="area" type="text" maxlength="\(Tour.areaBytesMax)" required></div>
            <button class="btn primary">Create tour</button>
            </form></section>
            </div>
            """
    }

    /// - Parameter near: corners of the tour that was worked on last: an empty one begins there.
    static func editor(_ draft: TourStore.Draft, mark: String, near: Corners?, _ base: BaseMap) -> HTML {
        """
        \(links(draft, here: "edit"))
        <noscript><p class="critical">The editor needs scripts. Turn them on, or use another browser.</p></noscript>
        <div id="editor" data-tour="\(draft.tour)" data-form="\(mark)" data-near="\(near.map { $0.southWest.text + " " + $0.northEast.text } ?? "")">
        <p id="said" role="status"></p>
        <div class="beside">
        <div>
        <div id="map" class="map" role="region" aria-label="Map of the tour; every place can also be typed" \(base.attributes)></div>
        <fieldset class="tools"><legend>Click on the map to</legend>
        <label class="check"><input type="radio" name="click" value="look"> look around</label>
        <label class="check"><input type="radio" name="click" value="waypoint" checked> add a waypoint</label>
        <label class="check"><input type="radio" name="click" value="track"> draw the trail</label>
        </fieldset>
        <p class="tools"><button type="button" id="frame" class="quiet">Use this view as the frame</button>
        <button type="button" id="see" class="quiet">Show the whole tour</button>
        <button type="button" id="here" class="quiet">Go to where I am</button>
        <button type="button" id="undo" class="quiet">Remove last point</button>
        <button type="button" id="clear" class="quiet">Remove trail</button></p>
        </div>
        <div>
        <div class="fields">
        <label for="area">Name of the area</label>
        <input id="area" type="text" maxlength="\(Tour.areaBytesMax)">
        <label for="text">About the tour</label>
        <textarea id="text" rows="4" maxlength="\(Tour.textBytesMax)"></textarea>
        <fieldset class="corners"><legend>The map's frame, in degrees</legend>
        <label for="south">South</label><input id="south" type="number" step="any" min="-90" max="90">
        <label for="north">North</label><input id="north" type="number" step="any" min="-90" max="90">
        <label for="west">West</label><input id="west" type="number" step="any" min="-180" max="180">
        <label for="east">East</label><input id="east" type="number" step="any" min="-180" max="180">
        </fieldset>
        \(zoom(base))
        <label for="gpx">Trail from a GPX file</label>
        <input id="gpx" type="file" accept=".gpx,application/gpx+xml">
        <p id="trail" class="soft"></p>
        </div>
        </div>
        </div>
        <h2 id="waypoints-title">Waypoints</h2>
        <p id="walk" class="soft"></p>
        <ol id="waypoints" class="waypoints" aria-labelledby="waypoints-title"></ol>
        <p class="tools"><button type="button" id="add">Add a waypoint at the map’s centre</button></p>
        <h2>Walking order</h2>
        <p class="tools"><label class="check"><input type="checkbox" id="round"> Back to the first waypoint</label>
        <button type="button" id="propose" class="quiet">Find the shortest order</button>
        <button type="button" id="accept" hidden>Use this order</button></p>
        <p id="proposal" role="status"></p>
        <h2>Save and publish</h2>
        <ul id="missing" class="soft"></ul>
        <p class="tools"><button type="button" id="save" class="btn">Save</button>
        <button type="button" id="publish" class="btn primary">Publish</button></p>
        <p id="published" role="status"></p>
        </div>
        """
    }

    static func preview(
        _ draft: TourStore.Draft, _ tour: Tour, _ types: [String: String], _ base: BaseMap
    ) -> HTML {
        let metres = WalkingOrder.metres(tour.waypoints.map(\.place), isRound: false)
        let items: [HTML] = tour.waypoints.map { waypoint in
            let media = waypoint.media.enumerated().map { number, name in
                medium(draft.tour, name, types[name] ?? "", t("\(number + 1) of \(waypoint.title)"))
            }.joined()
            return """
                <li data-place="\(waypoint.place.text)"><h2>\(waypoint.title)</h2>
                \(paragraphs(waypoint.text))
                \(media)</li>
                """
        }
        let line = tour.track.map(\.text).joined(separator: " ")
        let frame = tour.corners.map { $0.southWest.text + " " + $0.northEast.text } ?? ""
        return """
            \(links(draft, here: "preview"))
            \(paragraphs(tour.text))
            <p class="soft">\(tour.waypoints.count) waypoints, \(Decimal.text(Int64((metres / 10).rounded()), decimals: 2)) km in straight lines, \
            about \(WalkingOrder.minutes(metres: metres)) min at \(Int(WalkingOrder.kmh)) km/h without stops.</p>
            <div id="map" class="map" role="region" aria-label="Map of the tour" data-frame="\(frame)" data-line="\(line)" \(base.attributes)></div>
            <ol id="waypoints" class="waypoints">
            \(items.joined(separator: "\n"))
            </ol>
            """
    }

    static func visits(
        _ draft: TourStore.Draft, _ days: [TourEventStore.DayRow], _ titles: [String: String]
    ) -> HTML {
        let table = HTML.table(
            caption: t("Downloads and visits by day"),
            headers: [.word(t("Date")), .text(t("What")), .text(t("Waypoint")), .number(t("Count"))],
            rows: days.map { day in
                [
                    .text(day.date), day.kind == .visit ? .t("visits") : .t("downloads"),
                    .text(day.kind == .visit ? titles[day.waypoint] ?? day.waypoint : ""), "\(day.events)",
                ]
            }, empty: t("No downloads or visits yet."))
        return """
            \(links(draft, here: "visits"))
            <p class="soft">As visitors’ phones report, once they have a network again.</p>
            \(table)
            """
    }

    /// The zoom of the map that phones take along.
    private static func zoom(_ base: BaseMap) -> HTML {
        guard let tiles = base.tiles else {
            return
                "<p class=\"soft\">Phones get the trail on a coarse map: this server has no street map.</p>"
        }
        let most = min(tiles.zooms.upperBound, Tour.mapZooms.upperBound)
        return """
            <label for="zoom">Finest map zoom on phones (up to \(most))</label>
            <input id="zoom" type="number" min="0" max="\(Tour.mapZooms.upperBound)" step="1">
            """
    }

    private static func links(_ draft: TourStore.Draft, here: String) -> HTML {
        let pages = [
            ("edit", "", t("Edit")), ("preview", "/preview", t("Preview")), ("visits", "/visits", t("Visits")),
        ]
        let tabs: [HTML] = pages.map {
            "<a href=\"/tours/\(draft.tour)\($0.1)\"\(" aria-current=\"page\"", if: $0.0 == here)>\($0.2)</a>"
        }
        return "<nav class=\"tabs\" aria-label=\"The tour\">\(tabs.joined())</nav>"
    }

    private static func medium(_ tour: String, _ name: String, _ type: String, _ title: String) -> HTML {
        let address = "/tours/\(tour)/media/\(name)"
        return type.hasPrefix("video/")
            ? "<video controls preload=\"metadata\" src=\"\(address)\" aria-label=\"Film \(title)\"></video>"
            : "<img src=\"\(address)\" alt=\"Picture \(title)\" loading=\"lazy\">"
    }

    static func paragraphs(_ text: String) -> HTML {
        text.split(whereSeparator: \.isNewline).map { "<p>\(String($0))</p>" }.joined(separator: "\n")
    }
}
