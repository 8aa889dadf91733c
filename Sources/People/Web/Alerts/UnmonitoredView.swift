internal import Fleet
internal import Presentation
internal import Reports

/// Notes about vehicles that no rule judges, so that the absence of alerts does not pass for health.
enum UnmonitoredView {
    private static let namedMax = 10

    static func sentence(_ map: FleetMap) -> HTML {
        sentence(
            map.vehicles.compactMap { vehicle in
                vehicle.notMonitored.map { (vehicle.kind, vehicle.vehicle, vehicle.name, $0) }
            })
    }

    static func sentence(_ vehicles: [UnmonitoredVehicle]) -> HTML {
        sentence(vehicles.map { ($0.kind, $0.vehicle, $0.name, $0.reason) })
    }

    private static func sentence(
        _ vehicles: [(kind: VehicleKind, id: String, name: String?, reason: UnmonitoredReason)]
    )
        -> HTML
    {
        guard !vehicles.isEmpty else { return "" }
        let named: [HTML] = vehicles.prefix(namedMax).map { kind, id, name, reason in
            "<a href=\"/vehicles/\(encoded: id)?kind=\(kind.rawValue)\">\(name ?? id)</a> (\(reason.short))"
        }
        let (rest, list) = (vehicles.count - named.count, named.joined(separator: ", "))
        return rest > 0
            ? "\n<p class=\"not-monitored warning\">Not monitored: <span>\(list)</span> and \(rest) more.</p>"
            : "\n<p class=\"not-monitored warning\">Not monitored: <span>\(list)</span>.</p>"
    }
}
