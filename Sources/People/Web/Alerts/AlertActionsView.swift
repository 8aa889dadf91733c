internal import Alerts
internal import Fleet
internal import Presentation
internal import Reports

/// What can be done about an alert on its page. Each button is a form of its own, so that all works without a script.
struct AlertActionsView {
    let view: AlertView

    private var caller: PageCaller { view.caller }
    private var story: AlertDetail { view.story }
    private var isAcknowledged: Bool { story.acknowledgement != nil || view.said == .acknowledgement }

    /// In the bar on top.
    var html: HTML {
        guard view.mayAct else { return "" }
        return "\(mute(""))\(assign(""))\(main("btn primary", ""))"
    }

    /// Above the bar at the bottom of a phone.
    var phone: HTML { "\(mute(" up"))\(assign(" up"))\(main("btn primary", "p"))" }

    private func main(_ style: StaticString, _ suffix: String) -> HTML {
        isAcknowledged
            ? form("reopen", suffix, "<button class=\"btn\">\(HTML.icon(.undo))Take back</button>")
            : form(
                "acknowledge", suffix,
                "<button class=\"\(HTML(stringLiteral: style))\">\(HTML.icon(.check))Acknowledge</button>")
    }

    private func mute(_ place: StaticString) -> HTML {
        guard story.silencedUntilMs == nil else {
            let end: HTML =
                story.isMutedToItsEnd || alert(is: .car)
                ? form(
                    "mute", "u",
                    "<button class=\"btn\" name=\"until\" value=\"now\">\(HTML.icon(.notify))Unmute</button>")
                : form(
                    "silence", "u",
                    "\(FormView.hidden("hours", "0"))<button class=\"btn\">\(HTML.icon(.notify))Unmute</button>")
            return end
        }
        let spans = [("hour", t("For 1 hour")), ("morning", t("Until tomorrow 07:00")), ("end", t("Until it is over"))]
        let buttons: [HTML] = spans.map { "<button name=\"until\" value=\"\($0.0)\">\($0.1)</button>" }
        // A silence is of the parameter, so that the next alert of it is not told either.
        let longer: HTML =
            story.machineParameter == nil
            ? ""
            : form(
                "silence", "s",
                "<hr><div class=\"eyebrow\">All alerts of this parameter</div><button name=\"hours\" value=\"8\">For 8 hours</button><button name=\"hours\" value=\"168\">For 7 days</button>"
            )
        return """
            <details class="menu end\(HTML(stringLiteral: place))"><summary class="btn">\(HTML.icon(.mute))Mute</summary><div class="pop">\
            \(form("mute", "m", buttons.joined()))\(longer)</div></details>
            """
    }

    private func alert(is kind: VehicleKind) -> Bool { view.alert.kind == kind }

    private func assign(_ place: StaticString) -> HTML {
        let others = view.people.filter { $0.account != caller.account }
        let all =
            (view.people.contains { $0.account == caller.account } ? [("me", t("Me"))] : [])
            + others.map { ($0.account, $0.shown) }
        let chosen = story.assignedTo == caller.account ? "me" : story.assignedTo
        let buttons: [HTML] = all.map { account, name in
            "<button name=\"to\" value=\"\(account)\"\(" aria-pressed=\"true\"", if: account == chosen)>\(HTML.icon(.person))\(name)</button>"
        }
        let nobody: HTML = story.assignedTo == nil ? "" : "<hr><button name=\"to\" value=\"\">Nobody</button>"
        return """
            <details class="menu end\(HTML(stringLiteral: place))"><summary class="btn">\(HTML.icon(.person))Assign</summary><div class="pop">\
            \(form("assign", "g", "\(buttons.joined())\(nobody)"))</div></details>
            """
    }

    /// A comment, below what happened.
    var comment: HTML {
        guard view.mayAct else { return "" }
        return """
            <footer>\(form("comment", "c", "<label class=\"sr\" for=\"note\">Comment</label><input class=\"box\" id=\"note\" name=\"note\" type=\"text\" maxlength=\"500\" autocomplete=\"off\" placeholder=\"Add a comment\" required><button class=\"btn\">Send</button>", style: "row grow"))</footer>
            """
    }

    func form(_ deed: String, _ suffix: String, _ content: HTML, style: StaticString = "") -> HTML {
        """
        <form class="\(HTML(stringLiteral: style))" method="post" action="\(view.address)/\(deed)">\
        \(AlertForms.hidden(caller, next: view.address, id: AlertAction.newID() + suffix))\(content)</form>
        """
    }
}

/// What to do about it, and the service that ends it.
struct AlertAdviceView {
    let view: AlertView

    var html: HTML {
        let advice =
            view.story.advice ?? (view.isOpen ? t("The rule has no advice.") : t("It is over: nothing is left to do."))
        let footer = service
        return """
            <section class="card"><header><h2>What to do</h2></header><div class="body"><p>\(advice)</p>\
            <p class="soft small">Ends with \(view.story.ending(in: view.caller.units)).</p></div>\(footer.isEmpty ? "" : "<footer>\(footer)</footer>")</section>
            """
    }

    private var service: HTML {
        guard view.mayAct, view.alert.kind == .machine else { return "" }
        if view.story.isService {
            return AlertActionsView(view: view).form(
                "service", "v",
                "<button class=\"btn small primary\" title=\"The regular service was done now\">\(HTML.icon(.wrench))Record the service</button>"
            )
        }
        return
            "<a class=\"btn small\" href=\"/vehicles/\(encoded: view.story.vehicle)?kind=machine&amp;tab=services#record\">\(HTML.icon(.wrench))Record a service</a>"
    }
}
