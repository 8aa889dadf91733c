package import Alerts
internal import Basics
internal import Codecs
package import Fleet
internal import Postgres
internal import Presentation

/// The latest value of a signal beside what it is judged by, for a dial.
package struct VehicleGauge: Sendable {
    package let name: String
    /// In the reader's units, as are the limits and ends.
    package let value: Double
    package let unit: String
    package let low, high: Double
    package let limits: [SignalSeries.Limit]
    package let readMs: Int64

    /// The worst limit that is broken; nil: none is.
    package var broken: LineChart.Limit.Kind? {
        let kinds = limits.filter { $0.isBroken(by: value) }.map(\.kind)
        return kinds.contains(.critical) ? .critical : kinds.first
    }

    package var isJudged: Bool { limits.contains { $0.kind != .recommended } }
    /// The limit that is broken lies below what is good.
    package var isLow: Bool { limits.contains { $0.isLeast && $0.isBroken(by: value) } }

    /// What dials of healthy vehicles show, in the stored unit; widened for limits and values beyond.
    private static let ends: [String: (low: Double, high: Double)] = [
        "coolant_c": (40, 120), "hydraulic_oil_c": (20, 120), "tire_pressure_kpa": (0, 400), "fuel_level_gal": (0, 300),
        "speed_kmh": (0, 160), "rpm": (0, 6_000), "voltage_v": (10, 16), "load_pct": (0, 100),
        "fuel_level_pct": (0, 100),
    ]

    init(
        key: String, name: String, stored: Double, unit: String, limits: [SignalSeries.Limit], readMs: Int64,
        _ units: DriverSettings.Units
    ) {
        func shown(_ value: Double) -> Double { ShownValue(value, unit: unit, in: units).value }
        let ends = VehicleGauge.ends[key] ?? (0, 100)
        let all = limits.map(\.value) + [stored]
        let room = (ends.high - ends.low) * 0.1
        let (least, most) = (all.min()!, all.max()!)
        low = shown(least < ends.low ? least - room : ends.low)
        high = shown(most > ends.high ? most + room : ends.high)
        self.name = name
        value = shown(stored)
        self.unit = ShownValue(0, unit: unit, in: units).unit
        self.limits = limits.map { SignalSeries.Limit(value: shown($0.value), kind: $0.kind, isLeast: $0.isLeast) }
        self.readMs = readMs
    }

    /// Those that are judged come first.
    private static func sorted(_ gauges: [VehicleGauge]) -> [VehicleGauge] {
        gauges.filter(\.isJudged) + gauges.filter { !$0.isJudged }
    }
}

extension VehicleGauge {
    package static func of(
        _ machine: MachineDetail, _ latest: [MachineDetail.Value], _ units: DriverSettings.Units
    ) -> [VehicleGauge] {
        sorted(
            MachineDetail.charted.compactMap { parameter in
                let row = parameter.row
                guard let found = latest.first(where: { $0.name == row.name }),
                    case .number(let stored) = found.value
                else { return nil }
                let isLeast = machine.isJudgedFromBelow(parameter)
                return VehicleGauge(
                    key: row.key, name: row.name, stored: stored, unit: row.unit,
                    limits: machine.limits(parameter).map {
                        SignalSeries.Limit(value: $0.value, kind: $0.kind, isLeast: isLeast)
                    }, readMs: found.readMs, units)
            })
    }

    private static var ofCars: [(Signal, String)] {
        [
            (.speed, t("Speed")), (.coolant, t("Coolant temperature")), (.voltage, t("Voltage")),
            (.fuelLevel, t("Fuel level")), (.rpm, t("Engine speed")), (.engineLoad, t("Engine load")),
        ]
    }

    /// - Parameter settings: of who drives or owns it; nil: nobody's limits hold.
    package static func of(
        _ readings: [CarReading], _ settings: DriverSettings?, _ units: DriverSettings.Units
    ) -> [VehicleGauge] {
        sorted(
            ofCars.compactMap { signal, name in
                guard let reading = readings.last(where: { $0[signal] != nil }), let stored = reading[signal] else {
                    return nil
                }
                let row = signal.row
                return VehicleGauge(
                    key: row.key, name: name, stored: Double(stored) / Double(row.scale), unit: row.unit,
                    limits: settings.map { SignalSeries.limits(signal, $0) } ?? [], readMs: reading.ts, units)
            })
    }
}
