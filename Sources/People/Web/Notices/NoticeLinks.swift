internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import HTTPServer
internal import Ingest
internal import Postgres
internal import Presentation
internal import Storage
internal import Telemetry

/// The links of mails about alerts. Programs that look into mail open links, too: nothing happens before somebody presses a
/// button, except where mail programs do it for people (RFC 8058).
extension NoticeRoutes {
    func addLinks(to router: inout Router) {
        router.add("GET", "/notices/acknowledge") { request in answered { try showLink(request) } }
        router.add("POST", "/notices/acknowledge") { request in
            CSRFGuard.refusal(request) ?? answered { try acknowledge(request) }
        }
        router.add("GET", "/notices/end-mail") { request in
            guard let account = endingMail(request) else { return NoticeRoutes.over }
            return .unkept(
                FormView.page(
                    t("Stop mail of alerts?"), nil,
                    "<p>\(account) will get no more mail of alerts. Log in and open “Notifications” to get it again.</p>"
                        + FormView.form(
                            "/notices/end-mail?account=\(URLText.escaped(account))&link=\(URLText.escaped(request.query["link"] ?? ""))",
                            [], t("Stop these mails"))))
        }
        // Mail programs send this by themselves, from no page of ours: what allows it is the link.
        router.add("POST", "/notices/end-mail") { request in
            guard let account = endingMail(request) else { return NoticeRoutes.over }
            return answered {
                try pool.withConnection { try NoticeSettingStore.endMail(of: account, on: $0) }
                return .unkept(
                    FormView.page(
                        t("No more mail of alerts"), .done(t("These mails have ended.")),
                        "<p><a href=\"/notices\">What you are told</a></p>"))
            }
        }
    }

    private static var over: Response {
        Response.unkept(
            FormView.page(
                t("This link does nothing any more"), nil,
                "<p>It was used, is too old, or all that it is about is over. <a href=\"/alerts\">Open alerts</a></p>"),
            404)
    }

    private func showLink(_ request: Request) throws -> Response {
        guard let link = request.query["link"].flatMap({ Token($0) }) else { return NoticeRoutes.over }
        let alerts = try linked(link)
        guard let account = alerts.first?.account else { return NoticeRoutes.over }
        let list: [HTML] = alerts.map { "<li>\($0.vehicle): \($0.parameter)</li>" }
        return .unkept(
            FormView.page(
                t("I take care of it"), nil,
                "<p>As \(account) you acknowledge:</p><ul>\(list.joined())</ul>"
                    + FormView.form(
                        "/notices/acknowledge",
                        [
                            .hidden(name: "link", value: link.text),
                            .optional(name: "note", label: t("Note for colleagues"), value: "", autocomplete: "off"),
                        ], t("Acknowledge")
                    )))
    }

    /// What the link's reader may acknowledge, as on the alerts' own pages.
    private func linked(_ link: Token) throws -> [NoticeSettingStore.Linked] {
        try pool.withConnection { try NoticeSettingStore.look(at: link.digest, on: $0) }
            .filter { AlertAccess.mayAct($0.roles, on: $0.kind) }
    }

    /// Writes the audit entry and pushes the action, as the alert's own page does, and only then uses the link up: pressed again after a
    /// failure it repeats the same action, with the same ids.
    private func acknowledge(_ request: Request) throws -> Response {
        guard let fields = FormFields(request) else { return FormFields.missing }
        guard let link = fields["link"].flatMap({ Token($0) }) else { return NoticeRoutes.over }
        let alerts = try linked(link)
        guard let account = alerts.first?.account else { return NoticeRoutes.over }
        let note = fields["note"] ?? ""
        guard note.utf8.count <= 2_000 else { return .problem(422, type: "form", detail: "The note is too long.") }
        let actions: [(VehicleKind, Action)] = alerts.compactMap { alert in
            guard let vehicle = VehicleID(alert.vehicle) else { return nil }
            let id = "l-" + Hex.text(Secrets.digest(link.digest + Array(alert.alert.utf8)).prefix(16))
            let action = Action(
                id: id, vehicle: vehicle, ts: Clock.nowMs(), by: account, note: note.isEmpty ? nil : note,
                kind: .acknowledgement(alert: alert.alert))
            return (alert.kind, action)
        }
        if let refusal = try say(actions, from: request) { return refusal }
        try pool.withConnection { try NoticeSettingStore.use(link: link.digest, on: $0) }
        return .unkept(
            FormView.page(
                t("Acknowledged"), .done(t("Your colleagues see that you take care of it.")),
                "<p><a href=\"/alerts\">Open alerts</a></p>"))
    }

    /// Nil: all of it is on the log.
    private func say(_ actions: [(kind: VehicleKind, action: Action)], from request: Request) throws -> Response? {
        let uploads = try actions.map { try $0.kind == .car ? Upload(ofCar: $0.action) : Upload(ofMachine: $0.action) }
        let deeds = actions.map { NoticeRoutes.deed($0.action, from: request) }
        try pool.withConnection { connection in
            try connection.transaction { for deed in deeds { try deed.tell(on: connection) } }
        }
        for (index, upload) in uploads.enumerated() {
            let outcome = self.uploads.send(upload)
            guard outcome != .acknowledged else { continue }
            try pool.withConnection { connection in
                try deeds[index].tell(outcome.ofDeed, on: connection)
                for deed in deeds[(index + 1)...] { try deed.tell(.failed, on: connection) }
            }
            return UploadSender.notOnLog
        }
        return nil
    }

    private static func deed(_ action: Action, from request: Request) -> AuditedOperation {
        var alert = ""
        if case .acknowledgement(let id) = action.kind { alert = id }
        return AuditedOperation(
            .alertAcknowledged, by: action.by, from: request.remote,
            [("alert", alert), ("vehicle", action.vehicle?.text ?? ""), ("record", action.id), ("by", "link")])
    }

    /// The account whose mail a link may stop; nil: nobody's.
    private func endingMail(_ request: Request) -> String? {
        guard let account = request.query["account"], VehicleID.isValid(account.utf8),
            let link = request.query["link"].flatMap({ Token($0) }), let key = ways.codeKey,
            key.isLink(link, "end mail", account)
        else { return nil }
        return account
    }

    private func answered(_ body: () throws -> Response) -> Response {
        do { return try body() } catch {
            log.error("a link could not be followed", ["error": "\(error)"])
            return Response.problem(
                503, type: "database", detail: "This does not work right now. Try again in a moment."
            )
            .with("Retry-After", "10")
        }
    }
}
