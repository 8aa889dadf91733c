internal import Fleet
package import HTTPServer
package import Ingest
internal import Postgres
internal import Presentation
package import Reports
internal import Storage
package import Trips

/// Pages of drives: one while it lasts, a car's health, and drives of one route compared. Who may see a car is for the database
/// to say.
package final class DriveRoutes: Sendable {
    /// The roles that may cut and mark a car's trips, or request a health scan.
    static let actors: Set<Role> = [.driver, .fleetManager, .operator, .administrator]

    let access: AccessControl
    /// Programs' rights: to have a car looked at, and to know whose it is.
    let pool: ConnectionPool
    let assets: AssetFiles
    let base: BaseMap
    let queries: ReportQueries
    let rules: TripRules
    let price: FuelPrice?
    let uploads: UploadSender
    let streams: AlertStreams
    let troubleCodes: TroubleCodeFolder

    package init(
        access: AccessControl, conninfo: String, assets: AssetFiles, base: BaseMap, queries: ReportQueries,
        rules: TripRules,
        price: FuelPrice?,
        uploads: UploadSender, streams: AlertStreams, troubleCodes: TroubleCodeFolder
    ) {
        self.access = access
        pool = ConnectionPool(conninfo: conninfo)
        self.assets = assets
        self.base = base
        self.queries = queries
        self.rules = rules
        self.price = price
        self.uploads = uploads
        self.streams = streams
        self.troubleCodes = troubleCodes
    }

    package func add(to router: inout Router) {
        router.add("GET", "/cars/{vehicle}/live") { [self] in live($0) }
        router.add("GET", "/cars/{vehicle}/events") { [self] in events($0) }
        router.add("POST", "/cars/{vehicle}/trip") { [self] in say($0) }
        router.add("GET", "/cars/{vehicle}/scan") { [self] in scans($0) }
        router.add("POST", "/cars/{vehicle}/scan") { [self] in askForScan($0) }
        router.add("GET", "/trips/compare") { [self] in compare($0) }
    }

    // MARK: What several of them need

    struct Car {
        let id: VehicleID
        let name: String
        let make: String?
        /// True when it has ever reported, whoever may see what.
        let hasReported: Bool
        var path: String { "/cars/\(URLText.escaped(id.text))" }
        var link: HTML { "<a href=\"/vehicles/\(encoded: id.text)?kind=car\">\(name)</a>" }
    }

    static let noCar = Response.problem(404, type: "not-found", detail: "There is no such car that you may see.")

    /// Nil: there is none, or not for this reader.
    func car(_ request: Request, _ connection: Connection) throws -> Car? {
        guard let id = VehicleID(request.parameters["vehicle"]!) else { return nil }
        return try connection.query(queries["vehicle_kinds"], [.text(id.text)])
            .first { try $0.word("kind") == VehicleKind.car }
            .map {
                Car(
                    id: id, name: try $0.text("name") ?? id.text, make: try $0.text("make"),
                    hasReported: try $0.bool("has_reported")!)
            }
    }

    func shell(_ caller: PageCaller) -> PageShell { PageShell(caller: caller, assets: assets) }

    /// Puts an action on the log, then shows the page.
    func push(_ action: Action, then path: String) -> Response {
        let upload: Upload
        do throws(Upload.Fault) {
            upload = try Upload(ofCar: action)
        } catch {
            return .problem(422, type: "form", detail: "Nothing was changed: \(error).")
        }
        return uploads.refusal(upload) ?? .seeOther(path)
    }
}
