internal import Formats
internal import HTTPServer
internal import Presentation

/// What any page needs to act on an alert where one stands: the form, and the answer to it.
enum AlertForms {
    /// The script that answers these forms in place; without it they lead to `next`.
    static let script = "alerts/acknowledge.js"

    /// The button *Acknowledge*. Show it to those whom `AlertAccess` lets act on the alert.
    ///
    /// - Parameters:
    ///   - about: the alert in words, for people who hear the page.
    ///   - next: the page that it stands on, to come back to.
    ///   - style: of the button, as in pages.css.
    static func acknowledge(
        _ alert: String, about: String, _ caller: PageCaller, next: String, style: StaticString = "btn small"
    ) -> HTML {
        """
        <form method="post" action="/alerts/\(encoded: alert)/acknowledge" data-acknowledge="\(alert)">\
        \(hidden(caller, next: next))\
        <button class="\(HTML(stringLiteral: style))">Acknowledge<span class="sr">: \(about)</span></button></form>
        """
    }

    /// The session's mark, an id that makes a form that is sent twice count once, and where to go then.
    static func hidden(_ caller: PageCaller, next: String, id: String = AlertAction.newID()) -> HTML {
        "\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("id", id))\(FormView.hidden("next", next))"
    }

    /// Back to the page of ours that the form named, else to the alert. Scripts ask for JSON and stay where they are.
    static func answer(
        _ request: Request, _ fields: FormFields, alert: String, said: AlertAction.Deed
    ) -> Response {
        answer(request, fields, alerts: [alert], said: said, own: "/alerts/\(URLText.escaped(alert))")
    }

    static func answer(
        _ request: Request, _ fields: FormFields, alerts: [String], said: AlertAction.Deed
    ) -> Response {
        answer(request, fields, alerts: alerts, said: said, own: "/alerts")
    }

    private static func answer(
        _ request: Request, _ fields: FormFields, alerts: [String], said: AlertAction.Deed, own: String
    ) -> Response {
        if (request.headers["accept"] ?? "").hasPrefix("application/json") {
            let json = JSONValue.object([("alerts", .list(alerts.map { .text($0) })), ("said", .text(said.rawValue))])
            return .json(json.rendered(), status: 202)
        }
        let word = Said(said, fields).rawValue
        let next = AccountRoutes.next(fields["next"])
        guard next.hasPrefix("/alerts") else { return .seeOther(next.isEmpty ? "\(own)?said=\(word)" : next) }
        return .seeOther("\(next)\(next.contains("?") ? "&" : "?")said=\(word)")
    }

    /// What the page after a form says, until it shows it.
    enum Said: String {
        case acknowledgement, reopening, assignment, comment, mute, unmute, silence, end, service

        init(_ deed: AlertAction.Deed, _ fields: FormFields) {
            self =
                switch deed {
                case .acknowledge: .acknowledgement
                case .reopen: .reopening
                case .assign: .assignment
                case .comment: .comment
                case .mute: fields["until"] == "now" ? .unmute : .mute
                case .silence: fields["hours"] == "0" ? .end : .silence
                case .service: .service
                }
        }
    }
}

extension AlertForms.Said {
    var notice: HTML { "<p role=\"status\" class=\"strip ok\">\(HTML.icon(.check))<span>\(words)</span></p>" }

    var words: HTML {
        switch self {
        case .acknowledgement: .t("Acknowledged. It shows here in a moment.")
        case .reopening: .t("Taken back. It is open again in a moment.")
        case .assignment: .t("Assigned. It shows here in a moment.")
        case .comment: .t("Comment saved. It shows here in a moment.")
        case .mute, .silence: .t("Muted. It shows here in a moment.")
        case .unmute: .t("Unmuted. It shows here in a moment.")
        case .end:
            "The end of the silence is on its way. If it stays, somebody has silenced more than this parameter of this machine: <code>drover alert silence --help</code> says how that is ended."
        case .service: .t("Service recorded. The alert is over in a moment.")
        }
    }
}
