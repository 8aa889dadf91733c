internal import Presentation
internal import Storage

/// The steps to colleagues as the form has them: as somebody typed them, right or wrong.
struct NoticeStepsForm {
    static let stepsMax = 3
    static let minutes = 5...1_440

    var colleagues, minutes: [String]
    /// By step, from 0.
    var errors: [Int: String] = [:]

    init(_ steps: [NoticeSettingStore.Step]) {
        let empty = Array(repeating: "", count: max(0, NoticeStepsForm.stepsMax - steps.count))
        colleagues = steps.map(\.colleague) + empty
        minutes = steps.map { String($0.afterMin) } + empty
    }

    init(_ fields: FormFields) {
        let numbers = 1...NoticeStepsForm.stepsMax
        colleagues = numbers.map { fields["colleague-\($0)"] ?? "" }
        minutes = numbers.map { String((fields["after-\($0)"] ?? "").prefix(20)) }
    }

    /// Nil: `errors` says why.
    mutating func steps(_ known: Set<String>) -> [NoticeSettingStore.Step]? {
        var steps: [NoticeSettingStore.Step] = []
        errors = [:]
        for index in colleagues.indices where !colleagues[index].isEmpty {
            guard known.contains(colleagues[index]) else {
                errors[index] = t("Choose a colleague of your fleets.")
                continue
            }
            guard let after = Int(minutes[index]), NoticeStepsForm.minutes.contains(after),
                after > steps.last?.afterMin ?? 0
            else {
                errors[index] = t("Must be 5 to 1440 minutes, and more than the step before.")
                continue
            }
            steps.append(.init(afterMin: after, colleague: colleagues[index]))
        }
        return errors.isEmpty ? steps : nil
    }
}
