internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation

/// A threshold's form as a page: one sentence, what is finer under it, what it would have raised, and the button.
extension ThresholdForm {
    /// - Parameters:
    ///   - notice: what came of what was sent.
    ///   - tried: what it would have raised; empty: the page's script asks for it.
    ///   - asksAnyway: rule tests fail; whoever means it says so.
    func html(_ notice: HTML = "", tried: HTML = "", asksAnyway: Bool = false) -> HTML {
        """
        \(notice)
        \(about)
        <form id="rule" class="stack rule" method="post" action="\(address)">
        \(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("based_on", version))\
        \(FormView.hidden("in", isShownConverted ? shownUnit : ""))
        \(tally)
        <section class="card"><div class="body form">
        <div class="sentence">\(sentence)</div>
        \(["threshold", "for", "test"].map { error($0) }.joined())
        \(levels)
        \(more)
        </div></section>
        \(machines)
        \(trial(tried))
        \(saver(asksAnyway))
        </form>
        """
    }

    /// Its effect in one line, which stays in sight while the form is edited. The page's script fills it.
    private var tally: HTML {
        kind == nil
            ? ""
            : "<p class=\"strip tally\" id=\"tally\" aria-hidden=\"true\" hidden>\(HTML.icon(.bell))<span></span></p>"
    }

    private var about: HTML {
        if let alert {
            let back: HTML = alert.isEmpty ? "/alerts" : "/alerts/\(encoded: alert)"
            return """
                <p class="strip info">\(HTML.icon(.bell))<span class="grow">Another limit, and what it would have raised. Nothing changes \
                before you save.</span><a class="btn small" href="\(back)">Back to the alert</a></p>
                """
        }
        guard let vehicle = of.vehicle else { return "" }
        let standard: HTML =
            ofModel.map { HTML(t("Its model's rule: \(RuleWords($0, in: caller.units).short).")) }
            ?? .t("Its model has no such rule.")
        let own: HTML =
            standing == nil ? .t("Saving gives it a rule of its own.") : .t("This machine has a rule of its own.")
        return
            "<p class=\"soft\"><a href=\"/vehicles/\(encoded: vehicle.text)?kind=machine\">\(whose)</a>: \(own) \(standard)\(modelLink)</p>"
    }

    private var modelLink: HTML {
        guard let model, hasModelFile, !caller.roles.isDisjoint(with: ThresholdRoutes.modelEditors) else { return "" }
        let address = ThresholdFiles.Subject.model(model).address + "/" + URLText.escaped(field.shownName)
        return " <a href=\"\(address)\">Change it for the model</a>"
    }

    // MARK: The sentence

    private var kind: MachineParameter.Kind? {
        guard case .parameter(let parameter) = field else { return nil }
        return parameter.row.kind
    }

    private var sentence: HTML {
        guard let kind else {
            return
                "<span>Show <b>\(RuleWords.noun(field))</b> of <b>\(whose)</b>. A text raises no alert.</span>\(FormView.hidden("test", "none"))"
        }
        if isService {
            return """
                <span>Tell me when <b>\(whose)</b> has run</span>\(value("every", t("Hours between services"), "h"))\
                <span>since its last service, and</span>\(value("soon", t("Hours before it is due"), "h"))<span>before that</span>\
                \(FormView.hidden("test", "above"))\(FormView.hidden("threshold", typed["threshold"] ?? ""))
                """
        }
        let start: HTML = "<span>Tell me when <b>\(RuleWords.noun(field))</b> of <b>\(whose)</b></span>"
        let hold: HTML = "<span>for longer than</span>\(span("for", t("Must hold for longer than")))"
        switch kind {
        case .flag:
            let states = Threshold.Test.allCases.map { test in
                (test.rawValue, test == .shown ? t("is anything (never alert)") : RuleWords.state(field, test))
            }
            return "\(start)\(choice("test", t("When"), states))\(FormView.hidden("threshold", ""))\(hold)"
        case .time:
            let tests = [
                ("above", t("is more than")), ("below", t("is less than")),
                ("none", t("is anything (never alert), not")),
            ]
            return
                "\(start)\(choice("test", t("When"), tests))\(value("threshold", t("Limit"), shownUnit))<span>ago</span>"
        case .number, .count:
            let tests = [
                ("above", t("is above")), ("below", t("is below")), ("none", t("is anything (never alert), not")),
            ]
            return "\(start)\(choice("test", t("When"), tests))\(value("threshold", t("Limit"), shownUnit))\(hold)"
        }
    }

    /// Engine hours are counted since a service, unless there is a plain rule of them.
    private var isService: Bool {
        field == .parameter(.engineHours) && (standing ?? ofModel).map { $0.every != nil || $0.test == .shown } ?? true
    }

    private func value(_ name: String, _ label: String, _ unit: String) -> HTML {
        """
        <label class="in\(" bad", if: errors[name] != nil)"><input id="\(name)" name="\(name)" type="text" inputmode="decimal" maxlength="64" size="5" \
        autocomplete="off" aria-label="\(label)" value="\(typed[name] ?? "")"\(described(name))>\
        \("<span class=\"unit\">\(unit)</span>", if: !unit.isEmpty)</label>
        """
    }

    private func span(_ name: String, _ label: String) -> HTML {
        """
        <span class="in\(" bad", if: errors[name] != nil)"><input id="\(name)" name="\(name)" type="text" inputmode="decimal" maxlength="64" size="3" \
        autocomplete="off" placeholder="0" aria-label="\(label)" value="\(typed[name] ?? "")"\(described(name))>\
        <select name="\(name)_unit" aria-label="\(t("\(label): unit"))">\
        \(HTML.options(RuleSpan.choices, typed[name + "_unit"]))</select></span>
        """
    }

    /// - Parameter label: nil: it has one above it.
    private func choice(_ name: String, _ label: String?, _ values: [(String, String)]) -> HTML {
        // A word that the form does not have is shown as it was sent, beside its fault.
        let known = typed[name].map { chosen in values.contains { $0.0 == chosen } } ?? true
        let all = known ? values : values + [(typed[name]!, typed[name]!)]
        let spoken: HTML? = label.map { " aria-label=\"\($0)\"" }
        return """
            <select class="box" id="\(name)" name="\(name)"\(spoken)\(described(name))>\(HTML.options(all, typed[name]))</select>
            """
    }

    private func described(_ name: String) -> HTML {
        errors[name] == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"\(name)-error\""
    }

    private func error(_ name: String) -> HTML {
        guard let text = errors[name] else { return "" }
        let label = ThresholdForm.labels[name] ?? name
        return
            "<p class=\"fld bad\"><span class=\"err\" id=\"\(name)-error\">\(HTML.icon(.warn))\(label): \(text)</span></p>"
    }

    // MARK: Levels and what is finer

    private var levels: HTML {
        guard let kind, kind != .flag, !isService else { return "" }
        let isBelow = test == .below
        return """
            <div class="lv"><span class="pill warning">Warning</span><span class="soft">beyond the limit in the sentence</span></div>
            <div class="lv"><span class="pill critical">Critical</span><span class="row"><span class="soft">beyond</span>\
            \(value("critical", t("Critical beyond"), shownUnit))<span class="faint small">leave empty for none</span></span></div>
            \(error("critical"))
            <div class="lv"><span class="pill ok">Alert ends</span><span class="row"><span class="soft">\(isBelow ? HTML.t("back above") : .t("back below"))</span>\
            \(value("clear", t("Alert ends at"), shownUnit))<span class="faint small">\(isBelow
                ? HTML.t("A little above the limit, so that a value that wavers does not raise one alert after another. Leave empty for the limit itself.")
                : .t("A little below the limit, so that a value that wavers does not raise one alert after another. Leave empty for the limit itself."))</span></span></div>
            \(error("clear"))
            """
    }

    private var more: HTML {
        let inside = ["absent", "user", "recommended", "capacity", "unit", "type", "advice", "every", "soon"]
        let isOpen = inside.contains { errors[$0] != nil }
        let absent: HTML =
            kind == nil
            ? ""
            : "<div class=\"fld w4\"><label for=\"absent\">Also when nothing is heard for</label>\(span("absent", t("No information for")))\(error("absent"))</div>"
        let isNumber = kind == .number || kind == .count
        return """
            <details\(" open", if: isOpen)><summary class="soft small">\(kind == nil ? HTML.t("More: who sees it, advice") : .t("More: who sees it, advice, silence"))</summary><div class="grid">
            \(absent)
            <div class="fld w4"><label for="user">Who sees it</label>\(choice("user", nil, [
                ("farmer", t("Everybody who sees the machine")), ("dealer", t("Dealers and developers")), ("developer", t("Developers")),
            ]))\(error("user"))</div>
            \(isNumber && !isService ? "\(plain("recommended", t("Recommended value"), shownUnit))\(plain("capacity", t("Capacity"), shownUnit))" : "")
            \(isService ? "" : "\(leftover("every"))\(leftover("soon"))")
            <div class="fld w4"><label for="unit">Unit in the file</label><input id="unit" name="unit" type="text" maxlength="64" \
            autocomplete="off" value="\(typed["unit"] ?? "")"\(described("unit"))>\(error("unit"))</div>
            <div class="fld w4"><label for="type">Kind of value</label>\(choice("type", nil, [
                ("int", t("Number")), ("bool", t("Yes or no")), ("string", t("Text")),
            ]))\(error("type"))</div>
            <div class="fld w12"><label for="advice">What to do about it</label><textarea id="advice" name="advice" rows="2" \
            maxlength="1000"\(described("advice"))>\(typed["advice"] ?? "")</textarea><span class="help">Shown with the alert.</span>\(error("advice"))</div>
            </div></details>
            """
    }

    private func plain(_ name: String, _ label: String, _ unit: String) -> HTML {
        "<div class=\"fld w4\"><span class=\"lab\">\(label)</span>\(value(name, label, unit))\(error(name))</div>"
    }

    /// What the form has no field for is kept as it is, and said where it is wrong.
    private func leftover(_ name: String) -> HTML {
        let text = typed[name] ?? ""
        return text.isEmpty ? "" : "\(FormView.hidden(name, text))\(error(name))"
    }

    /// One machine or several at once.
    private var machines: HTML {
        guard !others.isEmpty, of.vehicle != nil else { return "" }
        let checks: [HTML] = others.map { other in
            let own = other.standing.map { t("its own now: \(RuleWords($0, in: caller.units).short)") }
            return
                "<label class=\"check\"><input type=\"checkbox\" name=\"also\" value=\"\(other.vehicle.text) \(other.version)\"\(" checked", if: other.basedOn != nil)> \(other.vehicle.text)\(own.map { ", \($0)" as HTML })</label>"
        }
        return
            "<section class=\"card\"><header><h2>Also for these machines of yours</h2></header><div class=\"body tight\">\(checks.joined(separator: "\n"))</div></section>"
    }

    // MARK: What it would have raised, and the buttons

    private func trial(_ tried: HTML) -> HTML {
        guard kind != nil else { return "" }
        return """
            <section class="card" id="trial" data-tried="\(address)/tried"><header><h2>What it would have raised</h2>\
            <label class="row end"><span class="soft small">Last</span><span class="in days"><input name="days" type="number" min="1" max="366" \
            value="\(days)" aria-label="Days to look back" required><span class="unit">days</span></span></label></header>
            <div id="tried" aria-live="polite">\(tried.isEmpty ? "<p class=\"empty\">Try it on the readings of the last days. Nothing is changed by trying.</p>" : tried)</div>
            \(slider)</section>
            """
    }

    /// Needs the page's script, which shows it.
    private var slider: HTML {
        guard let range = ThresholdForm.range(typed["threshold"], critical: typed["critical"], test: typed["test"]),
            kind != .flag, !isService
        else { return "" }
        return """
            <div class="row body tight" id="slide" hidden><label class="soft nowrap" for="other">Try another limit</label>\
            <input class="range grow" type="range" id="other" min="\(range.least)" max="\(range.most)" step="\(range.step)" \
            value="\(typed["threshold"] ?? "")"><output class="nowrap" for="other"><b>\(typed["threshold"] ?? "") \(shownUnit)</b></output></div>
            """
    }

    /// About a third below to a third above the limit, not beyond what is critical, in round steps.
    static func range(_ limit: String?, critical: String?, test: String?) -> (
        least: String, most: String, step: String
    )? {
        guard let limit = limit.flatMap({ Decimal.scaled($0.utf8, decimals: 3) }), test != Threshold.Test.shown.rawValue
        else { return nil }
        let step = RuleSteps.step(about: limit)
        var (least, most) = (limit - step * 15, limit + step * 15)
        if let critical = critical.flatMap({ Decimal.scaled($0.utf8, decimals: 3) }) {
            if test == Threshold.Test.below.rawValue {
                least = min(max(least, critical), limit)
            } else {
                most = max(min(most, critical), limit)
            }
        }
        if limit >= 0 { least = max(least, limit % step) }
        func text(_ value: Int64) -> String { Decimal.text(value, decimals: 3) }
        return (text(least), text(most), text(step))
    }

    private func saver(_ asksAnyway: Bool) -> HTML {
        let anyway: HTML =
            asksAnyway
            ? "<label class=\"check\"><input type=\"checkbox\" name=\"anyway\" value=\"1\"> Save although rule tests fail</label>"
            : ""
        let isOfModel = of.vehicle == nil
        let removal: HTML =
            standing == nil
            ? ""
            : "<button class=\"btn ghost\" name=\"do\" value=\"remove\" formnovalidate>\(isOfModel ? HTML.t("Remove this rule") : .t("Back to its model's rule"))</button>"
        let attempt: HTML = kind == nil ? "" : "<button class=\"btn\" name=\"do\" value=\"try\">Try it</button>"
        return """
            <section class="card saver"><div class="row wrap body tight"><span class="soft grow" id="changed" role="status"></span>\(anyway)\
            \(removal)\(attempt)<button class="btn primary" name="do" value="save">Save rule</button></div></section>
            """
    }
}

/// Round steps for limits to try.
enum RuleSteps {
    /// About a fiftieth of the limit: 1, 2 or 5 with zeros, at least 0.1. All in thousandths.
    static func step(about limit: Int64) -> Int64 {
        let wanted = max(100, Int64(clamping: limit.magnitude) / 50)
        var unit: Int64 = 100
        while unit * 10 <= wanted { unit *= 10 }
        return [1, 2, 5].map { $0 * unit }.last { $0 <= wanted } ?? unit
    }

    /// Two steps down and two up, each three of the slider's: what else one could choose.
    static func others(_ limit: Int64) -> [Int64] {
        let step = step(about: limit) * 3
        return [-2, -1, 0, 1, 2].map { limit + $0 * step }
    }
}
