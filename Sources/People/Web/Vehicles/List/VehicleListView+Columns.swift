internal import Alerts
internal import Fleet
internal import Presentation
internal import Reports

/// What each column of the list of vehicles says, on the page and in its CSV.
extension VehicleListView {
    enum Column: String, CaseIterable {
        case state, own = "class", model, tags, days, heard, alerts, id, kind

        var name: String {
            switch self {
            case .state: t("State")
            case .own: t("Class")
            case .model: t("Model")
            case .tags: t("Tags")
            case .days: t("14 days")
            case .heard: t("Last heard")
            case .alerts: t("Open alerts")
            case .id: t("Id")
            case .kind: t("Kind")
            }
        }
    }

    /// - Parameter isDealer: they have a class of their own for each machine.
    static func columns(isDealer: Bool) -> [ColumnChoice.Column] {
        Column.allCases.filter { isDealer || $0 != .own }.map {
            ColumnChoice.Column(key: $0.rawValue, name: $0.name, isStandard: ![.alerts, .id, .kind].contains($0))
        }
    }

    var shown: [Column] { columns.shown.compactMap { Column(rawValue: $0.key) } }

    func head(_ column: Column) -> HTML {
        switch column {
        case .state: head(column.name, "alerts", isDown: true)
        case .own: head(column.name, "class")
        case .model: head(column.name, "model")
        case .heard: head(column.name, "heard", isDown: true)
        case .id: head(column.name, "vehicle")
        case .alerts: "<th scope=\"col\" class=\"num\">\(column.name)</th>"
        case .days:
            "<th scope=\"col\" title=\"\(caller.units == .us ? t("Miles a day of cars, engine hours a day of machines, by UTC days") : t("Kilometres a day of cars, engine hours a day of machines, by UTC days"))\">\(column.name)</th>"
        case .tags, .kind: "<th scope=\"col\">\(column.name)</th>"
        }
    }

    func cells(_ row: VehicleListRow) -> HTML {
        let tone = row.alert == nil ? "" : row.alert!.severity.rawValue
        let small: HTML = row.name == nil || columns.has("id") ? "" : "<small>\(row.vehicle)</small>"
        return """
            <td class="head"><span class="cell">\(select(row))<span class="ic s \(tone)">\(HTML.icon(row.kind == .machine ? .tractor : .car))</span>\
            <span><a class="name" href="/vehicles/\(encoded: row.vehicle)?kind=\(row.kind.rawValue)">\(row.name ?? row.vehicle)</a>\(small)</span></span></td>\
            \(shown.map { cell($0, row) }.joined())\
            <td class="num\(" off", if: !mayConnect)">\(connect(row))<a class="btn small icon ghost" aria-label="\(row.name ?? row.vehicle) on the map" \
            href="/map?search=\(encoded: row.vehicle)">\(HTML.icon(.pin))</a></td>
            """
    }

    private func cell(_ column: Column, _ row: VehicleListRow) -> HTML {
        switch column {
        case .state: return "<td data-l=\"\(t("State"))\">\(standing(row))</td>"
        case .own: return classCell(row)
        case .model: return "<td data-l=\"\(t("Model"))\">\(row.model ?? "–")</td>"
        case .tags:
            let common: [HTML] = row.tags.map { "<a class=\"tag\" href=\"/vehicles?tag=\(encoded: $0)\">\($0)</a>" }
            return "<td class=\"off\">\((common + row.ownTags.map(DealerWords.tag)).joined(separator: " "))</td>"
        case .days: return "<td data-l=\"\(t("14 days"))\" class=\"nowrap days\">\(picture(row))</td>"
        case .heard:
            let heard: HTML =
                row.lastMs.map { HTML.relativeTime($0, nowMs, caller.clock) } ?? "<span class=\"faint\">never</span>"
            return "<td data-l=\"\(t("Heard"))\" class=\"nowrap\">\(heard)</td>"
        case .alerts: return "<td data-l=\"\(t("Open alerts"))\" class=\"num\">\(row.openAlerts)</td>"
        case .id: return "<td data-l=\"\(t("Id"))\" class=\"nowrap\">\(row.vehicle)</td>"
        case .kind: return "<td data-l=\"\(t("Kind"))\">\(row.kind == .car ? t("Car") : t("Machine"))</td>"
        }
    }

    /// A bar a day, and what they come to.
    private func picture(_ row: VehicleListRow) -> HTML {
        guard let days = days.of(row.kind, row.vehicle) else { return "<span class=\"faint\">–</span>" }
        let total = VehicleDays.total(days, row.kind, caller.units)
        let number = GroupedNumber.short(total.value, total.value < 100 ? 1 : 0)
        return """
            <span class="cell">\(HTML.bars(values: days, tone: row.isSilent ? .quiet : .accent, width: 84, height: 24))\
            <span>\(number)<span class="u"> \(total.unit)</span></span></span>
            """
    }

    private func standing(_ row: VehicleListRow) -> HTML {
        if row.isDisabled { return HTML.pill("quiet", t("Disabled")) }
        let unmonitored: HTML =
            row.notMonitored.map {
                "\(HTML.pill("quiet", t("Not monitored"))) <span class=\"faint small\">\($0.short)</span>"
            } ?? ""
        guard let alert = row.alert else {
            if row.notMonitored != nil { return unmonitored }
            return row.isSilent ? HTML.pill("silent", t("Silent")) : HTML.pill("ok", t("Fine"))
        }
        let more: HTML = row.openAlerts > 1 ? " <span class=\"faint small\">and \(row.openAlerts - 1) more</span>" : ""
        let pill =
            alert.isDueSoon
            ? HTML.pill("service", t("\(alert.parameter): due soon"))
            : HTML.pill(alert.severity.rawValue, alert.words(caller.units))
        return
            "<a href=\"/alerts/\(encoded: alert.id)\">\(pill)</a>\(more)\(unmonitored.isEmpty ? "" : " " + unmonitored)"
    }

    /// What is shown, for a spreadsheet; the name and id of the vehicle are always there.
    var csvText: String {
        func cell(_ text: String) -> String {
            // A text that begins so would be a formula.
            let safe = text.first.map { "=+-@\t\r".contains($0) } == true ? "'" + text : text
            return "\"" + safe.replacing("\"", with: "\"\"") + "\""
        }
        let shown = self.shown.flatMap { VehicleListView.files[$0, default: []] }.reduce(into: [String]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        // A dealer's own tags stand beside the common ones, which are the owner's.
        let own = own != nil && columns.has("tags") ? ["own_tags"] : []
        let names = shown + own
        let heads = ["kind", "vehicle", "name"] + names
        let lines = rows.map { row in
            ([row.kind.rawValue, row.vehicle, row.name ?? ""] + names.map { value($0, row) }).map(cell).joined(
                separator: ",")
        }
        return ([heads.joined(separator: ",")] + lines).map { $0 + "\r\n" }.joined()
    }

    /// The names in files of what a column says.
    private static let files: [Column: [String]] = [
        .state: ["open_alerts", "worst_severity", "worst_alert", "not_monitored"], .own: ["own_class"],
        .model: ["model"], .tags: ["tags"], .days: ["km_14_days", "engine_hours_14_days"], .heard: ["last_heard"],
        .alerts: ["open_alerts"],
    ]

    private func value(_ name: String, _ row: VehicleListRow) -> String {
        func total(_ kind: VehicleKind) -> String {
            guard row.kind == kind, let days = days.of(kind, row.vehicle) else { return "" }
            return ShownValue(days.reduce(0, +), unit: nil, in: .metric).number
        }
        switch name {
        case "open_alerts": return String(row.openAlerts)
        case "worst_severity": return row.alert?.severity.rawValue ?? ""
        case "worst_alert": return row.alert?.parameter ?? ""
        case "not_monitored": return row.notMonitored?.rawValue ?? ""
        case "model": return row.model ?? ""
        case "tags": return row.tags.joined(separator: " ")
        case "own_class": return row.ownClass ?? ""
        case "own_tags": return row.ownTags.joined(separator: " ")
        case "km_14_days": return total(.car)
        case "engine_hours_14_days": return total(.machine)
        default: return row.lastMs.map(caller.clock.machine) ?? ""
        }
    }
}
