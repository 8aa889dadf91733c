internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports

/// The fleet's map, and a list beside it that says the same: the script makes its markers from the rows.
struct FleetMapView {
    let map: FleetMap
    let search, group: String
    let state: String
    let caller: PageCaller
    let nowMs: Int64

    func html(_ base: BaseMap) -> HTML {
        """
        <h1>Fleet map</h1>
        \(filter)
        <p><span id="count" role="status">\(shown.count) of \(map.vehicles.count) vehicles shown.</span> <span class="soft" id="updated">Last updated \(caller.clock.second(nowMs)), times are \(caller.clock.zone).</span> <span class="soft" id="live"></span></p>
        \(isCut ? "<p class=\"warning\">There are more than \(FleetMap.vehiclesMax) vehicles: search, or choose a group.</p>" : "")
        <div class="beside">
        <div id="map" class="map" role="region" aria-label="Map of the vehicles; the list says the same" \(base.attributes)></div>
        <div id="vehicles" class="scroll" role="region" aria-label="List of the vehicles" tabindex="0">
        <table>
        <thead><tr><th scope="col">Vehicle</th><th scope="col">State</th><th scope="col">Alerts</th><th scope="col">Last heard of</th><th scope="col">Place</th></tr></thead>
        <tbody>
        \(shown.map(row).joined(separator: "\n"))
        </tbody>
        </table>
        </div>
        </div>
        """
    }

    private var isCut: Bool { map.vehicles.count == Int(FleetMap.vehiclesMax) }

    private var shown: [FleetMap.Vehicle] {
        map.vehicles.filter { vehicle in
            switch state {
            case "": true
            case "alert": vehicle.openAlerts > 0
            default: vehicle.state.rawValue == state
            }
        }
    }

    /// Works without script, too: the server filters.
    private var filter: HTML {
        let states =
            [("", "all")] + VehicleState.allCases.map { ($0.rawValue, $0.rawValue) } + [("alert", "with alerts")]
        let groups = [("", "all")] + map.groups.map { ($0, $0) }
        return """
            <form class="filter" method="get" action="/map" role="search">
            <div><label for="search">Name or id</label><input id="search" name="search" type="search" maxlength="64" value="\(search)"></div>
            <div><label for="state">State</label><select id="state" name="state">\(HTML.options(states, state))</select></div>
            <div><label for="group">Group</label><select id="group" name="group">\(HTML.options(groups, group))</select></div>
            <button>Show</button>
            </form>
            """
    }

    private func row(_ vehicle: FleetMap.Vehicle) -> HTML {
        let name = vehicle.name ?? vehicle.vehicle
        let about = [vehicle.name == nil ? nil : vehicle.vehicle, vehicle.model].compactMap { $0 }.joined(
            separator: ", ")
        let place = vehicle.position.map { position in
            [position.latitude, position.longitude].map { short(Decimal.text(Int64($0), decimals: 7), 5) ?? "" }
        }
        let speed = vehicle.speedMilliKmh.map { milli -> String in
            let shown = caller.units.shown(Int64(milli), unit: "km/h")
            return ", \(short(Decimal.text(shown.value, decimals: 3), 0) ?? "") \(shown.unit)"
        }
        let isStale = vehicle.positionMs.map { nowMs - $0 > VehicleState.silentMs } ?? false
        let age: HTML = vehicle.positionMs.map { ", <span class=\"soft\">\(Age.text($0, nowMs: nowMs))</span>" } ?? ""
        let sign = FleetMapView.signs[vehicle.state]!
        return """
            <tr data-vehicle="\(vehicle.kind.rawValue)/\(vehicle.vehicle)" data-state="\(vehicle.state.rawValue)" data-severity="\(vehicle.severity?.rawValue ?? "")"\(isStale ? " data-stale" : "") data-place="\(place?.joined(separator: " ") ?? "")">\
            <th scope="row"><a href="/vehicles/\(encoded: vehicle.vehicle)?kind=\(vehicle.kind.rawValue)">\(name)</a>\
            \(about.isEmpty ? "" : "<br><span class=\"soft\">\(about)</span>")</th>\
            <td><span class="state \(vehicle.state.rawValue)"><span aria-hidden="true">\(sign)</span> \(vehicle.state.rawValue)</span>\(speed ?? "")</td>\
            <td>\(alerts(vehicle))</td>\
            <td class="k">\(vehicle.lastMs.map(caller.clock.html) ?? "never")</td>\
            <td class="k\(isStale ? " stale" : "")">\(place.map { "\($0.joined(separator: ", "))\(age)" } ?? "not known")</td></tr>
            """
    }

    private func alerts(_ vehicle: FleetMap.Vehicle) -> HTML {
        let unmonitored: HTML? = vehicle.notMonitored.map {
            "<span class=\"warning\">not monitored</span>: \($0.short)"
        }
        guard vehicle.openAlerts > 0 else { return unmonitored ?? "none" }
        return
            "\(unmonitored.map { "\($0)<br>" })<span class=\"\(vehicle.severity?.rawValue ?? "warning")\">\(vehicle.openAlerts), worst \(vehicle.severity?.rawValue ?? "")</span>"
    }

    /// A shape for each state: colour alone does not tell.
    private static let signs: [VehicleState: String] = [.moving: "▲", .idling: "●", .parked: "P", .silent: "?"]
}
