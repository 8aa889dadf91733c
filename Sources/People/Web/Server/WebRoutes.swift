internal import Fleet
package import HTTPServer
package import Ingest
internal import Postgres
package import Reports
package import Telemetry
package import Trips

/// The pages and the API, read from PostgreSQL: for people who are let in by `AccessControl`, for the installation's programs
/// through a role that may only read.
package final class WebRoutes: Sendable {
    private let pool: ConnectionPool
    let access: AccessControl
    let rules: TripRules
    let price: FuelPrice?
    let queries: ReportQueries
    private let models: ModelFileRoutes
    private let troubleCodes: TroubleCodeAPI
    let uploads: UploadSender
    let streams: AlertStreams
    let exports: ExportService
    let questions: QuestionService
    private let log: Log

    package init(
        conninfo: String, rules: TripRules, price: FuelPrice?, queries: ReportQueries, models: ModelFileRoutes,
        troubleCodes: TroubleCodeFolder, uploads: UploadSender, streams: AlertStreams,
        exports: ExportService, questions: QuestionService, access: AccessControl, log: Log
    ) {
        self.access = access
        self.exports = exports
        self.questions = questions
        self.rules = rules
        self.price = price
        pool = ConnectionPool(conninfo: conninfo)
        self.queries = queries
        self.models = models
        self.log = log
        self.uploads = uploads
        self.streams = streams
        self.troubleCodes = TroubleCodeAPI(folder: troubleCodes)
    }

    /// The routes and their handlers.
    package func router() -> Router {
        var router = Router()
        router.add("GET", "/healthz") { [self] _ in answer("/healthz") { _ in .text("ok\n") } }
        addUploads(to: &router)
        addSettings(to: &router)
        addAlerts(to: &router)
        addCars(to: &router)
        addMachines(to: &router)
        addFieldView(to: &router)
        addExports(to: &router)
        addQuestions(to: &router)
        addAudit(to: &router)
        models.add(to: &router)
        troubleCodes.add(to: &router)
        return router
    }

    private func answer(_ path: String, _ make: (Connection) throws -> Response) -> Response {
        do {
            let response = try withConnection(make)
            return response.header("Cache-Control") == nil ? response.with("Cache-Control", "no-store") : response
        } catch {
            return databaseAway(path, error)
        }
    }

    func databaseAway(_ path: String, _ error: any Error) -> Response {
        log.error("a page could not be made", ["path": "\(path)", "error": "\(error)"])
        return .problem(
            503, type: "database",
            detail: "this page is read from PostgreSQL, which cannot be reached or refused; the log says why. "
                + "Try again shortly"
        ).with("Retry-After", "5")
    }

    /// The roles that see vehicles. The database decides which ones, and what of them.
    static let fleetReaders: Set<Role> = [
        .farmer, .dealer, .developer, .driver, .fleetManager, .dispatcher, .analyst, .operator, .administrator,
    ]

    func withConnection<R>(_ body: (Connection) throws -> R) throws -> R { try pool.withConnection(body) }
}
