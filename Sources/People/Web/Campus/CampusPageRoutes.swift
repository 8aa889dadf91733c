internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
package import HTTPServer
internal import Postgres
internal import Presentation
package import Reports
internal import Storage

/// Pages of campus rides for riders, ride drivers and dispatchers who are logged in: docs/campus-pages.md. They share the apps' code
/// (`CampusRoutes`): a form becomes the request that an app would send.
package struct CampusPageRoutes: Sendable {
    /// The roles that see all of a campus.
    static let watchers: Set<Role> = [.dispatcher, .administrator]
    static let people: Set<Role> = [.rider, .rideDriver, .dispatcher]

    let campuses: CampusRoutes
    let codes: PersonCodeRoutes
    let access: AccessControl
    let assets: AssetFiles
    let base: BaseMap
    let queries: ReportQueries
    /// Nil: itineraries are drawn straight.
    let routes: RoadLineService?

    package init(
        _ campuses: CampusRoutes, codes: PersonCodeRoutes, access: AccessControl, assets: AssetFiles, base: BaseMap,
        queries: ReportQueries,
        routes: RoadLineService?
    ) {
        self.campuses = campuses
        self.codes = codes
        self.access = access
        self.assets = assets
        self.base = base
        self.queries = queries
        self.routes = routes
    }

    package func add(to router: inout Router) {
        addBinding(to: &router)
        addRiding(to: &router)
        addDriving(to: &router)
        addWatching(to: &router)
        addPlaces(to: &router)
        router.add("GET", "/campus-photos/{campus}/{photo}") { photo($0) }
        router.add("POST", "/campus-photo") { keepPhoto($0) }
    }

    // MARK: Who asks

    /// A page for the account's person in this role; an account without a person gets the way to be bound.
    func page(
        _ request: Request, _ role: PersonRole, _ body: (PageCaller, Caller, Connection) throws -> Response
    ) -> Response {
        access.page(request, for: [role.role]) { caller, connection in
            guard let person = try person(role, caller, connection) else { return binding(caller, BindForm(role)) }
            return try body(caller, person, connection)
        }
    }

    /// A form of such a page.
    func form(
        _ request: Request, _ role: PersonRole, _ body: (PageCaller, Caller, FormFields, Connection) throws -> Response
    ) -> Response {
        access.form(request, for: [role.role]) { caller, fields, connection in
            guard let person = try person(role, caller, connection) else {
                return binding(caller, BindForm(role), status: 409)
            }
            return try body(caller, person, fields, connection)
        }
    }

    /// A call by the page's script.
    func call(
        _ request: Request, _ role: PersonRole, _ body: (Caller) throws -> Response
    ) -> Response {
        access.call(request, for: [role.role]) { caller, connection in
            guard let person = try person(role, caller, connection) else { return CampusPageRoutes.notBound }
            return try body(person)
        }
    }

    static let notBound = Response.problem(
        409, type: "not-bound", detail: "This account is nobody's of a campus yet. Open the page: it says what to do.")

    func person(_ role: PersonRole, _ caller: PageCaller, _ connection: Connection) throws -> Caller? {
        try BoundPersonStore.read(caller.account, key: caller.key, on: connection).first { $0.role == role }
    }

    // MARK: Pages

    func shown(
        _ title: String, at path: String, heading: PageHeading, _ caller: PageCaller, scripts: [String],
        status: Int = 200, isFull: Bool = false, main: HTML
    ) -> Response {
        var response = PageShell(caller: caller, assets: assets).page(
            title, at: path, heading: heading, styles: BaseMap.styles,
            scripts: BaseMap.scripts + ["live.js", "campus/campus.js"] + scripts,
            isFull: isFull, main: main)
        response.status = status
        return response.with("Cache-Control", "no-store")
    }

    /// The id of a form's submission: sent twice it counts once.
    static func newKey() -> String { Hex.text(Secrets.random(16)) }

    // MARK: Photos

    /// One's own, and those of the other side of one's ride; the database knows.
    private func photo(_ request: Request) -> Response {
        access.call(request, for: CampusPageRoutes.people.union(CampusPageRoutes.watchers)) { caller, connection in
            let (campus, photo) = (request.parameters["campus"]!, request.parameters["photo"]!)
            let people = try BoundPersonStore.read(caller.account, key: caller.key, on: connection).filter {
                $0.campus == campus
            }
            let watches = caller.roles.contains(.administrator) || people.contains { $0.role == .dispatcher }
            for id in people.map(\.id) + (people.isEmpty && watches ? [""] : []) {
                let key = RideQueries.Key(campus, id)
                if let found = try PhotoStore.photo(photo, for: key, isDispatcher: watches, on: connection) {
                    return CampusRoutes.document(found)
                }
            }
            return CampusRoutes.notFound
        }
    }

    /// A file, sent by the page's script; `role` says as whom.
    private func keepPhoto(_ request: Request) -> Response {
        access.call(request, for: [.rider, .rideDriver]) { caller, connection in
            let role: PersonRole = request.query["role"] == PersonRole.rideDriver.rawValue ? .rideDriver : .rider
            guard let person = try person(role, caller, connection) else { return CampusPageRoutes.notBound }
            return campuses.putPhoto(request, person)
        }
    }
}

extension PersonRole {
    /// The role of accounts that goes with it.
    var role: Role { Role(rawValue: rawValue)! }
    /// Its page.
    var page: String {
        switch self {
        case .rider: "/ride"
        case .rideDriver: "/drive"
        case .dispatcher: "/dispatch"
        }
    }
}
