internal import Alerts
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Reports
internal import Storage

/// Who may see alerts, and who may act on which: the one place that pages, forms and the API ask.
///
/// - Somebody sees an alert when row-level security shows it to them: others' alerts are not there.
/// - They act on it when their role allows it here, and `drover.may_do` says that this vehicle is theirs to speak of.
enum AlertAccess {
    /// Who acts: somebody at a page, or the account of a program.
    struct Actor {
        let account: String
        let roles: Set<Role>
        /// Whose next morning is meant.
        let zone: String

        /// The audience for parameters of machines.
        var audience: Audience { Audience(of: roles) }
    }

    static let readers = FleetRoutes.viewers

    /// The roles that act on some alerts. Which, `actors(on:)` says.
    static let actors: Set<Role> = FleetRoutes.keepers.union([.driver])

    /// Drivers take care of the cars that they drive; what a machine says is for who keeps it.
    static func actors(on kind: VehicleKind) -> Set<Role> { kind == .car ? actors : FleetRoutes.keepers }

    static func mayAct(_ caller: PageCaller, on kind: VehicleKind) -> Bool { mayAct(caller.roles, on: kind) }

    static func mayAct(_ roles: Set<Role>, on kind: VehicleKind) -> Bool {
        !roles.isDisjoint(with: actors(on: kind))
    }

    /// Nil: they may.
    /// Precondition: the reader sees it, and `RowSecurity.apply` in this transaction.
    static func refusal(
        _ deed: WriteAccess.Operation, _ story: AlertDetail, _ roles: Set<Role>, at nowMs: Int64,
        on connection: Connection
    ) throws -> Response? {
        guard mayAct(roles, on: story.alert.kind), let vehicle = VehicleID(story.vehicle) else { return forbidden }
        return try WriteRefusal.ofPage(
            deed, isCar: story.alert.kind == .car, vehicle, at: nowMs...nowMs, on: connection)
    }

    /// Whether the reader may act on it now.
    static func mayAct(
        _ story: AlertDetail, _ caller: PageCaller, at nowMs: Int64, on connection: Connection
    ) throws -> Bool {
        try refusal(.alert, story, caller.roles, at: nowMs, on: connection) == nil
    }

    private static let forbidden = Response.problem(
        403, type: "not-your-alert",
        detail: "Your role lets you see this alert, not act on it. Nothing was changed.")
}
