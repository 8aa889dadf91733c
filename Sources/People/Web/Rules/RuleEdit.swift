internal import Fleet
internal import Postgres
internal import Storage

/// One file's change of rules that a page saves.
struct RuleEdit {
    private static let changesMax = 8

    let of: ThresholdFiles.Subject
    /// The version of all rules with it.
    let version: String
    let changes: [String]

    /// For the audit log, before the file is written.
    func deed(by account: String, from remote: String) -> AuditedOperation {
        let whose = of.vehicle.map { ("vehicle", $0.text) } ?? ("model", of.model ?? "")
        let told = changes.prefix(RuleEdit.changesMax).enumerated().map { ("change \($0 + 1)", $1) }
        return AuditedOperation(.rulesEdited, by: account, from: remote, [whose, ("version", version)] + told)
    }

    /// For the page, when it is written.
    func note(on connection: Connection) throws {
        try RuleEditStore.note(
            model: of.model, machine: of.vehicle, version: version, changes: changes, on: connection)
    }
}
