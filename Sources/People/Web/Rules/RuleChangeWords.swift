internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation

/// A change of rules as people say it: `Coolant temperature of S690 Combine: limit 85 °C → 98 °C`. It is kept as `RuleChange` writes it,
/// in the words and units of the files.
struct RuleChangeWords {
    /// What stands where a rule has no value.
    private static let nothing = "none"

    private let kind: RuleChange.Kind
    private let of: String
    private let field: ThresholdField
    /// What differs, by element: before and after, or the one value that there is.
    private let parts: [(element: String, values: [String])]

    /// Nil: it is written in another way, and shown as it stands.
    init?(_ text: String) {
        guard let space = text.firstIndex(of: " "), let kind = RuleChange.Kind(rawValue: String(text[..<space])),
            let end = text.firstRange(of: ": ")
        else { return nil }
        let rest = text[end.upperBound...]
        let next = rest.firstRange(of: ": ")
        guard let field = ThresholdField(name: String(rest[..<(next?.lowerBound ?? rest.endIndex)])) else { return nil }
        self.kind = kind
        self.field = field
        of = String(text[text.index(after: space)..<end.lowerBound])
        parts = next.map { RuleChangeWords.parts(String(rest[$0.upperBound...])) } ?? []
    }

    /// Advice comes last, and may hold anything: only that it differs is said.
    private static func parts(_ detail: String) -> [(element: String, values: [String])] {
        var parts: [(element: String, values: [String])] = []
        for piece in detail.split(separator: ", ") {
            guard let space = piece.firstIndex(of: " "), case let element = String(piece[..<space]),
                Threshold.elementNames.contains(element)
            else { continue }
            if element == "advice" { return parts + [(element, [])] }
            parts.append((element, piece[piece.index(after: space)...].split(separator: " → ").map { String($0) }))
        }
        return parts
    }

    /// - Parameters:
    ///   - rule: as it stands now, for its unit; nil: there is none.
    ///   - whose: a machine's name.
    func text(_ rule: (ThresholdFiles.Subject?, ThresholdField) -> Threshold?, in units: DriverSettings.Units) -> String
    {
        let subject = subject
        let noun = RuleWords.noun(field)
        let whose = subject?.shown ?? of
        let kept = rule(subject, field)?.unit ?? RuleWords.unit(of: field)
        let named = parts.first { $0.element == "unit" }?.values ?? []
        // Of a change of the unit itself the value before is in the one before.
        let (before, after) = (RuleUnit(named.first ?? kept, in: units), RuleUnit(named.last ?? kept, in: units))
        let said = parts.compactMap {
            RuleChangeWords.said($0.element, $0.values, before, after, isNew: kind == .added)
        }
        .joined(separator: ", ")
        switch kind {
        case .added:
            return said.isEmpty ? t("New rule: \(noun) of \(whose)") : t("New rule: \(noun) of \(whose), \(said)")
        case .removed: return t("Rule removed: \(noun) of \(whose)")
        case .changed:
            let name = RuleWords.name(field)
            return said.isEmpty ? t("\(name) of \(whose) changed") : t("\(name) of \(whose): \(said)")
        }
    }

    private var subject: ThresholdFiles.Subject? {
        let machine = "machine "
        guard of.hasPrefix(machine) else { return .model(of) }
        return VehicleID(String(of.dropFirst(machine.count))).map { .machine($0) }
    }

    /// Elements of a rule, as files name them.
    private enum Element: String {
        case threshold, critical, clear, every, soon, recommended, capacity, `for`, absent, test, user, unit
        case type, advice
    }

    /// - Parameter isNew: what every rule has is not said of a new one.
    private static func said(
        _ element: String, _ values: [String], _ before: RuleUnit, _ after: RuleUnit, isNew: Bool
    ) -> String? {
        func value(_ text: String, _ unit: RuleUnit) -> String {
            text == nothing ? t("none") : Decimal.scaled(text.utf8, decimals: 3).map(unit.full) ?? text
        }
        func span(_ text: String) -> String {
            text == nothing ? t("none") : Decimal.scaled(text.utf8, decimals: 3).map { RuleSpan.text($0) } ?? text
        }
        func change(_ shown: [String]) -> String { shown.joined(separator: " → ") }
        let amount = change(zip(values, [values.count > 1 ? before : after, after]).map(value))
        switch Element(rawValue: element) {
        case .threshold: return t("limit \(amount)")
        case .critical: return t("critical \(amount)")
        case .clear: return t("alert ends at \(amount)")
        case .every: return t("service every \(amount)")
        case .soon: return t("due soon \(amount) before")
        case .recommended: return t("recommended \(amount)")
        case .capacity: return t("capacity \(amount)")
        case .for: return t("must last \(change(values.map(span)))")
        case .absent: return t("silence \(change(values.map(span)))")
        case .test: return t("raised when \(change(values.map(test)))")
        case .user: return isNew ? nil : t("seen by \(change(values.map(audience)))")
        case .unit: return isNew ? nil : t("unit \(change(values))")
        case .type: return isNew ? nil : t("kind of value \(change(values))")
        case .advice: return isNew ? nil : t("what to do about it rewritten")
        case nil: return nil
        }
    }

    private static func test(_ text: String) -> String {
        switch Threshold.Test(rawValue: text) {
        case .above: t("above")
        case .below: t("below")
        case .shown: t("never")
        case nil: text
        }
    }

    /// `everybody`, as the form says it.
    static func audience(_ text: String) -> String {
        switch Audience(rawValue: text) {
        case .farmer: t("everybody who sees the machine")
        case .dealer: t("dealers and developers")
        case .developer: t("developers")
        case nil: text
        }
    }
}
