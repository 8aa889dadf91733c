internal import Alerts
internal import Fleet
internal import Reports
internal import Secrets
internal import Wire

/// The form of one parameter's threshold.
struct ThresholdForm {
    let of: RuleDesk.Of
    let field: ThresholdField
    /// Whose rule holds where the machine has none of its own.
    let model: String?
    /// What its file says now; nil: nothing.
    let standing: Threshold?
    let ofModel: Threshold?
    /// Of what stands in the file: two that change it at once are told.
    let version: String
    let caller: PageCaller
    var typed: [String: String]
    /// What the form that was sent was made of.
    var basedOn: String
    var days = 30
    var isAnyway = false

    init(
        of: RuleDesk.Of, field: ThresholdField, model: String?, standing: Threshold?, ofModel: Threshold?,
        version: String,
        caller: PageCaller
    ) {
        (self.of, self.field, self.model, self.standing, self.ofModel) = (of, field, model, standing, ofModel)
        (self.version, self.caller, basedOn) = (version, caller, version)
        typed = ThresholdForm.texts(standing ?? ofModel, field)
    }

    /// In the words of the file.
    private static func texts(_ threshold: Threshold?, _ field: ThresholdField) -> [String: String] {
        guard let threshold else {
            var texts = ["test": "none", "type": "string", "user": "farmer"]
            if case .parameter(let parameter) = field {
                texts["unit"] = parameter.row.unit
                texts["type"] = parameter.row.kind == .flag ? "bool" : "int"
            }
            return texts
        }
        return Dictionary(threshold.elements) { first, _ in first }
    }

    static func version(_ field: ThresholdField, _ file: [UInt8]?, _ name: String) throws -> String {
        let standing = try file.flatMap { try ThresholdEdit.standing(field, in: $0, fileName: name) }
        return standing.map { Hex.text(Secrets.digest($0).prefix(16)) } ?? "none"
    }

    mutating func take(_ fields: Fields) {
        for name in ThresholdEdit.elements { typed[name] = VehicleForm.trimmed(fields[name] ?? "") }
        basedOn = fields["based_on"] ?? ""
        days = fields["days"].flatMap { Int($0) }.flatMap { (1...366).contains($0) ? $0 : nil } ?? 30
        isAnyway = fields["anyway"] == "1"
    }

    var address: String { of.address + "/" + Address.escaped(field.shownName) }

    // MARK: As a page

    /// - Parameters:
    ///   - notice: what came of what was sent, HTML already.
    ///   - asksAnyway: rule tests fail; whoever means it says so.
    func html(_ notice: String = "", asksAnyway: Bool = false) -> String {
        """
        <p><a href="\(of.address)">All thresholds of \(HTMLText.escaped(of.title))</a></p>
        \(notice)
        \(about)
        <form class="fields" method="post" action="\(address)">
        \(FormPage.hidden(FormGuard.field, caller.mark))\(FormPage.hidden("based_on", version))
        <div class="thresholds">
        \(inputs)
        </div>
        <label for="advice">What to do about it</label><textarea id="advice" name="advice" rows="3" maxlength="1000">\(HTMLText.escaped(typed["advice"] ?? ""))</textarea>
        <fieldset><legend>What would it have raised?</legend>
        <label for="days">Readings of so many days up to now</label><input id="days" name="days" type="number" min="1" max="366" value="\(days)" required>
        <button name="do" value="try">Try it</button></fieldset>
        \(asksAnyway ? "<label class=\"check\"><input type=\"checkbox\" name=\"anyway\" value=\"1\"> Put it in force although rule tests fail</label>" : "")
        <button name="do" value="save">Save and put in force</button>
        \(removal)
        </form>
        """
    }

    private var about: String {
        if of.vehicle == nil {
            return
                "<p>It holds for all machines of the model \(HTMLText.escaped(of.title)) that have no rule of their own.</p>"
        }
        let standard =
            ofModel.map { "Its model's rule: \(HTMLText.escaped(ThresholdPages.rule($0)))." }
            ?? "Its model has no rule of it."
        return "<p>This machine's own rule stands in the place of its model's, whole. \(standard)</p>"
    }

    private var removal: String {
        guard standing != nil else { return "" }
        return of.vehicle == nil
            ? "<button class=\"quiet\" name=\"do\" value=\"remove\" formnovalidate>Remove this parameter</button>"
            : "<button class=\"quiet\" name=\"do\" value=\"remove\" formnovalidate>Go back to its model's rule</button>"
    }

    private var inputs: String {
        [
            choice(
                "test", "Alert when the value is",
                Threshold.Test.allCases.map { ($0.rawValue, $0 == .shown ? "none: it is only shown" : $0.rawValue) }),
            input(
                "threshold", "Threshold: strictly \(typed["test"] == "below" ? "below" : "beyond") it an alert opens"),
            input("critical", "Critical beyond"), input("clear", "Resolved when back at"),
            input("unit", "Unit of these values"),
            choice("type", "Kind of value", [("int", "number"), ("bool", "yes (1) or no (0)"), ("string", "text")]),
            choice(
                "user", "Who sees it",
                [
                    ("farmer", "farmers and all others"), ("dealer", "dealers and developers"),
                    ("developer", "developers"),
                ]),
            input("for", "Must hold longer than, seconds"), input("absent", "Alert without information for, seconds"),
            input("every", "Service interval, hours (the threshold is the same number)"),
            input("soon", "Due soon so many hours before"),
            input("recommended", "Recommended value"), input("capacity", "Capacity"),
        ].joined(separator: "\n")
    }

    private func input(_ name: String, _ label: String) -> String {
        "<div><label for=\"\(name)\">\(label)</label><input id=\"\(name)\" name=\"\(name)\" maxlength=\"64\" autocomplete=\"off\" "
            + "value=\"\(HTMLText.escaped(typed[name] ?? ""))\"></div>"
    }

    private func choice(_ name: String, _ label: String, _ values: [(String, String)]) -> String {
        let options = values.map { value, text in
            "<option value=\"\(value)\"\(typed[name] == value ? " selected" : "")>\(text)</option>"
        }
        return
            "<div><label for=\"\(name)\">\(label)</label><select id=\"\(name)\" name=\"\(name)\">\(options.joined())</select></div>"
    }
}
