internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports
internal import Storage

/// Rides in words, and what the pages' map is drawn from: the script (Sources/People/Web/Assets/campus/campus.js) draws each element with `data-mark`
/// or `data-way`, so that map and text say the same.
enum CampusTextView {
    /// As people read a ride's state.
    static func state(_ state: RideState) -> String {
        switch state {
        case .queued: t("waiting")
        case .assigned: t("a vehicle is coming")
        case .onBoard: t("on board")
        case .done: t("done")
        case .ended: t("ended before arrival")
        case .cancelled: t("cancelled")
        case .expired: t("given up: no vehicle in time")
        case .refused: t("refused")
        }
    }

    /// What people call it, else its address, else where it lies.
    static func place(_ address: String?, _ place: Position, _ names: PlaceNames) -> String {
        names.at(place) ?? address ?? degrees(place)
    }

    /// Five decimals are about a metre.
    static func degrees(_ place: Position) -> String {
        let rounded = place.rounded(decimals: 5)
        return Decimal.text(Int64(rounded.latitude), decimals: 7) + ", "
            + Decimal.text(Int64(rounded.longitude), decimals: 7)
    }

    /// For `data-place`: `38.9 -77.05`.
    static func data(_ place: Position) -> String { place.text.replacing(",", with: " ") }

    static func data(_ places: [Position]) -> String { places.map(data).joined(separator: ",") }

    /// The attributes of an element that the map shows as a sign.
    /// - Parameter short: stands beside the sign; nil: nothing does.
    static func mark(_ sign: String, _ name: String, _ place: Position, kind: String, short: String? = nil) -> HTML {
        let shown: HTML? = short.map { " data-short=\"\($0)\"" }
        return
            "data-mark=\"\(sign)\" data-kind=\"\(kind)\" data-name=\"\(name)\" data-place=\"\(data(place))\"\(shown)"
    }

    static func passengers(_ count: Int) -> String { t(count, one: "\(count) passenger", many: "\(count) passengers") }

    static func distance(_ metres: Double, _ caller: PageCaller) -> String {
        switch caller.units {
        case .us where metres < 161: t("\(Int((metres / 0.3048 / 10).rounded()) * 10) ft")
        case .metric where metres < 995: t("\(Int((metres / 10).rounded()) * 10) m")
        case .us, .metric: ShownValue(metres / 1_000, unit: "km", in: caller.units).text
        }
    }

    /// `in 4 min, at 09:15`; of a time that is over, `at 09:15`.
    static func expected(_ ms: Int64, _ caller: PageCaller, nowMs: Int64) -> HTML {
        let at: HTML =
            "<time datetime=\"\(UTC.text(ms))\">\(String(caller.clock.second(ms).prefix(5)))</time>"
        let minutes = (ms - nowMs + 30_000) / 60_000
        guard ms > nowMs else { return "<span>at \(at)</span>" }
        return minutes < 1
            ? "<span>in less than a minute, at \(at)</span>" : "<span>in \(minutes) min, at \(at)</span>"
    }

    /// The arrival, by a vehicle that is silent.
    static func unknown(_ seenMs: Int64, _ caller: PageCaller, nowMs: Int64) -> HTML {
        "<span class=\"stale\">not known: the vehicle was last heard of \(caller.words.age(seenMs, nowMs: nowMs))</span>"
    }

    /// Positions are stale after an hour even where plans accept any age, as on a played day.
    private static let oldMs: Int64 = 3_600_000

    /// Ticks make a vehicle silent; where none come, its age alone says so.
    static func isStale(_ seenMs: Int64, isSilent: Bool, _ settings: CampusSettings?, nowMs: Int64) -> Bool {
        isSilent || nowMs - seenMs > (settings?.staleMs ?? oldMs)
    }

    /// `6 min 40 s`
    static func span(_ seconds: Double?) -> String? {
        seconds.map { seconds in
            let whole = Int(seconds.rounded())
            return whole < 60 ? t("\(whole) s") : t("\(whole / 60) min \(whole % 60) s")
        }
    }

    static func photo(_ photo: String?, of name: String, _ campus: String) -> HTML {
        guard let photo else { return "" }
        let address = "/campus-photos/\(URLText.escaped(campus))/\(URLText.escaped(photo))"
        return
            "<img class=\"face\" src=\"\(address)\" alt=\"Photo of \(name)\" width=\"64\" height=\"64\">"
    }

    /// A form of one button.
    static func button(
        _ action: String, _ text: String, _ caller: PageCaller, id: String, label: String? = nil,
        fields: [(String, String)] = [], isQuiet: Bool = false
    ) -> HTML {
        let hidden = ([(CSRFGuard.field, caller.mark)] + fields).map { FormView.hidden($0, $1) }.joined()
        let said: HTML = label.map { " aria-label=\"\($0)\"" } ?? ""
        return
            "<form class=\"one\" method=\"post\" action=\"\(action)\">\(hidden)<button id=\"\(id)\"\(said)\(isQuiet ? " class=\"quiet\"" : "")>\(text)</button></form>"
    }

    /// A place to be typed; the script fills it in from the map or the device. `latitude` and `longitude` are the labels.
    static func coordinates(
        _ prefix: String, latitude: String, longitude: String, _ fields: [String: String]
    ) -> HTML {
        func input(_ name: String, _ label: String) -> HTML {
            let value = fields[prefix + name] ?? ""
            return
                "<div><label for=\"\(prefix)\(name)\">\(label)</label><input id=\"\(prefix)\(name)\" name=\"\(prefix)\(name)\" type=\"text\" inputmode=\"decimal\" maxlength=\"20\" autocomplete=\"off\" value=\"\(value)\"></div>"
        }
        return
            "<div class=\"pair\">\(input("latitude_deg", latitude))\(input("longitude_deg", longitude))</div>"
    }

    /// Of a vehicle.
    static func coordinates(_ fields: [String: String]) -> HTML {
        coordinates(
            "", latitude: t("Latitude of the vehicle, degrees"), longitude: t("Longitude of the vehicle, degrees"),
            fields)
    }

    static func notice(_ notice: FormView.Notice?) -> HTML { notice.map(HTML.notice) ?? "" }

    /// The map of a page, with the campus on it.
    static func map(_ base: BaseMap, _ settings: CampusSettings?, label: String) -> HTML {
        "<div id=\"map\" class=\"map\" role=\"region\" aria-label=\"\(label)\" \(base.attributes) data-boundary=\"\(data(settings?.boundary ?? []))\"></div>"
    }

    /// The time of the page's data, and whether it is live.
    static func updated(_ caller: PageCaller, nowMs: Int64) -> HTML {
        "<p class=\"soft\"><span id=\"updated\" data-live>Last updated \(caller.clock.second(nowMs)), times are \(caller.clock.zone).</span> <span id=\"live\"></span></p>"
    }

    /// The form for one's photo; the script sends it.
    static func photoForm(_ person: RideRecord.Person, _ campus: String, _ role: PersonRole, _ caller: PageCaller)
        -> HTML
    {
        """
        <details><summary>Your name and photo</summary>
        <p>\(photo(person.photo, of: person.name, campus)) \(role == .rider ? "<span>\(person.name), as your driver sees you.</span>" : "<span>\(person.name), as your riders see you.</span>")</p>
        <form class="fields" data-photo="/campus-photo?role=\(role.rawValue)" data-mark-of-form="\(caller.mark)">
        <label for="photo">Another photo: JPEG, PNG or WebP, at most 512 KiB</label><input id="photo" type="file" accept="image/jpeg,image/png,image/webp" required>
        <button>Keep this photo</button> <span role="status"></span></form>
        </details>
        """
    }
}
