internal import Fleet
internal import Presentation
internal import Reports

/// The tabs of who keeps a vehicle: services and details.
extension VehicleView {
    func services(_ actions: MachineActionsView) -> HTML {
        let done = HTML.table(
            caption: t("Services"),
            headers: [.word(t("Done")), .number(t("Engine hours")), .text(t("By")), .prose(t("Note"))],
            rows: story.services.map { service in
                [
                    caller.clock.html(service.doneMs),
                    .text(ShownValue(service.engineHours, unit: "h", in: caller.units).text),
                    .text(service.by.map(caller.person)),
                    .text(service.note),
                ]
            }, empty: t("No service is recorded."), narrow: .cards)
        return """
            <div class="grid"><div class="w7 stack" id="story">\(due)\(done)</div>
            <div class="w5 stack">\(actions.service)</div></div>
            """
    }

    private var due: HTML {
        guard let due = story.due, due.everyH > 0 else { return "" }
        let used = min(100, max(0, (1 - due.leftH / due.everyH) * 100))
        let left =
            due.leftH < 0
            ? t("Overdue by \(hours(-due.leftH))") : t("\(hours(due.leftH)) left of \(hours(due.everyH))")
        let tone = due.leftH < 0 ? "critical" : due.leftH < due.everyH / 10 ? "warning" : "accent"
        return """
            <section class="card"><header><h2>Next service</h2></header><div class="body">\
            <div class="row between"><b>Engine hours</b><span>\(left)</span></div>\
            <svg class="dial" height="14" aria-hidden="true"><rect class="ground" width="100%" height="6" y="4" rx="3"/>\
            <rect class="\(tone)" width="\(Int64(used))%" height="6" y="4" rx="3"/></svg></div></section>
            """
    }

    private func hours(_ value: Double) -> String { "\(Int64(value.rounded())) h" }

    /// - Parameters:
    ///   - picture: the address of its model's.
    ///   - assignment: who drives a car.
    ///   - fleets: the form that moves it.
    ///   - own: a dealer's form of a class and tags.
    ///   - photo: of this single machine; nil: it is no machine.
    func details(
        picture: String?, downloads: HTML, assignment: HTML, fleets: HTML, own: HTML, photo: MachinePhotoView?
    ) -> HTML {
        let tank = about.tankL.map { ShownValue($0, unit: "L", in: caller.units).text }
        let pairs: [(String, HTML?)] = [
            (about.kind == .machine ? t("Serial number") : t("Id"), HTML(about.vehicle)),
            (t("Machine ID"), .text(story.machineID)), (t("Name"), .text(about.name)),
            (t("Model"), .text(about.described)), (t("Owner"), .text(about.owner.map(caller.person))),
            (t("Fuel"), .text(about.fuel)), (t("Tank"), .text(tank)),
            (t("Tags"), about.tags.isEmpty ? nil : tags), (t("Last heard"), story.lastMs.map(caller.clock.html)),
            (t("Time zone"), HTML(caller.clock.zone)),
        ]
        let lines: [HTML] = pairs.compactMap { name, text in text.map { "<dt>\(name)</dt><dd>\($0)</dd>" } }
        let model: HTML? = picture.map {
            "<img class=\"model\" src=\"\($0)\" alt=\"Picture of the model \(about.model ?? "")\">"
        }
        let shown: HTML = "\(photo?.picture)\(model)\(photo?.form)"
        let card: HTML = """
            <section class="card"><header><h2>Details</h2></header><div class="body">\(shown)<dl class="kv">\(lines.joined())</dl></div></section>
            """
        let driver: HTML =
            assignment.isEmpty
            ? "" : "<section class=\"card\" id=\"driver\"><div class=\"body\">\(assignment)</div></section>"
        return
            "<div class=\"grid\"><div class=\"w6 stack\">\(card)</div><div class=\"w6 stack\">\(own)\(driver)\(fleets)\(downloads)\(debugLogs)</div></div>"
    }

    /// What the logs of its box are for, said to those who may be asked for one.
    private var debugLogs: HTML {
        let roles = caller.roles
        guard about.kind == .machine else { return "" }
        let words: HTML
        if !roles.isDisjoint(with: FleetRoutes.developers) {
            words = "<p>\(DebugLogWords.purpose)</p><p><a class=\"btn\" href=\"\(address)/logs\">Debug logs</a></p>"
        } else if roles.contains(.dealer) {
            words = """
                <p>\(DebugLogWords.purpose)</p>
                <p>If their support asks you for one: a developer or operator of this site downloads it for you. Send \
                them the file unchanged, with the serial number <b>\(about.vehicle)</b> and the time of the fault.</p>
                """
        } else {
            return ""
        }
        return
            "<section class=\"card\" id=\"box-logs\"><header><h2>Debug logs of its box</h2></header><div class=\"body stack\">\(words)</div></section>"
    }

    private var tags: HTML {
        about.tags.map { "<a class=\"tag\" href=\"/vehicles?tag=\(encoded: $0)\">\($0)</a>" }.joined(separator: " ")
    }
}
