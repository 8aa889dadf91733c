internal import Alerts
internal import Backtesting
internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import HTTPServer
internal import Presentation

/// The form of one parameter's threshold: what stands in the file, and what somebody typed, in the units that they read.
struct ThresholdForm {
    static let daysRange = 1...366
    /// Values in the rule's unit.
    private static let values = ["threshold", "critical", "clear", "recommended", "capacity"]
    private static let spans = ["for", "absent"]
    private static let criticalElement = "critical"

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
    /// By element, as the form shows it: values in `unit`, spans with a unit of their own (`for_unit`).
    var typed: [String: String]
    /// What is wrong, by element.
    var errors: [String: String] = [:]
    /// The version that the submitted form was made from.
    var basedOn: String
    var days = 30
    /// A model that has no file has no page of thresholds either.
    var hasModelFile = false
    var isAnyway = false
    /// The alert that led here.
    var alert: String?
    /// Machines that it is for, in words.
    var whose = ""
    let unit: RuleUnit
    private var typedUnit: RuleUnit

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
        unit = RuleWords(field: field, rule: standing ?? ofModel, units: caller.units).unit
        typedUnit = unit
        typed = [:]
        typed = shown(standing ?? ofModel)
    }

    var words: RuleWords { RuleWords(field: field, rule: standing ?? ofModel, units: caller.units) }
    var address: String { of.address + "/" + URLText.escaped(field.shownName) }

    /// In the words of the file.
    private static func texts(_ threshold: Threshold?, _ field: ThresholdField) -> [String: String] {
        guard let threshold else {
            var texts = ["test": "none", "type": "string", "user": "farmer", "unit": RuleWords.unit(of: field)]
            if case .parameter(let parameter) = field {
                texts["type"] = parameter.row.kind == .flag ? "bool" : "int"
                texts["test"] = parameter.row.kind == .flag ? "below" : "above"
            }
            return texts
        }
        return Dictionary(threshold.elements) { first, _ in first }
    }

    private func shown(_ threshold: Threshold?) -> [String: String] {
        var texts = ThresholdForm.texts(threshold, field)
        for name in ThresholdForm.values { texts[name] = texts[name].map(unit.shown) }
        for (name, ms) in [("for", threshold?.holdMs), ("absent", threshold?.absentMs)] {
            let (number, unit) = RuleSpan.parts(ms ?? 0)
            texts[name] = ms == nil || ms == 0 ? "" : number
            texts[name + "_unit"] = unit
        }
        return texts
    }

    static func version(_ field: ThresholdField, _ file: [UInt8]?, _ name: String) throws -> String {
        let standing = try file.flatMap { try ThresholdEdit.standing(field, in: $0, fileName: name) }
        return standing.map { Hex.text(Secrets.digest($0).prefix(16)) } ?? "none"
    }

    // MARK: What somebody typed

    /// Nil: it is none that there is.
    var test: Threshold.Test? { typed["test"].flatMap { Threshold.Test(rawValue: $0) } }

    /// False: it names machines that are not the caller's.
    mutating func fill(from fields: FormFields) -> Bool {
        fill { fields[$0] }
        basedOn = fields["based_on"] ?? ""
        isAnyway = fields["anyway"] == "1"
        return fill(also: fields.all("also"))
    }

    /// From the address of a page's script: what it does not name stays as the rule is.
    mutating func fill(from request: Request) -> Bool {
        guard request.query["test"] != nil else {
            fill(limitFrom: request.query)
            return true
        }
        fill { request.query[$0] }
        return fill(also: request.queryItems.filter { $0.name == "also" }.map(\.value))
    }

    private mutating func fill(_ text: (String) -> String?) {
        for name in ThresholdEdit.elements { typed[name] = VehicleForm.trimmed(text(name) ?? "") }
        for name in ThresholdForm.spans { typed[name + "_unit"] = text(name + "_unit") ?? "s" }
        // Values of programs, and of a reader whose units are the file's own, are the file's.
        typedUnit = RuleUnit.named(text("in"), of: unit.stored) ?? RuleUnit("", in: .metric)
        days = ThresholdForm.days(text("days"))
        if case .parameter(let parameter) = field, parameter.row.kind == .flag, typed["threshold"] == "" {
            switch test {
            case .above: typed["threshold"] = "0"
            case .below: typed["threshold"] = "1"
            case .shown, nil: break
            }
        }
        if field == .parameter(.engineHours), let every = typed["every"], !every.isEmpty, test == .above {
            typed["threshold"] = every
        }
    }

    private mutating func fill(also texts: [String]) -> Bool {
        for text in texts {
            let parts = text.split(separator: " ", maxSplits: 1).map { String($0) }
            guard parts.count == 2, let index = others.firstIndex(where: { $0.vehicle.text == parts[0] }) else {
                return false
            }
            others[index].basedOn = parts[1]
        }
        return true
    }

    /// Of a link: the rule as it stands with another limit (`limit`, in the reader's units), `days`, and the alert that led here.
    private mutating func fill(limitFrom query: [String: String]) {
        days = ThresholdForm.days(query["days"])
        alert = query["from"] == "alert" ? query["alert"].map { String($0.prefix(200)) } ?? "" : nil
        guard let text = query["limit"], let rule = standing ?? ofModel, rule.test != .shown, rule.every == nil else {
            return
        }
        guard let thousandths = Decimal.scaled(text.replacing(",", with: ".").utf8, decimals: 3),
            let limit = unit.stored(Double(thousandths) / 1_000)
        else {
            typed["threshold"] = String(text.prefix(64))
            return
        }
        typed = shown(ThresholdForm.moved(rule, to: limit))
        typed["threshold"] = text.replacing(",", with: ".")
    }

    private static func days(_ text: String?) -> Int {
        text.flatMap { Int($0) }.flatMap { daysRange.contains($0) ? $0 : nil } ?? 30
    }

    /// The same rule with another limit: `clear` keeps its distance, `critical` only gives way.
    static func moved(_ rule: Threshold, to limit: Int64) -> Threshold {
        var moved = rule
        let distance = limit - (rule.threshold ?? limit)
        moved.threshold = limit
        moved.clear = rule.clear.map { $0 + distance }
        if moved.contradictions.contains(where: { $0.element == ThresholdForm.criticalElement }) {
            moved.critical = rule.critical.map { $0 + distance }
        }
        return moved
    }

    /// For the file, by element: in its own units.
    var texts: [String: String] {
        var texts = typed
        let was = ThresholdForm.texts(standing ?? ofModel, field)
        for name in ThresholdForm.values { texts[name] = typedUnit.stored(typed[name] ?? "", was: was[name]) }
        for name in ThresholdForm.spans { texts[name] = RuleSpan.seconds(typed[name] ?? "", typed[name + "_unit"]) }
        return texts
    }

    // MARK: What is wrong

    /// The labels of the fields, by element.
    static var labels: [String: String] {
        [
            "test": t("When"), "threshold": t("Limit"), "critical": t("Critical"), "clear": t("Alert ends at"),
            "unit": t("Unit in the file"), "type": t("Kind of value"), "user": t("Who sees it"), "for": t("For"),
            "absent": t("No information for"), "every": t("Service interval"), "soon": t("Due soon"),
            "recommended": t("Recommended"), "capacity": t("Capacity"), "advice": t("What to do"),
        ]
    }

    /// Notes the faults of the resulting files beside their fields.
    /// - Returns: those that belong to no field.
    mutating func note(_ error: ThresholdError) -> [String] {
        var rest: [String] = []
        for problem in error.problems {
            guard targets.contains(where: { $0.file == problem.file }), ThresholdForm.labels[problem.element] != nil
            else {
                if !rest.contains(problem.description) { rest.append(problem.description) }
                continue
            }
            errors[problem.element] = text(of: problem)
        }
        return rest
    }

    private func text(of problem: ThresholdProblem) -> String {
        let limit = [typed["threshold"] ?? "", shownUnit].filter { !$0.isEmpty }.joined(separator: " ")
        let isBelow = test == .below
        switch (problem.element, problem.reason) {
        case ("critical", .contradicts):
            return isBelow ? t("Must be below the limit, \(limit).") : t("Must be above the limit, \(limit).")
        case ("clear", .contradicts): return isBelow ? t("Must be \(limit) or more.") : t("Must be \(limit) or less.")
        default: return problem.why.prefix(1).uppercased() + problem.why.dropFirst()
        }
    }

    /// The unit of what was typed.
    var shownUnit: String { typedUnit.isConverted ? typedUnit.shown : unit.isConverted ? unit.stored : unit.shown }
    /// Nothing of a converted unit: a form of programs is shown again in the file's units.
    var isShownConverted: Bool { typedUnit.isConverted }
}
