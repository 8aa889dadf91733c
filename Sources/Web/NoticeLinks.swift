internal import Fleet
internal import Gateways
internal import HTTP
internal import Observe
internal import Reports
internal import Secrets
internal import Storage
internal import Wire

/// The links of mails about alerts. Programs that look into mail open links, too: nothing happens before somebody presses a
/// button, except where mail programs do it for people (RFC 8058).
extension NoticeSite {
    func addLinks(to router: inout Router) {
        router.add("GET", "/notices/acknowledge") { request in answered { try showLink(request) } }
        router.add("POST", "/notices/acknowledge") { request in
            FormGuard.refusal(request) ?? answered { try acknowledge(request) }
        }
        router.add("GET", "/notices/end-mail") { request in
            guard let account = endingMail(request) else { return NoticeSite.over }
            return .unkept(
                FormPage.page(
                    "No more mail of alerts", nil,
                    "<p>\(HTMLText.escaped(account)) gets no mail of alerts any more. Log in and open “Notices” to get it again.</p>"
                        + FormPage.form(
                            "/notices/end-mail?account=\(Address.escaped(account))&amp;link=\(Address.escaped(request.query["link"] ?? ""))",
                            [], "End these mails")))
        }
        // Mail programs send this by themselves, from no page of ours: what allows it is the link.
        router.add("POST", "/notices/end-mail") { request in
            guard let account = endingMail(request) else { return NoticeSite.over }
            return answered {
                try lender.withConnection { try NoticeDesk.endMail(of: account, on: $0) }
                return .unkept(
                    FormPage.page(
                        "No more mail of alerts", .done("These mails have ended."),
                        "<p><a href=\"/notices\">What you are told</a></p>"))
            }
        }
    }

    private static let over = Response.unkept(
        FormPage.page(
            "This link does nothing any more", nil,
            "<p>It was used, is too old, or all that it is about is over. <a href=\"/alerts\">Open alerts</a></p>"), 404
    )

    private func showLink(_ request: Request) throws -> Response {
        guard let link = request.query["link"].flatMap({ Token($0) }) else { return NoticeSite.over }
        let alerts = try lender.withConnection { try NoticeDesk.look(at: link.digest, on: $0) }
        guard let account = alerts.first?.account else { return NoticeSite.over }
        let list = alerts.map { "<li>\(HTMLText.escaped($0.vehicle)): \(HTMLText.escaped($0.parameter))</li>" }
        return .unkept(
            FormPage.page(
                "I take care of it", nil,
                "<p>As \(HTMLText.escaped(account)) you acknowledge:</p><ul>\(list.joined())</ul>"
                    + FormPage.form(
                        "/notices/acknowledge",
                        [.hidden("link", link.text), .optional("note", "Note for colleagues", "", "off")], "Acknowledge"
                    )))
    }

    /// Pushes what somebody says, as the alert's own page does, and only then uses the link up: pressed again after a
    /// failure it says the same again, with the same ids.
    private func acknowledge(_ request: Request) throws -> Response {
        guard let fields = Fields(request) else { return Fields.missing }
        guard let link = fields["link"].flatMap({ Token($0) }) else { return NoticeSite.over }
        let alerts = try lender.withConnection { try NoticeDesk.look(at: link.digest, on: $0) }
        guard let account = alerts.first?.account else { return NoticeSite.over }
        let note = fields["note"] ?? ""
        guard note.utf8.count <= 2_000 else { return .problem(422, type: "form", detail: "The note is too long.") }
        for alert in alerts {
            guard let vehicle = VehicleID(alert.vehicle) else { continue }
            let id = "l-" + Hex.text(Secrets.digest(link.digest + Array(alert.alert.utf8)).prefix(16))
            let action = Action(
                id: id, vehicle: vehicle, ts: Clock.nowMs(), by: account, note: note.isEmpty ? nil : note,
                kind: .acknowledgement(alert: alert.alert))
            if let refusal = uploads.refusal(try Upload(ofMachine: action)) { return refusal }
        }
        try lender.withConnection { connection in
            try NoticeDesk.use(link: link.digest, on: connection)
            for alert in alerts {
                try AuditLog.record(
                    .alertAcknowledged, by: account, from: request.remote,
                    [("alert", alert.alert), ("vehicle", alert.vehicle), ("by", "link")], on: connection)
            }
        }
        return .unkept(
            FormPage.page(
                "Acknowledged", .done("Your colleagues see that you take care of it."),
                "<p><a href=\"/alerts\">Open alerts</a></p>"))
    }

    /// Whose mail a link may end; nil: nobody's.
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
