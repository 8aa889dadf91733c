internal import Codecs
package import Fleet
package import Formats
package import Postgres
internal import Presentation

/// Why nothing judges a vehicle, as `drover.not_monitored` says it. Whoever shows that no alert is open says this in its place.
package enum UnmonitoredReason: String, CaseIterable, Sendable {
    case nobody
    case alertsOff = "alerts_off"
    case noModel = "no_model"
    case noRules = "no_rules"

    /// The reason, and what to do about it.
    package var why: String {
        switch self {
        case .nobody:
            t(
                "Nobody drives or owns it, and the installation has no limits for such cars: assign it to a driver, register it to an account, or ask the operator for limits of the installation."
            )
        case .alertsOff:
            t("Who drives or owns it has switched all alerts off: only they can turn them on, under Settings.")
        case .noModel: t("Its model is not known: its box tells it with a reading, or whoever registers it.")
        case .noRules: t("Neither its model nor the machine itself has thresholds: add some under Rules.")
        }
    }

    /// In a list.
    package var short: String {
        switch self {
        case .nobody: t("nobody drives or owns it")
        case .alertsOff: t("its driver has switched alerts off")
        case .noModel: t("its model is not known")
        case .noRules: t("it has no thresholds")
        }
    }

    /// Nil: it is monitored. A reason of a later version is one, too.
    package init?(_ row: Row) throws {
        guard let text = try row.text("not_monitored") else { return nil }
        self = UnmonitoredReason(rawValue: text) ?? .noRules
    }

    /// For programs.
    package static func fields(_ reason: UnmonitoredReason?) -> [JSONValue.Field] {
        [
            ("monitored", .bool(reason == nil)), ("not_monitored", .optional(reason?.rawValue)),
            ("why", .optional(reason?.why)),
        ]
    }
}

/// A vehicle that nothing judges.
package struct UnmonitoredVehicle: Sendable {
    /// The most vehicles examined; larger fleets are narrowed.
    private static let lookedAtMax: Int64 = 2_000

    package let kind: VehicleKind
    package let vehicle: String
    package let name: String?
    package let reason: UnmonitoredReason

    /// - Parameters:
    ///   - vehicle: empty: all.
    ///   - fleet: empty: of all.
    ///   - sinceMs: of those that were heard of since then; nil: of all.
    package static func read(
        of vehicle: String = "", fleet: String = "", sinceMs: Int64? = nil,
        _ queries: ReportQueries,
        on connection: Connection
    ) throws -> [UnmonitoredVehicle] {
        try connection.query(
            queries["not_monitored"],
            [.text(vehicle), .text(fleet), sinceMs.map { .timestampMs($0) } ?? .null, .int8(lookedAtMax)]
        )
        .compactMap { row in
            try UnmonitoredReason(row).map {
                UnmonitoredVehicle(
                    kind: try row.word("kind")!, vehicle: try row.text("vehicle")!, name: try row.text("name"),
                    reason: $0)
            }
        }
    }

    package var json: JSONValue {
        .object(
            [("kind", .text(kind.rawValue)), ("vehicle", .text(vehicle)), ("name", .optional(name))]
                + UnmonitoredReason.fields(reason))
    }
}
