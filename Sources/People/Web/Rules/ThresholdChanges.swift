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

/// Trying, saving and removing a threshold.
extension ThresholdRoutes {
    /// The files are locked, unless it is only tried.
    func apply(
        _ deed: ThresholdForm.Operation, _ sent: ThresholdForm, _ folder: RuleFolder, _ caller: PageCaller,
        _ request: Request,
        _ connection: Connection
    ) throws -> Response {
        let isRemoval = deed == .remove
        var form = sent
        func again(_ notice: HTML, tried: HTML = "", asksAnyway: Bool = false, status: Int) -> Response {
            shown(form, notice, tried: tried, asksAnyway: asksAnyway, status: status)
        }
        guard form.basedOn == form.version else {
            let now = form.standing.map { RuleWords($0, in: caller.units).short } ?? t("no rule")
            return again(
                ThresholdView.faults(
                    t(
                        "Not saved: somebody has changed this rule since you opened the page. It is now: \(now). What you wrote stands below; save it again to put it in the place of theirs."
                    ), []),
                status: 409)
        }
        guard form.overtaken.isEmpty else {
            return again(
                ThresholdView.faults(
                    t("Not saved: somebody has changed this rule since you opened the page, of:"),
                    form.overtaken),
                status: 409)
        }
        let next: RuleFolder
        let rules: RuleSet
        switch edited(form, folder, isRemoval: isRemoval) {
        case .success(let edited):
            next = edited.folder
            rules = edited.rules
        case .failure(let refused):
            form.errors = refused.errors
            return again(refused.notice(form), status: 422)
        }
        if !isRemoval, let fault = try tooMuch(rules, caller, connection) {
            return again(ThresholdView.faults(fault, []), status: 409)
        }
        let files = try thresholdFiles.tests()
        let tests = RuleTestRun(files, by: rules)
        let isRight = try tests.isRight || tests.isRight(beside: RuleTestRun(files, by: thresholdFiles.load(folder)))
        if deed == .attempt {
            let trial = try self.trial(form, rules, .thorough, connection)
            let tried: HTML =
                trial.map(\.html) ?? "<p class=\"empty\">\(form.field.shownName) is only shown: it raises nothing.</p>"
            return again(
                "",
                tried:
                    "\(tried)<h3 class=\"body tight\">Rule tests with it</h3><div class=\"body tight\">\(ThresholdView.tests(tests))</div>",
                asksAnyway: !isRight, status: 200)
        }
        guard isRight || form.isAnyway else {
            return again(
                ThresholdView.faults(
                    isRemoval
                        ? t("Not changed: rule tests fail without it.")
                        : t("Not changed: rule tests fail with it."), [])
                    + ThresholdView.tests(tests), asksAnyway: true, status: 409)
        }
        return try save(
            next, rules, form, isRemoval: isRemoval, folder, caller, request, connection,
            again: { again($0, status: 503) })
    }

    /// Why nothing was changed: beside fields, and what belongs to none.
    struct Refused: Error {
        var errors: [String: String] = [:]
        var rest: [String] = []

        func notice(_ form: ThresholdForm) -> HTML {
            let beside = errors.keys.sorted().map { "\(ThresholdForm.labels[$0] ?? $0): \(errors[$0] ?? "")" }
            return ThresholdView.faults(t("Not saved. Please check:"), beside + rest)
        }
    }

    /// The files as they would be, and their rules.
    func edited(
        _ form: ThresholdForm, _ folder: RuleFolder, isRemoval: Bool
    ) -> Result<(folder: RuleFolder, rules: RuleSet), Refused> {
        var next = folder
        let texts = form.texts
        do throws(ThresholdEdit.Fault) {
            for of in form.targets {
                next.files[of.file] = try ThresholdEdit.put(
                    isRemoval ? nil : texts, of: form.field, in: folder.files[of.file], fileName: of.file)
            }
        } catch {
            return .failure(Refused(rest: [error.description]))
        }
        // Checked by the loader, as the file would be.
        do throws(ThresholdError) { _ = try next.load() } catch {
            var noted = form
            let rest = noted.note(error)
            return .failure(Refused(errors: noted.errors, rest: rest))
        }
        do { return .success((next, try thresholdFiles.load(next))) } catch {
            return .failure(Refused(rest: ["\(error)"]))
        }
    }

    /// A set has bounds, and one who keeps machines must leave room for the others.
    private func tooMuch(_ rules: RuleSet, _ caller: PageCaller, _ connection: Connection) throws -> String? {
        guard caller.roles.isDisjoint(with: ThresholdRoutes.modelEditors) else { return nil }
        let mine = try RuleEditStore.edited(of: Array(rules.machines.keys), on: connection)
        let bytes = RuleSet([:], machines: rules.machines.filter { mine.contains($0.key) }).text.utf8.count
        let most = RuleSet.textBytesMax / 4
        guard bytes > most else { return nil }
        return t(
            "Not changed: the rules of your machines would take \(bytes) bytes, and may take \(most). Remove some, shorten what to do about them, or ask an administrator for a rule of the model."
        )
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
}
