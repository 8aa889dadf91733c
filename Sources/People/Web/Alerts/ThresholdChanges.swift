internal import Alerts
internal import Backtesting
internal import Basics
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

/// Trying, saving and removing a threshold, and the list of all.
extension ThresholdRoutes {
    /// Judged at once at most, for one that waits for a page.
    private static let triedReadingsMax = 200_000
    private static let editsMax: Int64 = 30

    /// The files are locked.
    func apply(
        _ deed: ThresholdForm.Operation, _ form: ThresholdForm, _ folder: RuleFolder, _ caller: PageCaller,
        _ request: Request,
        _ connection: Connection
    ) throws -> Response {
        let isRemoval = deed == .remove
        func again(_ notice: HTML, asksAnyway: Bool = false, status: Int) -> Response {
            shown(
                "\(form.field.shownName) of \(form.of.title)", caller, form.html(notice, asksAnyway: asksAnyway),
                status: status)
        }
        guard form.basedOn == form.version else {
            let now = form.standing.map(ThresholdView.rule) ?? "nothing"
            return again(
                ThresholdView.faults(
                    "Nothing was saved: somebody has changed this threshold since you opened the page. It is now: \(now). "
                        + "What you wrote stands below; save it again to put it in the place of theirs.", []),
                status: 409)
        }
        guard form.overtaken.isEmpty else {
            return again(
                ThresholdView.faults(
                    "Nothing was saved: somebody has changed this threshold since you opened the page, of:",
                    form.overtaken),
                status: 409)
        }
        let next: RuleFolder
        let rules: RuleSet
        switch edited(form, folder, isRemoval: isRemoval) {
        case .success(let edited):
            next = edited.folder
            rules = edited.rules
        case .failure(let refused): return again(refused.notice, status: 422)
        }
        if !isRemoval, let fault = try tooMuch(rules, caller, connection) {
            return again(ThresholdView.faults(fault, []), status: 409)
        }
        let files = try thresholdFiles.tests()
        let tests = RuleTestRun(files, by: rules)
        let isRight = try tests.isRight || tests.isRight(beside: RuleTestRun(files, by: thresholdFiles.load(folder)))
        if deed == .attempt {
            return again(
                "\(try trial(form, rules, caller, connection))<h2>Rule tests with it</h2>\n\(ThresholdView.tests(tests))",
                asksAnyway: !isRight, status: 200)
        }
        guard isRight || form.isAnyway else {
            return again(
                ThresholdView.faults(
                    isRemoval
                        ? "Nothing was changed: rule tests fail without it."
                        : "Nothing was changed: rule tests fail with it.", [])
                    + ThresholdView.tests(tests), asksAnyway: true, status: 409)
        }
        return try save(
            next, rules, form, isRemoval: isRemoval, folder, caller, request, connection,
            again: { again($0, status: 503) })
    }

    private struct Refused: Error {
        let notice: HTML
    }

    /// The files as they would be, and their rules.
    private func edited(
        _ form: ThresholdForm, _ folder: RuleFolder, isRemoval: Bool
    ) -> Result<(folder: RuleFolder, rules: RuleSet), Refused> {
        var next = folder
        do throws(ThresholdEdit.Fault) {
            for of in form.targets {
                next.files[of.file] = try ThresholdEdit.put(
                    isRemoval ? nil : form.typed, of: form.field, in: folder.files[of.file], fileName: of.file)
            }
        } catch {
            return .failure(Refused(notice: ThresholdView.faults("Nothing was changed:", [error.description])))
        }
        // Checked by the loader, as the file would be.
        do throws(ThresholdError) { _ = try next.load() } catch {
            return .failure(
                Refused(notice: ThresholdView.faults("Nothing was changed. Please mend:", form.faults(error))))
        }
        do { return .success((next, try thresholdFiles.load(next))) } catch {
            return .failure(Refused(notice: ThresholdView.faults("Nothing was changed:", ["\(error)"])))
        }
    }

    /// A set has bounds, and one who keeps machines must leave room for the others.
    private func tooMuch(_ rules: RuleSet, _ caller: PageCaller, _ connection: Connection) throws -> String? {
        guard caller.roles.isDisjoint(with: ThresholdRoutes.modelEditors) else { return nil }
        let mine = try RuleEditStore.edited(of: Array(rules.machines.keys), on: connection)
        let bytes = RuleSet([:], machines: rules.machines.filter { mine.contains($0.key) }).text.utf8.count
        let most = RuleSet.textBytesMax / 4
        guard bytes > most else { return nil }
        return
            "Nothing was changed: the rules of your machines would take \(bytes) bytes, and may take \(most). Remove some, shorten what "
            + "to do about them, or ask an administrator for a rule of the model."
    }

    private func save(
        _ next: RuleFolder, _ rules: RuleSet, _ form: ThresholdForm, isRemoval: Bool, _ before: RuleFolder,
        _ caller: PageCaller, _ request: Request, _ connection: Connection, again: (HTML) -> Response
    ) throws -> Response {
        let changes = rules.changes(since: try thresholdFiles.load(before))
        // Each has its own: who sees one machine need not see the others.
        let edits = form.targets.filter { next.files[$0.file] != before.files[$0.file] }.map { of in
            RuleEdit(of: of, version: rules.version, changes: changes.filter { $0.of == of.title }.map(\.description))
        }
        if !edits.isEmpty {
            let deeds = edits.map { $0.deed(by: caller.account, from: request.remote) }
            try access.apart(caller) { apart in for deed in deeds { try deed.tell(on: apart) } }
            let files = Dictionary(uniqueKeysWithValues: edits.map { ($0.of.file, next.files[$0.of.file]) })
            do throws(ThresholdFiles.Fault) { try thresholdFiles.write(files, before: before) } catch {
                access.tell(.failed, of: deeds, caller)
                return again(ThresholdView.faults(error.text, []))
            }
            // The files count from here on, also where this note of them should fail.
            for edit in edits { try edit.note(on: connection) }
        }
        var said = next == before ? "same" : "published"
        if isRemoval, said == "published" { said = form.of.vehicle == nil ? "removed" : "back" }
        do { try thresholdFiles.publish(rules) } catch {
            log.error("rules not published; the file is saved", ["error": "\(error)"])
            said = "waiting"
        }
        let others = form.targets.filter { $0 != form.of }.compactMap(\.vehicle)
        return .seeOther(ThresholdView.address(form.of, said: said, with: others))
    }

    private func trial(
        _ form: ThresholdForm, _ rules: RuleSet, _ caller: PageCaller, _ connection: Connection
    ) throws -> HTML {
        guard case .parameter(let parameter) = form.field else {
            return "<p>\(form.field.shownName) is only shown: it raises nothing.</p>"
        }
        let others: [MachineParameter] = parameter == .contact ? [] : [.contact]
        func ours(_ thresholds: [Threshold]) -> [Threshold] {
            thresholds.filter { rule in ([parameter] + others).contains { rule.field == .parameter($0) } }
        }
        let tried = RuleSet(
            rules.models.mapValues(ours), machines: rules.machines.mapValues(ours).filter { !$0.value.isEmpty })
        let nowMs = Clock.nowMs()
        try SchemaConnection.findTablesInTransaction(on: connection)
        let trial = RuleBacktest(
            parameter: parameter, spanMs: nowMs - Int64(form.days) * UTC.msPerDay..<nowMs,
            readingsMax: ThresholdRoutes.triedReadingsMax, rules: { _ in RuleTimeline(always: tried) },
            clock: { try RuleEditStore.clockMs(ofMachines: $0, on: connection) })
        var outcome = RuleBacktest.Outcome()
        for of in form.targets {
            if let vehicle = of.vehicle {
                guard outcome.readings < ThresholdRoutes.triedReadingsMax else {
                    outcome.left += 1
                    continue
                }
                outcome.add(try trial.run(of: vehicle, on: connection))
            } else {
                outcome = try trial.run(ofModel: of.model!, on: connection)
            }
        }
        return ThresholdView.trial(outcome, days: form.days, unit: parameter.row.unit, caller)
    }

    // MARK: All of them

    func list(_ caller: PageCaller, _ folder: RuleFolder, _ connection: Connection) throws -> Response {
        let rules = try thresholdFiles.load(folder)
        let models = HTML.table(
            caption: "Models", headers: [.word("Model"), .number("Parameters"), .number("Judged")],
            rows: ThresholdFiles.models(folder).map { name in
                let own = rules.models[name] ?? []
                return [
                    "<a href=\"\(ThresholdFiles.Subject.model(name).address)\">\(name)</a>",
                    own.isEmpty ? "no thresholds: it raises no alert" : "\(own.count)",
                    "\(own.count { $0.judged != nil })",
                ]
            }, empty: "There is no model.")
        let seen = try RuleEditStore.seen(of: Array(rules.machines.keys), on: connection)
        let machines = HTML.table(
            caption: "Machines with rules of their own", headers: [.word("Machine"), .prose("Parameters")],
            rows: rules.machines.filter { seen.contains($0.key) }.sorted { $0.key < $1.key }.map { vehicle, own in
                [
                    "<a href=\"\(ThresholdFiles.Subject.machine(vehicle).address)\">\(vehicle.text)</a>",
                    .text(own.map(\.name).sorted().joined(separator: ", ")),
                ]
            }, empty: "None. A machine's own rules are made from its page.")
        let versions = try connection.query(queries["rule_versions"], [.int8(ThresholdRoutes.editsMax)])
        return shown(
            "Thresholds", caller,
            """
            <p>The files' version is \(rules.version). <a href="/thresholds/tests">Run the rule tests</a></p>
            \(models)
            \(machines)
            \(try self.versions(versions, caller))
            """)
    }

    private func versions(_ rows: Rows, _ caller: PageCaller) throws -> HTML {
        HTML.table(
            caption: "Versions and changes",
            headers: [.word("When"), .word("Version"), .text("By"), .prose("Changed in a page")],
            rows: try rows.map { row in
                [
                    // The first set holds for all readings before it, too.
                    try row.timestampMs("at").map {
                        $0 <= UTC.plausible.lowerBound ? "from the beginning" : caller.clock.html($0)
                    }, .text(try row.text("version")),
                    .text(try row.text("account") ?? "files or commands"),
                    .text(try row.textArray("changes")?.compactMap { $0 }.joined(separator: "; ")),
                ]
            }, empty: "Nothing was published yet.")
    }
}
