internal import Alerts
internal import Fleet
internal import HTTP
internal import Observe
internal import Postgres
internal import Reports
internal import Trials

/// Trying, saving and removing a threshold, and the list of all.
extension ThresholdSite {
    /// Judged at once at most, for one that waits for a page.
    private static let triedReadingsMax = 200_000
    private static let editsMax: Int64 = 30

    /// The files are locked.
    func take(
        _ what: String, _ form: ThresholdForm, _ folder: RuleFolder, _ caller: PageCaller, _ connection: Connection
    ) throws -> Response {
        let isRemoval = what == "remove"
        func again(_ notice: String, asksAnyway: Bool = false, status: Int) -> Response {
            shown(
                "\(form.field.shownName) of \(form.of.title)", caller, form.html(notice, asksAnyway: asksAnyway),
                status: status)
        }
        guard form.basedOn == form.version else {
            let now = form.standing.map(ThresholdPages.rule) ?? "nothing"
            return again(
                ThresholdPages.faults(
                    "Nothing was saved: somebody has changed this threshold since you opened the page. It is now: \(now). "
                        + "What you wrote stands below; save it again to put it in the place of theirs.", []),
                status: 409)
        }
        guard form.overtaken.isEmpty else {
            return again(
                ThresholdPages.faults(
                    "Nothing was saved: somebody has changed this threshold since you opened the page, of:",
                    form.overtaken),
                status: 409)
        }
        var next = folder
        do throws(ThresholdEdit.Fault) {
            for of in form.targets {
                next.files[of.file] = try ThresholdEdit.put(
                    isRemoval ? nil : form.typed, of: form.field, in: folder.files[of.file], fileName: of.file)
            }
        } catch {
            return again(ThresholdPages.faults("Nothing was changed:", [error.description]), status: 422)
        }
        // As the loader says it, of the file that would be.
        do throws(ThresholdError) { _ = try next.load() } catch {
            return again(
                ThresholdPages.faults("Nothing was changed. Please mend:", form.faults(error)), status: 422)
        }
        let rules: RuleSet
        do { rules = try desk.load(next) } catch {
            return again(ThresholdPages.faults("Nothing was changed:", ["\(error)"]), status: 422)
        }
        if !isRemoval, let fault = try tooMuch(rules, caller, connection) {
            return again(ThresholdPages.faults(fault, []), status: 409)
        }
        let tests = RuleTestRun(try desk.tests(), by: rules)
        if what == "try" {
            return again(
                try trial(form, rules, caller, connection) + "<h2>Rule tests with it</h2>\n"
                    + ThresholdPages.tests(tests),
                asksAnyway: !tests.isRight, status: 200)
        }
        guard tests.isRight || form.isAnyway else {
            return again(
                ThresholdPages.faults(
                    isRemoval
                        ? "Nothing was changed: rule tests fail without it."
                        : "Nothing was changed: rule tests fail with it.", [])
                    + ThresholdPages.tests(tests), asksAnyway: true, status: 409)
        }
        return try save(
            next, rules, form, isRemoval: isRemoval, folder, caller, connection, again: { again($0, status: 503) })
    }

    /// A set has bounds, and one who keeps machines must leave room for the others.
    private func tooMuch(_ rules: RuleSet, _ caller: PageCaller, _ connection: Connection) throws -> String? {
        guard caller.roles.isDisjoint(with: ThresholdSite.modelEditors) else { return nil }
        let mine = Set(
            try connection.query(
                "SELECT asked FROM unnest($1::text[]) AS asked WHERE drover.edits_rules(asked)",
                [.textArray(rules.machines.keys.map(\.text))]
            ).map { try $0.text(0)! })
        let bytes = RuleSet([:], machines: rules.machines.filter { mine.contains($0.key.text) }).text.utf8.count
        let most = RuleSet.textBytesMax / 4
        guard bytes > most else { return nil }
        return
            "Nothing was changed: the rules of your machines would take \(bytes) bytes, and may take \(most). Take some back, shorten what "
            + "to do about them, or ask an administrator for a rule of the model."
    }

    private func save(
        _ next: RuleFolder, _ rules: RuleSet, _ form: ThresholdForm, isRemoval: Bool, _ before: RuleFolder,
        _ caller: PageCaller, _ connection: Connection, again: (String) -> Response
    ) throws -> Response {
        let changes = rules.changes(since: try desk.load(before))
        let changed = form.targets.filter { next.files[$0.file] != before.files[$0.file] }
        if !changed.isEmpty {
            let files = Dictionary(uniqueKeysWithValues: changed.map { ($0.file, next.files[$0.file]) })
            do throws(RuleDesk.Fault) { try desk.write(files, before: before) } catch {
                return again(ThresholdPages.faults(error.text, []))
            }
            // The files count from here on, also where this note of them should fail. Each has its own: who sees one machine need not
            // see the others.
            for of in changed {
                let own = changes.filter { $0.of == of.title }.map(\.description)
                try connection.query(
                    "SELECT drover.note_rule_edit($1, $2, $3, $4)",
                    [.text(of.model), .text(of.vehicle?.text), .text(rules.version), .textArray(own)])
            }
        }
        var said = next == before ? "same" : "published"
        if isRemoval, said == "published" { said = form.of.vehicle == nil ? "removed" : "back" }
        do { try desk.publish(rules) } catch {
            log.error("rules not published; the file is saved", ["error": "\(error)"])
            said = "waiting"
        }
        return .seeOther(form.of.address + "?said=" + said)
    }

    private func trial(
        _ form: ThresholdForm, _ rules: RuleSet, _ caller: PageCaller, _ connection: Connection
    ) throws -> String {
        guard case .parameter(let parameter) = form.field else {
            return "<p>\(HTMLText.escaped(form.field.shownName)) is only shown: it raises nothing.</p>"
        }
        let others: [MachineParameter] = parameter == .contact ? [] : [.contact]
        func ours(_ thresholds: [Threshold]) -> [Threshold] {
            thresholds.filter { rule in ([parameter] + others).contains { rule.field == .parameter($0) } }
        }
        let tried = RuleSet(
            rules.models.mapValues(ours), machines: rules.machines.mapValues(ours).filter { !$0.value.isEmpty })
        let nowMs = Clock.nowMs()
        // Statements of the store find their tables by the path; it ends with the transaction.
        try connection.execute("SET LOCAL search_path TO drover, pg_catalog")
        let trial = RuleTrial(
            parameter: parameter, spanMs: nowMs - Int64(form.days) * UTC.msPerDay..<nowMs,
            readingsMax: ThresholdSite.triedReadingsMax, rules: { _ in RuleTimeline(always: tried) },
            clock: { partition in
                try connection.query("SELECT drover.machine_clock($1)", [.int4(partition)])[0].timestampMs(0)
            })
        var outcome = RuleTrial.Outcome()
        for of in form.targets {
            if let vehicle = of.vehicle {
                guard outcome.readings < ThresholdSite.triedReadingsMax else {
                    outcome.left += 1
                    continue
                }
                outcome.add(try trial.run(of: vehicle, on: connection))
            } else {
                outcome = try trial.run(ofModel: of.model!, on: connection)
            }
        }
        return ThresholdPages.trial(outcome, days: form.days, unit: parameter.row.unit, caller)
    }

    // MARK: All of them

    func list(_ caller: PageCaller, _ folder: RuleFolder, _ connection: Connection) throws -> Response {
        let rules = try desk.load(folder)
        let models = HTMLText.table(
            caption: "Models", headers: [.html("Model"), .number("Parameters"), .number("Judged")],
            rows: RuleDesk.models(folder).map { name in
                let own = rules.models[name] ?? []
                return [
                    "<a href=\"\(RuleDesk.Of.model(name).address)\">\(HTMLText.escaped(name))</a>",
                    own.isEmpty ? "no thresholds: it raises no alert" : String(own.count),
                    String(own.count { $0.judged != nil }),
                ]
            }, empty: "There is no model.")
        let seen = Set(
            try connection.query(
                "SELECT vehicle FROM drover.vehicle WHERE kind = 'machine' AND vehicle = ANY ($1) UNION "
                    + "SELECT vehicle FROM drover.registration WHERE kind = 'machine' AND vehicle = ANY ($1)",
                [.textArray(rules.machines.keys.map(\.text))]
            ).map { try $0.text("vehicle")! })
        let machines = HTMLText.table(
            caption: "Machines with rules of their own", headers: [.html("Machine"), .prose("Parameters")],
            rows: rules.machines.filter { seen.contains($0.key.text) }.sorted { $0.key < $1.key }.map { vehicle, own in
                [
                    "<a href=\"\(RuleDesk.Of.machine(vehicle).address)\">\(HTMLText.escaped(vehicle.text))</a>",
                    own.map(\.name).sorted().joined(separator: ", "),
                ]
            }, empty: "None. A machine's own rules are made from its page.")
        return shown(
            "Thresholds", caller,
            """
            <p>The files' version is \(rules.version). <a href="/thresholds/tests">Run the rule tests</a></p>
            \(models)
            \(machines)
            \(try versions(caller, connection))
            """)
    }

    private func versions(_ caller: PageCaller, _ connection: Connection) throws -> String {
        let rows = try connection.query(queries["rule_versions"], [.int8(ThresholdSite.editsMax)])
        return HTMLText.table(
            caption: "Versions and changes",
            headers: [.html("When"), .word("Version"), .text("By"), .prose("Changed in a page")],
            rows: try rows.map { row in
                [
                    // The first set holds for all readings before it, too.
                    try row.timestampMs("at").map {
                        $0 <= UTC.plausible.lowerBound ? "from the beginning" : caller.clock.html($0)
                    }, try row.text("version"),
                    try row.text("account") ?? "files or commands",
                    try row.textArray("changes")?.compactMap { $0 }.joined(separator: "; "),
                ]
            }, empty: "Nothing was published yet.")
    }
}
