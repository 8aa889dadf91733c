internal import Alerts
internal import Basics
internal import Fleet
package import Presentation

/// The words of a message, for one account: in its units and its local time. Pure.
package struct NoticeText: Sendable {
    /// Lines beyond that are counted by vehicle, and are on the pages.
    static let linesMax = 100

    let lines: [NoticeLine]
    let account: NoticeAccount
    let isDaily: Bool
    /// The public address of the pages, without a slash at the end; empty: not known.
    let site: String
    /// Acknowledges what asks for it; nil: nothing does, or there is no key for such links.
    let link: String?
    let nowMs: Int64
    private let clock: PersonClock

    package init(
        _ lines: [NoticeLine], _ account: NoticeAccount, isDaily: Bool, site: String, link: String?, nowMs: Int64
    ) {
        // Critical alerts first, then by vehicle, then by time.
        self.lines = lines.sorted {
            ($0.alert.isCritical ? 0 : 1, $0.alert.vehicle, $0.alert.openedMs, $0.notice.id)
                < ($1.alert.isCritical ? 0 : 1, $1.alert.vehicle, $1.alert.openedMs, $1.notice.id)
        }
        self.account = account
        self.isDaily = isDaily
        self.site = site
        self.link = link
        self.nowMs = nowMs
        clock = PersonClock(zone: account.zone)
    }

    private var vehicles: Int { Set(lines.map(\.alert.vehicle)).count }

    // MARK: Subject

    package var subject: String {
        guard !isDaily else {
            return "\(NoticeText.many(lines.count, "alert")) of \(NoticeText.many(vehicles, "vehicle")) until "
                + clock.minute(nowMs)
        }
        let words = Set(lines.map { word($0) })
        let head = words.count == 1 ? "[\(words.first!)] " : lines.contains { $0.alert.isCritical } ? "[critical] " : ""
        if lines.count == 1 { return head + name(lines[0].alert) + ": " + what(lines[0].alert) }
        return head + "\(NoticeText.many(lines.count, "alert")) of "
            + (vehicles == 1 ? name(lines[0].alert) : NoticeText.many(vehicles, "vehicle"))
    }

    /// For a small screen: what a push shows.
    package var short: String {
        lines.prefix(3).map { "\(name($0.alert)): \(what($0.alert))" }.joined(separator: "\n")
            + (lines.count > 3 ? "\nand \(lines.count - 3) more" : "")
    }

    private func word(_ line: NoticeLine) -> String {
        switch line.notice.occasion {
        case .repeated: "still open"
        case .escalated: "nobody acknowledged"
        case .resolved: "over"
        case .corrected: "corrected"
        case .withdrawn: "taken back"
        case .opened, .worse: line.alert.isOpen ? line.alert.severity.rawValue : "over"
        }
    }

    private func name(_ alert: NoticeAlert) -> String {
        alert.vehicleName.isEmpty || alert.vehicleName == alert.vehicle
            ? alert.vehicle : "\(alert.vehicleName) (\(alert.vehicle))"
    }

    private func what(_ alert: NoticeAlert) -> String {
        guard let value = alert.worstValue ?? alert.openingValue, !isFlag(alert) else {
            let status = MachineParameter.lastReprogrammingStatus
            return alert.isOfFlag && alert.parameter == status.row.name
                ? "\(alert.parameter): \(status.word(false))" : alert.parameter
        }
        return "\(alert.parameter) \(shown(value, alert))"
    }

    // MARK: Text

    package var text: String {
        var text = account.name.isEmpty ? "" : "For \(account.name).\n\n"
        for line in lines.prefix(NoticeText.linesMax) {
            text += "\(word(line).uppercased())  \(name(line.alert)): \(what(line.alert))\n"
            for (key, value) in facts(line) { text += "  \(key): \(value)\n" }
            text += "\n"
        }
        for (vehicle, count) in rest { text += "\(vehicle): \(NoticeText.many(count, "more alert"))\n" }
        if !rest.isEmpty { text += "\n" }
        if let link {
            text += "I take care of it (acknowledges all that is open here, good for three days):\n\(link)\n\n"
        }
        if !site.isEmpty { text += "All alerts: \(site)/alerts\nWhat you are told, and when: \(site)/notices\n" }
        return text
    }

    package var html: HTML {
        let rest: [HTML] = rest.map { "<li>\($0.vehicle): \(NoticeText.many($0.count, "more alert"))</li>" }
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>\(subject)</title></head>\
            <body style="font-family:system-ui,sans-serif;font-size:16px;line-height:1.4;color:#1c2128;background:#ffffff">\
            <h1 style="font-size:20px">\(subject)</h1>\(lines.prefix(NoticeText.linesMax).map(block).joined())\
            \("<ul>\(rest.joined())</ul>", if: !rest.isEmpty)\(link.map(button))\(foot, if: !site.isEmpty)\
            </body></html>

            """
    }

    private func block(_ line: NoticeLine) -> HTML {
        let colour = line.alert.isOpen ? line.alert.isCritical ? "#a40e26" : "#7a4b00" : "#3d444d"
        let what: HTML = "\(name(line.alert)): \(what(line.alert))"
        let title: HTML = site.isEmpty ? what : "<a href=\"\(site)/alerts/\(encoded: line.alert.id)\">\(what)</a>"
        return """
            <div style="border-left:4px solid \(colour);padding:2px 0 2px 12px;margin:0 0 16px">\
            <p style="margin:0;color:\(colour);font-weight:600">\(word(line))</p>\
            <h2 style="margin:2px 0 6px;font-size:17px">\(title)</h2>\
            <table style="border-collapse:collapse;font-size:15px">\(facts(line).map { row($0.key, $0.value) }.joined())</table></div>
            """
    }

    private func row(_ key: String, _ value: String) -> HTML {
        """
        <tr><th style="text-align:left;font-weight:400;padding:2px 12px 2px 0;vertical-align:top">\(key)</th>\
        <td style="padding:2px 0">\(value)</td></tr>
        """
    }

    private func button(_ link: String) -> HTML {
        """
        <p><a href="\(link)" style="display:inline-block;background:#0b5c8a;color:#ffffff;padding:10px 16px;\
        text-decoration:none;border-radius:6px">I take care of it</a></p>\
        <p style="font-size:13px">Acknowledges all that is open here. Good for three days, once.</p>
        """
    }

    private var foot: HTML {
        """
        <p style="font-size:13px"><a href="\(site)/alerts">All alerts</a> · \
        <a href="\(site)/notices">What you are told, and when</a></p>
        """
    }

    private func facts(_ line: NoticeLine) -> [(key: String, value: String)] {
        let (alert, notice) = (line.alert, line.notice)
        var facts: [(key: String, value: String)] = []
        if !alert.model.isEmpty, alert.kind == .machine { facts.append(("model", alert.model)) }
        if let threshold = alert.threshold, !isFlag(alert) {
            facts.append(("alert when", "\(alert.test.rawValue) \(shown(threshold, alert))"))
        }
        if let rule = alert.rule { facts.append(("rule", rule)) }
        if let worst = alert.worstValue, !isFlag(alert) { facts.append(("worst", shown(worst, alert))) }
        facts.append(("since", clock.minute(alert.openedMs)))
        if let resolved = alert.resolvedMs { facts.append(("until", clock.minute(resolved))) }
        switch notice.occasion {
        case .withdrawn: facts.append(("now", "late readings show that it was not so"))
        case .corrected: facts.append(("now", "as it stands here: late readings changed what was told before"))
        case .escalated: facts.append(("why you", "\(notice.relation.rawValue): \(notice.reason)"))
        case .repeated: facts.append(("why again", notice.reason))
        case .opened, .worse, .resolved: break
        }
        if alert.isOpen, let by = alert.acknowledgedBy { facts.append(("acknowledged by", by)) }
        if alert.isOpen, let recommended = alert.recommended {
            facts.append(("recommended", shown(recommended, alert)))
        }
        if alert.isOpen, let advice = alert.advice { facts.append(("advice", advice)) }
        return facts
    }

    private var rest: [(vehicle: String, count: Int)] {
        lines.dropFirst(NoticeText.linesMax).reduce(into: []) { rest, line in
            if rest.last?.vehicle == name(line.alert) {
                rest[rest.count - 1].count += 1
            } else {
                rest.append((name(line.alert), 1))
            }
        }
    }

    // MARK: Pieces

    private func shown(_ value: Double, _ alert: NoticeAlert) -> String {
        ShownValue(value, unit: alert.unit, in: account.units).text
    }

    /// Yes or no: a value says nothing more.
    private func isFlag(_ alert: NoticeAlert) -> Bool {
        alert.test == .absent || (alert.unit.allSatisfy(\.isWhitespace) && alert.threshold == 1)
    }

    package static func many(_ count: Int, _ what: String) -> String { "\(count) \(what)\(count == 1 ? "" : "s")" }
}
