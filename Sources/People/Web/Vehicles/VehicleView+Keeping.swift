internal import Fleet
internal import Presentation
internal import Reports

/// The tabs of who keeps a vehicle: services and details.
extension VehicleView {
    func services(_ actions: MachineActionsView) -> HTML {
        let done = HTML.table(
            caption: "Services",
            headers: [.word("Done"), .number("Engine hours"), .text("By"), .prose("Note")],
            rows: story.services.map { service in
                [
                    caller.clock.html(service.doneMs),
                    .text(ShownValue(service.engineHours, unit: "h", in: caller.units).text),
                    .text(service.by.map(caller.person)),
                    .text(service.note),
                ]
            }, empty: "No service is recorded.")
        return """
            <div class="grid"><div class="w7 stack" id="story">\(due)\(done)</div>
            <div class="w5 stack">\(actions.service)</div></div>
            """
    }

    private var due: HTML {
        guard let due = story.due, due.everyH > 0 else { return "" }
        let used = min(100, max(0, (1 - due.leftH / due.everyH) * 100))
        let left =
            due.leftH < 0 ? "Overdue by \(hours(-due.leftH))" : "\(hours(due.leftH)) left of \(hours(due.everyH))"
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
    ///   - own: a dealer's form of a class and tags.
    ///   - photo: of this single machine; nil: it is no machine.
    func details(
        picture: String?, downloads: HTML, assignment: HTML, own: HTML, photo: MachinePhotoView?
    ) -> HTML {
        let tank = about.tankL.map { ShownValue($0, unit: "L", in: caller.units).text }
        let pairs: [(String, HTML?)] = [
            (about.kind == .machine ? "Serial number" : "Id", HTML(about.vehicle)),
            ("Machine ID", .text(story.machineID)), ("Name", .text(about.name)),
            ("Model", .text(about.described)), ("Owner", .text(about.owner.map(caller.person))),
            ("Fuel", .text(about.fuel)),
            ("Tank", .text(tank)),
            ("Tags", about.tags.isEmpty ? nil : tags), ("Last heard", story.lastMs.map(caller.clock.html)),
            ("Times are", HTML(caller.clock.zone)),
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
            "<div class=\"grid\"><div class=\"w6 stack\">\(card)</div><div class=\"w6 stack\">\(own)\(driver)\(downloads)</div></div>"
    }

    private var tags: HTML {
        about.tags.map { "<a class=\"tag\" href=\"/vehicles?tag=\(encoded: $0)\">\($0)</a>" }.joined(separator: " ")
    }
}
