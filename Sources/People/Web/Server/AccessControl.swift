internal import Alerts
internal import Crypto
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage
package import Telemetry

/// The person who is logged in, as the database knows them.
struct PageCaller: Sendable {
    let account: String
    /// Empty: not told.
    let firstName: String
    let roles: Set<Role>
    /// `metric` or `us`.
    let units: DriverSettings.Units
    let zone: String
    let session: Token
    /// A role asks for a second factor, and none is on: until it is, nothing else is done.
    let lacksSecondFactor: Bool
    /// What people are called, by account (`knowing`); their own is always there.
    var names: [String: String]

    /// Sees machines only because their owners let them, perhaps without what was before.
    var seesAsDealer: Bool {
        roles.contains(.dealer) && roles.isDisjoint(with: [.farmer, .fleetManager, .administrator])
    }

    /// Its session's digest.
    var key: [UInt8] { session.digest }

    /// The credentials that its streams and questions depend on.
    var holds: StreamAccess { StreamAccess(key: key, roles: roles.map(\.rawValue).sorted()) }

    /// The value of `CSRFGuard.field` in its forms, and of the header `X-Drover-Form` in its scripts.
    var mark: String { CSRFGuard.mark(session) }

    init(_ holder: AccountHolder, session: Token, secondFactor: SecondFactorRule) {
        account = holder.account
        firstName = holder.firstName
        let name = [holder.firstName, holder.lastName].filter { !$0.isEmpty }.joined(separator: " ")
        names = name.isEmpty ? [:] : [holder.account: name]
        units = holder.units
        zone = holder.zone
        self.session = session
        lacksSecondFactor = secondFactor.isMissing(holder)
        roles = Set(holder.roles.compactMap(Role.init))
    }
}

/// Admits people who are logged in and have one of the roles of an address. Their reading is limited to the account's rows: the
/// transaction has the role `drover_page`, for which row-level security holds (the row policies in Queries/schema.sql), whatever
/// login the connection has.
package final class AccessControl: Sendable {
    static let markHeader = "x-drover-form"

    /// Nil: there is no login that may do no more than people.
    private let pool: ConnectionPool?
    private let cookie: SessionCookie
    private let secondFactor: SecondFactorRule
    private let log: Log

    /// - Parameter conninfo: of a login that is in `drover_page`; empty: nobody is let in.
    package init(conninfo: String, isSecure: Bool, secondFactor: SecondFactorRule = .none, log: Log) {
        self.secondFactor = secondFactor
        pool = conninfo.isEmpty ? nil : ConnectionPool(conninfo: conninfo)
        cookie = SessionCookie(isSecure: isSecure)
        self.log = log
    }

    /// A page: who is not logged in is sent to the log-in and comes back here.
    /// - Parameter roles: nil: for whoever is logged in.
    func page(
        _ request: Request, for roles: Set<Role>?, _ body: (PageCaller, Connection) throws -> Response
    ) -> Response {
        answered(request) { pool in
            guard let session = cookie.token(request), let caller = try caller(session, pool) else {
                return .seeOther("/login?next=" + AccessControl.wayBack(to: request))
            }
            if caller.lacksSecondFactor { return .seeOther(SecondFactorRule.path) }
            if let roles, caller.roles.isDisjoint(with: roles) {
                return .page(
                    AccountView.notForYou(Role.titles(roles), back: RefusalView.back(request)), status: 403)
            }
            return try noted(request, caller) {
                try seeing(caller, pool, Connection.beginSnapshot, body)
            }
        }
    }

    /// A form, sent from a page of ours by the session that got the page.
    func form(
        _ request: Request, for roles: Set<Role>, _ body: (PageCaller, FormFields, Connection) throws -> Response
    ) -> Response {
        if let refusal = CSRFGuard.refusal(request) { return refusal }
        guard let fields = FormFields(request) else { return FormFields.missing }
        return answered(request) { pool in
            guard let session = cookie.token(request), let caller = try caller(session, pool) else {
                return .seeOther("/login")
            }
            if caller.lacksSecondFactor { return .seeOther(SecondFactorRule.path) }
            if let refusal = AccessControl.refusal(caller, roles, mark: fields[CSRFGuard.field]) { return refusal }
            return try noted(request, caller) {
                try seeing(caller, pool, "BEGIN") { try body($0, fields, $1) }
            }
        }
    }

    /// A call by a page's script: refusals are problem details. All methods but GET need the session's mark.
    /// - Parameter roles: nil: for whoever is logged in.
    func call(
        _ request: Request, for roles: Set<Role>?, _ body: (PageCaller, Connection) throws -> Response
    ) -> Response {
        let isRead = request.method == "GET" || request.method == "HEAD"
        if !isRead, let refusal = CSRFGuard.refusal(request) { return refusal }
        return answered(request) { pool in
            guard let session = cookie.token(request), let caller = try caller(session, pool) else {
                return .problem(401, type: "logged-out", detail: "Nobody is logged in. Open /login.")
            }
            if caller.lacksSecondFactor { return SecondFactorRule.refusal }
            let mark = isRead ? caller.mark : request.headers[AccessControl.markHeader]
            if let refusal = AccessControl.refusal(caller, roles, mark: mark) { return refusal }
            return try noted(request, caller) {
                try seeing(caller, pool, isRead ? Connection.beginSnapshot : "BEGIN", body)
            }
        }
    }

    /// Reads as a program of `account`.
    func reading<R>(as account: String, _ body: (Connection) throws -> R) throws -> R {
        guard let pool else {
            throw Shut()
        }
        return try pool.withConnection { connection in
            try connection.transaction(Connection.beginSnapshot) {
                try RowSecurity.apply(account, on: connection)
                return try body(connection)
            }
        }
    }

    struct Shut: Error, CustomStringConvertible {
        let description = "postgres.page_url is not set: programs of accounts read nothing"
    }

    private static func refusal(_ caller: PageCaller, _ roles: Set<Role>?, mark: String?) -> Response? {
        guard mark == caller.mark else {
            return .problem(
                403, type: "form-old", detail: "You logged in again since you opened this form. Reload the page.")
        }
        guard let roles, caller.roles.isDisjoint(with: roles) else { return nil }
        return .problem(403, type: "role-missing", detail: "This is for \(list(roles)).")
    }

    /// Nil: logged out, or disabled.
    private func caller(_ session: Token, _ pool: ConnectionPool) throws -> PageCaller? {
        try pool.withConnection { connection in
            try PageSessionStore.holder(ofSession: session.digest, on: connection).map {
                PageCaller($0, session: session, secondFactor: secondFactor)
            }
        }
    }

    private func seeing(
        _ caller: PageCaller, _ pool: ConnectionPool, _ begin: String,
        _ body: (PageCaller, Connection) throws -> Response
    ) throws -> Response {
        let response = try pool.withConnection { connection in
            try connection.transaction(begin) {
                try RowSecurity.apply(caller.account, on: connection)
                return try body(caller, connection)
            }
        }
        return response.header("Cache-Control") == nil ? response.with("Cache-Control", "no-store") : response
    }

    /// Writes the audit entry. Nothing is shown that could not be noted; the page itself only reads.
    private func noted(
        _ request: Request, _ caller: PageCaller, _ body: () throws -> Response
    ) throws -> Response {
        let response = try body()
        let seesAll = !caller.roles.isDisjoint(with: [.operator, .administrator])
        guard AuditedResponse.isGiven(response), let told = AuditedResponse(request, seesAll: seesAll) else {
            return response
        }
        try apart(caller) { connection in
            try AuditLog.record(
                told.action, by: caller.account, about: told.subject, from: request.remote, told.detail, on: connection)
        }
        return response
    }

    /// In its own transaction, committed on return, also while another is open.
    func apart(_ caller: PageCaller, _ body: (Connection) throws -> Void) throws {
        guard let pool else { throw Shut() }
        try pool.withConnection { connection in
            try connection.transaction {
                try RowSecurity.apply(caller.account, on: connection)
                try body(connection)
            }
        }
    }

    /// Completes the entries with the outcome. The operation's own answer counts: a failure here goes to the log.
    func tell(_ outcome: AuditedOperation.Outcome, of deeds: [AuditedOperation], _ caller: PageCaller) {
        do {
            try apart(caller) { connection in for deed in deeds { try deed.tell(outcome, on: connection) } }
        } catch {
            log.error("the audit log has no entry that a deed failed", ["error": "\(error)"])
        }
    }

    private static func wayBack(to request: Request) -> String {
        let query = request.queryItems.map { URLText.escaped($0.name) + "=" + URLText.escaped($0.value) }
        return URLText.escaped(request.path + (query.isEmpty ? "" : "?" + query.joined(separator: "&")))
    }

    private static func list(_ roles: Set<Role>) -> String {
        Role.allCases.filter(roles.contains).map(\.name).joined(separator: ", ")
    }

    private func answered(_ request: Request, _ body: (ConnectionPool) throws -> Response) -> Response {
        guard let pool else {
            return .problem(
                503, type: "pages-off",
                detail: "Pages for people need a database login of their own: the setting postgres.page_url.")
        }
        do {
            return try body(pool)
        } catch {
            log.error("a page could not be made", ["path": "\(request.path)", "error": "\(error)"])
            return .problem(
                503, type: "database",
                detail:
                    "This is read from PostgreSQL, which cannot be reached or refused; the log says why. Try again shortly."
            ).with("Retry-After", "5")
        }
    }
}
