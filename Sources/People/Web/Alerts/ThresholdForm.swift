internal import Alerts
internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import Presentation

/// The form of one parameter's threshold.
struct ThresholdForm {
    let of: ThresholdFiles.Subject
    let field: ThresholdField
    /// The model whose rule applies where the machine has none of its own.
    let model: String?
    /// The rule in the file; nil: none.
    let standing: Threshold?
    let ofModel: Threshold?
    /// The version of the text in the file, to detect concurrent changes.
    let version: String
    let caller: PageCaller
    /// Machines of the same model that are the caller's, too; none where the caller may change the model's rule.
    var others: [Other] = []
    var typed: [String: String]
    /// The version that the submitted form was made from.
    var basedOn: String
    var days = 30
    /// A model that has no file has no page of thresholds either.
    var hasModelFile = false
    var isAnyway = false

    /// The operation of a button of the form.
    enum Operation: String {
        case save, remove
        case attempt = "try"

        /// By the keyboard a form is sent without a button: it is saved.
        init(named text: String?) { self = text.flatMap { Operation(rawValue: $0) } ?? .save }
    }

    struct Other {
        let vehicle: VehicleID
        let standing: Threshold?
        let version: String
        /// The version that the submitted form was made from; nil: leave it as it is.
        var basedOn: String?
    }

    /// The models and machines whose rule is changed.
    var targets: [ThresholdFiles.Subject] { [of] + others.filter { $0.basedOn != nil }.map { .machine($0.vehicle) } }
    /// Changed by somebody since the form was made.
    var overtaken: [String] { others.filter { $0.basedOn != nil && $0.basedOn != $0.version }.map(\.vehicle.text) }

    init(
        of: ThresholdFiles.Subject, field: ThresholdField, model: String?, standing: Threshold?, ofModel: Threshold?,
        version: String,
        caller: PageCaller
    ) {
        self.of = of
        self.field = field
        self.model = model
        self.standing = standing
        self.ofModel = ofModel
        self.version = version
        self.caller = caller
        basedOn = version
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

    /// False: it names machines that are not the caller's.
    mutating func fill(from fields: FormFields) -> Bool {
        for name in ThresholdEdit.elements { typed[name] = VehicleForm.trimmed(fields[name] ?? "") }
        basedOn = fields["based_on"] ?? ""
        days = fields["days"].flatMap { Int($0) }.flatMap { (1...366).contains($0) ? $0 : nil } ?? 30
        isAnyway = fields["anyway"] == "1"
        for text in fields.all("also") {
            let parts = text.split(separator: " ", maxSplits: 1).map { String($0) }
            guard parts.count == 2, let index = others.firstIndex(where: { $0.vehicle.text == parts[0] }) else {
                return false
            }
            others[index].basedOn = parts[1]
        }
        return true
    }

    var address: String { of.address + "/" + URLText.escaped(field.shownName) }

    // MARK: As a page

    /// - Parameters:
    ///   - notice: what came of what was sent.
    ///   - asksAnyway: rule tests fail; whoever means it says so.
    func html(_ notice: HTML = "", asksAnyway: Bool = false) -> HTML {
        """
        <p><a href="\(of.address)">All thresholds of \(of.title)</a></p>
        \(notice)
        \(about)
        <form class="fields" method="post" action="\(address)">
        \(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("based_on", version))
        \(machines)
        <div class="thresholds">
        \(inputs)
        </div>
        <label for="advice">What to do about it</label><textarea id="advice" name="advice" rows="3" maxlength="1000">\(typed["advice"] ?? "")</textarea>
        <fieldset><legend>What would it have raised?</legend>
        <label for="days">Readings of so many days up to now</label><input id="days" name="days" type="number" min="1" max="366" value="\(days)" required>
        <button name="do" value="try">Try it</button></fieldset>
        \(asksAnyway ? "<label class=\"check\"><input type=\"checkbox\" name=\"anyway\" value=\"1\"> Put it in force although rule tests fail</label>" : "")
        <button name="do" value="save">Save and put in force</button>
        \(removal)
        </form>
        """
    }

    private var about: HTML {
        if of.vehicle == nil {
            return
                "<p>It holds for all machines of the model \(of.title) that have no rule of their own.</p>"
        }
        let standard =
            ofModel.map { "Its model's rule: \(ThresholdView.rule($0))." }
            ?? "Its model has no rule of it."
        return "<p>This machine's own rule stands in the place of its model's, whole. \(standard)\(modelLink)</p>"
    }

    private var modelLink: HTML {
        guard let model, hasModelFile, !caller.roles.isDisjoint(with: ThresholdRoutes.modelEditors) else { return "" }
        let address = ThresholdFiles.Subject.model(model).address + "/" + URLText.escaped(field.shownName)
        return " <a href=\"\(address)\">Change it for the model</a>"
    }

    /// One machine or several at once.
    private var machines: HTML {
        guard !others.isEmpty, let vehicle = of.vehicle else { return "" }
        let checks: [HTML] = others.map { other in
            let own = other.standing.map { ", its own now: \(ThresholdView.rule($0))" } ?? ""
            return
                "<label class=\"check\"><input type=\"checkbox\" name=\"also\" value=\"\(other.vehicle.text) \(other.version)\"\(other.basedOn == nil ? "" : " checked")> \(other.vehicle.text)\(own)</label>"
        }
        return
            "<fieldset><legend>For \(vehicle.text), and for these machines of mine</legend>\n\(checks.joined(separator: "\n"))\n</fieldset>"
    }

    private var removal: HTML {
        guard standing != nil else { return "" }
        return of.vehicle == nil
            ? "<button class=\"quiet\" name=\"do\" value=\"remove\" formnovalidate>Remove this parameter</button>"
            : "<button class=\"quiet\" name=\"do\" value=\"remove\" formnovalidate>Go back to its model's rule</button>"
    }

    /// The labels of the fields, by element.
    static let labels = [
        "test": "Alert when the value is", "threshold": "Threshold", "critical": "Critical beyond",
        "clear": "Resolved when back at", "unit": "Unit of these values", "type": "Kind of value",
        "user": "Who sees it",
        "for": "Must hold longer than, seconds", "absent": "Alert without information for, seconds",
        "every": "Service interval, hours", "soon": "Due soon so many hours before", "recommended": "Recommended value",
        "capacity": "Capacity", "advice": "What to do about it",
    ]

    /// The faults of the resulting files: in the form's words, or in the loader's for text that the form did not write.
    func faults(_ error: ThresholdError) -> [String] {
        var said: [String] = []
        for problem in error.problems {
            let label = targets.contains { $0.file == problem.file } ? ThresholdForm.labels[problem.element] : nil
            let text = label.map(problem.text(named:)) ?? problem.description
            if !said.contains(text) { said.append(text) }
        }
        return said
    }

    private var inputs: HTML {
        [
            choice(
                "test", "Alert when the value is",
                Threshold.Test.allCases.map { ($0.rawValue, $0 == .shown ? "none: it is only shown" : $0.rawValue) }),
            input(
                "threshold",
                "Threshold: strictly \(typed["test"] == Threshold.Test.below.rawValue ? "below" : "beyond") it an alert opens"
            ),
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

    private func input(_ name: String, _ label: String) -> HTML {
        "<div><label for=\"\(name)\">\(label)</label><input id=\"\(name)\" name=\"\(name)\" maxlength=\"64\" autocomplete=\"off\" value=\"\(typed[name] ?? "")\"></div>"
    }

    private func choice(_ name: String, _ label: String, _ values: [(String, String)]) -> HTML {
        "<div><label for=\"\(name)\">\(label)</label><select id=\"\(name)\" name=\"\(name)\">\(HTML.options(values, typed[name]))</select></div>"
    }
}
