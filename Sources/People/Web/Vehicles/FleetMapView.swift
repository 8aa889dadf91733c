internal import Alerts
internal import Basics
internal import Fleet
internal import Formats
internal import Presentation
internal import Reports

/// The fleet's map, and a list beside it: the worst first. The script draws what `places` says.
struct FleetMapView {
    /// Search and the chips find the rest.
    static let listedMax = 200

    let map: FleetMap
    let search, group: String
    /// A state, `alert`, or empty for all.
    let state: String
    let caller: PageCaller
    let nowMs: Int64
    /// Nil: the map is as now.
    var replay: FleetReplayView?

    /// Beside the page's title.
    var status: HTML {
        """
        <span id="count" class="faint small" role="status">\(count)</span> \
        <span id="updated" class="faint small hide-phone">as of \(caller.clock.second(nowMs)), \(caller.clock.zone)</span> \
        <span id="live" class="small"></span>
        """
    }

    func html(_ base: BaseMap) -> HTML {
        """
        <div class="mapview">
        <section class="side" aria-label="Vehicles">
        <button type="button" class="grab" id="taller" aria-expanded="false" aria-label="Show more of the list" hidden></button>
        \(find)
        <div id="vehicles" class="list" role="region" aria-label="List of the vehicles" tabindex="0">
        \(list)
        </div>
        </section>
        <div id="map" class="map" role="region" aria-label="Map of the vehicles; the list has the same" \
        data-vehicles-from="/map/vehicles" \(base.attributes)>
        <nav class="filters" id="states" aria-label="Show">\(chips)</nav>
        <p id="nothing" class="mapkey none" role="status"></p>
        <article id="one" class="card onecard" aria-live="polite" hidden></article>
        \(replay?.bar)
        </div>
        </div>
        """
    }

    private var isCut: Bool { map.vehicles.count == Int(FleetMap.placesMax) }

    private var count: String {
        let (all, few) = (map.vehicles.count, shown.count)
        let whole =
            isCut ? t("\(GroupedNumber.text(all)) or more vehicles") : caller.words.count(all, .vehicle)
        return few == all ? whole : t("\(GroupedNumber.text(few)) of \(whole)")
    }

    private var shown: [FleetMap.Vehicle] { map.vehicles.filter(fits) }

    private func fits(_ vehicle: FleetMap.Vehicle) -> Bool {
        switch state {
        case "": true
        case "alert": vehicle.openAlerts > 0
        default: vehicle.state.rawValue == state
        }
    }

    // MARK: What is looked for

    private var find: HTML {
        let groups: HTML =
            map.groups.isEmpty
            ? ""
            : """
            <label class="sr" for="group">Group</label><select id="group" name="group" class="box">\
            \(HTML.options([("", t("All groups"))] + map.groups.map { ($0, $0) }, group))</select>
            """
        return """
            <form id="filter" class="head" method="get" action="/map" role="search">
            <label class="sr" for="search">Find a vehicle</label><div class="in">\(HTML.icon(.find))<input id="search" class="q" name="search" \
            type="search" maxlength="64" placeholder="Find by name or id" autocomplete="off" value="\(search)"></div>
            \(groups)
            \(state.isEmpty ? "" : FormView.hidden("state", state))\(played.map(FormView.hidden).joined())
            <button class="btn small" id="show">Show</button>
            </form>
            """
    }

    /// Each a link: they work without script, too.
    private var chips: HTML {
        let states = VehicleState.allCases.map { (state: $0.rawValue, dot: HTML($0.dot), words: $0.inLine) }
        let kinds = [(state: "alert", dot: HTML("critical"), words: t("need attention"))] + states
        return kinds.map { kind in
            let number = map.vehicles.count {
                kind.state == "alert" ? $0.openAlerts > 0 : $0.state.rawValue == kind.state
            }
            let isChosen = kind.state == state
            return """
                <a class="chip" href="\(address(state: isChosen ? "" : kind.state))" data-state="\(kind.state)"\
                \(" aria-current=\"true\"", if: isChosen)><i class="dot \(kind.dot)"></i><b>\(GroupedNumber.text(number))</b> \(kind.words)</a>
                """
        }.joined(separator: "\n")
    }

    /// What stays in the address while another time is shown.
    private var played: [(String, String)] {
        replay.map { [("from", String($0.span.lowerBound)), ("until", String($0.span.upperBound))] } ?? []
    }

    private func address(state: String) -> HTML {
        let asked = [("search", search), ("group", group), ("state", state)].filter { !$0.1.isEmpty } + played
        guard !asked.isEmpty else { return "/map" }
        return "/map?\(asked.map { "\($0.0)=\(encoded: $0.1)" as HTML }.joined(separator: "&amp;"))"
    }

    // MARK: The list

    private enum Part: Int, CaseIterable {
        case attention, moving, idling, parked, silent

        var name: HTML {
            switch self {
            case .attention: .t("Need attention")
            case .moving: .t("Moving")
            case .idling: .t("Idling")
            case .parked: .t("Parked")
            case .silent: .t("Silent")
            }
        }
    }

    private static func part(_ vehicle: FleetMap.Vehicle) -> Part {
        if vehicle.severity != nil { return .attention }
        return switch vehicle.state {
        case .moving: .moving
        case .idling: .idling
        case .parked: .parked
        case .silent: .silent
        }
    }

    private var list: HTML {
        guard !shown.isEmpty else { return empty }
        // Names are sorted by the query; the sort keeps their order.
        let worst = shown.filter { $0.severity == .critical } + shown.filter { $0.severity == .warning }
        let quiet = shown.filter { $0.severity == nil }
        var left = FleetMapView.listedMax
        var parts: [HTML] = []
        for part in Part.allCases {
            let members = part == .attention ? worst : quiet.filter { FleetMapView.part($0) == part }
            guard !members.isEmpty, left > 0 else { continue }
            let items = members.prefix(left).map(item).joined(separator: "\n")
            left -= members.prefix(left).count
            parts.append(
                "<h2 class=\"grp\">\(part.name)<span class=\"count\">\(GroupedNumber.text(members.count))</span></h2>\n\(items)"
            )
        }
        let more = shown.count - FleetMapView.listedMax
        let rest: HTML =
            more > 0
            ? "\n<div class=\"empty\"><b>\(GroupedNumber.text(more)) more</b><p>Type a name, or choose a state or group.</p></div>"
            : ""
        return "\(parts.joined(separator: "\n"))\(rest)"
    }

    private var empty: HTML {
        let isFiltered = !search.isEmpty || !group.isEmpty || !state.isEmpty
        return isFiltered
            ? HTML.emptyState(
                .find, t("No vehicle fits"), .t("Try another word, or clear the filters."),
                action: "<a class=\"btn small\" href=\"/map\">Show all</a>")
            : HTML.emptyState(
                .car, t("No vehicles yet"),
                .t("Vehicles appear here with their first reading, or once they are added."),
                action: "<a class=\"btn small\" href=\"/vehicles\">Vehicles</a>")
    }

    private func item(_ vehicle: FleetMap.Vehicle) -> HTML {
        let severity = vehicle.severity?.rawValue ?? ""
        let place =
            vehicle.position.map { "\(FleetMapView.degrees($0.latitude)) \(FleetMapView.degrees($0.longitude))" } ?? ""
        return """
            <a class="item" href="/vehicles/\(encoded: vehicle.vehicle)?kind=\(vehicle.kind.rawValue)" data-vehicle="\(vehicle.kind.rawValue)/\(vehicle.vehicle)" \
            data-state="\(vehicle.state.rawValue)" data-severity="\(severity)" data-place="\(place)">\
            <span class="ic \(severity)">\(HTML.icon(vehicle.kind == .machine ? .tractor : .car))</span>\
            <span class="ell"><b class="ell">\(vehicle.name ?? vehicle.vehicle)</b><small class="ell">\(about(vehicle))</small></span>\
            \(end(vehicle))</a>
            """
    }

    /// The line below the name.
    private func about(_ vehicle: FleetMap.Vehicle) -> HTML {
        let heard = vehicle.lastMs.map { caller.words.age($0, nowMs: nowMs) } ?? t("not heard of yet")
        if vehicle.openAlerts > 0 {
            let open = t(
                vehicle.openAlerts, one: "\(vehicle.openAlerts) open alert", many: "\(vehicle.openAlerts) open alerts")
            return "\(open) · \(vehicle.state.inLine), \(heard)"
        }
        if let reason = vehicle.notMonitored { return .t("Not monitored: \(reason.short)") }
        let unknown = vehicle.position == nil ? t("no position yet") : nil
        return HTML([unknown, vehicle.model, heard].compactMap { $0 }.joined(separator: " · "))
    }

    /// The right end: what is worst, else how fast, else the state.
    private func end(_ vehicle: FleetMap.Vehicle) -> HTML {
        if let severity = vehicle.severity { return HTML.severity(severity) }
        if vehicle.state == .moving, let speed = speed(vehicle) {
            return
                "<span class=\"nowrap\"><b class=\"inline\">\(speed.value)</b><span class=\"u\"> \(speed.unit)</span></span>"
        }
        return HTML.state(vehicle.state)
    }

    private func speed(_ vehicle: FleetMap.Vehicle) -> (value: String, unit: String)? {
        vehicle.speedMilliKmh.map { milli in
            let shown = caller.units.shown(Int64(milli), unit: "km/h")
            return (short(Decimal.text(shown.value, decimals: 3), 0) ?? "", shown.unit)
        }
    }

    /// To a metre.
    private static func degrees(_ value: Int32) -> String { short(Decimal.text(Int64(value), decimals: 7), 5) ?? "" }

    // MARK: What the script draws

    /// A list for each vehicle, in the order of `fields`.
    var places: JSONValue {
        let fields = ["id", "name", "icon", "state", "severity", "at", "course", "group", "speed", "heard", "alerts"]
        return .object([
            ("count", .text(count)), ("is_cut", .bool(isCut)), ("fields", .list(fields.map { .text($0) })),
            ("vehicles", .list(map.vehicles.map(fields(of:)))),
        ])
    }

    private func fields(of vehicle: FleetMap.Vehicle) -> JSONValue {
        func degrees(_ value: Int32) -> JSONValue { .number(FleetMapView.degrees(value)) }
        let at: JSONValue = vehicle.position.map { .list([degrees($0.longitude), degrees($0.latitude)]) } ?? .null
        return .list([
            .text("\(vehicle.kind.rawValue)/\(vehicle.vehicle)"), .text(vehicle.name ?? vehicle.vehicle),
            .text(vehicle.kind == .machine ? "tractor" : "car"), .text(vehicle.state.rawValue),
            .text(vehicle.severity?.rawValue ?? ""), at, vehicle.courseDeg.map { .integer(Int64($0)) } ?? .null,
            .text(vehicle.groups.first ?? ""), speed(vehicle).map { .text("\($0.value) \($0.unit)") } ?? .null,
            vehicle.lastMs.map { .integer($0) } ?? .null, .integer(Int64(vehicle.openAlerts)),
        ])
    }
}
