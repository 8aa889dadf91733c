internal import Basics
internal import Codecs
package import Formats

extension AuditEntry {
    /// As collectors get it, of the command and of `/v1/audit`: with all that its hash is over, so that they can walk the chain, too.
    package var json: JSONValue {
        func digest(_ name: Name?) -> JSONValue { .optional((name?.digest).map { Hex.text($0) }) }
        return .object([
            ("sequence", .integer(sequence)), ("at", .text(UTC.text(atUs / 1_000))), ("at_us", .integer(atUs)),
            ("action", .text(action)), ("actor", .optional(actor?.said)), ("subject", .optional(subject?.said)),
            ("remote", .optional(remote?.said)), ("actor_digest", digest(actor)), ("subject_digest", digest(subject)),
            ("remote_digest", digest(remote)), ("detail", .text(detail)), ("hash", .text(Hex.text(hash))),
        ])
    }
}
