internal import Basics
public import Codecs
internal import Fleet
internal import Formats

/// One thing to tell about an alert. Its id is the same whenever the same log is read.
public struct AlertTransition: Equatable, Sendable {
    /// `worse`: it became critical, or a service that was due soon is due. `revised` and `withdrawn` correct what was told before.
    public enum Kind: String, Sendable { case opened, worse, resolved, revised, withdrawn }

    public let kind: Kind
    /// The alert after the transition.
    public let alert: ToldAlert
    /// When the record that caused it was pushed.
    public let pushedMs: Int64

    public init(_ kind: Kind, _ alert: ToldAlert, _ cause: AlertCause) {
        self.kind = kind
        self.alert = alert
        pushedMs = cause.pushedMs
    }

    /// When it opened, was worst or resolved, by the machine's readings; of a correction, when its cause was pushed.
    public var ts: Int64 {
        switch kind {
        case .opened: alert.episode.openedMs
        case .worse: alert.episode.worstMs
        case .resolved: alert.episode.resolvedMs ?? alert.episode.worstMs
        case .revised, .withdrawn: alert.revisedMs ?? alert.episode.openedMs
        }
    }

    public var id: String {
        // A service gets worse twice: when it is due, and when it is critical.
        let what = kind == .worse ? "\(kind.rawValue)-\(alert.episode.severity.rawValue)" : kind.rawValue
        return "\(alert.id)-\(what)-\(alert.revision)"
    }
    /// The key of its record on `drover.alerts`.
    public var key: String { alert.episode.vehicle.text }
}

extension RecordWriter {
    /// A record of kind `alert` on `drover.alerts`. `late`: it was pushed long after what it tells (Lateness).
    public static func alert(_ transition: AlertTransition) -> [UInt8] {
        let (alert, episode) = (transition.alert, transition.alert.episode)
        func number(_ value: Int64?) -> JSONValue? { value.map { .number(Decimal.text($0, decimals: 3)) } }
        let fields: [(String, JSONValue?)] = [
            ("schema", .integer(1)), ("kind", .text("alert")), ("id", .text(transition.id)),
            ("vehicle", .text(episode.vehicle.text)), ("ts", .integer(transition.ts)),
            ("transition", .text(transition.kind.rawValue)), ("alert", .text(alert.id)),
            ("late", Lateness.isLate(transition.ts, pushedMs: transition.pushedMs) ? .bool(true) : nil),
            ("revision", .integer(Int64(alert.revision))),
            // A car is judged by an account's limits, in the place of a model's.
            (episode.parameter.isOfCars ? "account" : "model", .text(episode.model)),
            ("parameter", .text(episode.name)), ("unit", .text(episode.unit)),
            ("severity", .text(episode.severity.rawValue)),
            ("state", .text(alert.state.rawValue)),
            ("test", .text(episode.test.rawValue)), ("threshold", number(episode.threshold)),
            ("since_ts", .integer(episode.sinceMs)), ("opened_ts", .integer(episode.openedMs)),
            ("opening_value", number(episode.openingValue)), ("worst_value", number(episode.worstValue)),
            ("worst_ts", .integer(episode.worstMs)), ("resolved_ts", episode.resolvedMs.map { .integer($0) }),
            ("audience", .text(episode.audience.rawValue)), ("recommended", number(episode.recommended)),
            ("advice", episode.advice.map { .text($0) }), ("rules_version", .text(episode.rulesVersion)),
        ]
        return Array(JSONValue.object(fields.compactMap { key, value in value.map { (key, $0) } }).rendered().utf8)
    }
}
