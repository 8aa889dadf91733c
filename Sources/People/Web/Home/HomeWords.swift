internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports

extension AlertRow {
    /// `Coolant temperature`
    var subject: String { AlertWords.sentence(parameter) }

    /// `Coolant temperature 98.5 °C, limit 95 °C`
    func said(_ units: DriverSettings.Units) -> String {
        guard let worst = worst(units) else { return title }
        return ["\(subject) \(worst.text)", limitWords(units)].compactMap { $0 }.joined(separator: ", ")
    }

    var icon: IconName {
        let name = parameter.lowercased()
        let icons: [(String, IconName)] = [
            ("oil", .oil), ("temperature", .temp), ("tire", .tyre), ("fuel", .fuel), ("volt", .battery),
            ("gps", .signal),
            ("report", .silent), ("speed", .speed), ("rpm", .rpm), ("hours", .wrench), ("code", .engine),
        ]
        return test == .absent ? .silent : icons.first { name.contains($0.0) }?.1 ?? .warn
    }
}

extension VehicleKind {
    /// A vehicle's icon, where nothing tells more of it.
    var icon: IconName {
        switch self {
        case .car: .car
        case .machine: .tractor
        }
    }
}
