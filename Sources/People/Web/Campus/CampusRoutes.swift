internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import Formats
package import HTTPServer
package import Ingest
internal import Postgres
package import Reports
internal import Storage
package import Telemetry

/// The API of riders', ride drivers' and dispatchers' apps: docs/campus-apps.md. The server in front admits only apps with a certificate;
/// people show a token. Pages (`CampusPageRoutes`) use the same code for people who are logged in.
package final class CampusRoutes: Sendable {
    let pool: ConnectionPool
    private let access: AccessControl
    let queries: ReportQueries
    let addresses: AddressLookup?
    let ways: PickupMeasurer?
    let watch: CommitListener
    let log: Log
    private let uploads: UploadSender
    private let answerWaitMs: Int64
    private let signs: Heartbeats
    private let budget = PushLimiter()

    /// - Parameters:
    ///   - addresses: nil: places come as coordinates only.
    ///   - ways: nil: they are not measured; decisions go by distance.
    ///   - answerWaitMs: so long an answer waits for its decision.
    package init(
        conninfo: String, queries: ReportQueries, uploads: UploadSender, addresses: AddressLookup?,
        ways: PickupMeasurer?,
        answerWaitMs: Int64, access: AccessControl, log: Log
    ) {
        self.access = access
        self.queries = queries
        self.uploads = uploads
        self.addresses = addresses
        self.ways = ways
        self.answerWaitMs = answerWaitMs
        self.log = log
        pool = ConnectionPool(conninfo: conninfo, idleMax: 8)
        let signs = Heartbeats(uploads)
        self.signs = signs
        watch = CommitListener(conninfo: conninfo, log: log) { subject, signMs in
            switch subject.what {
            case .ride: signs.push(.riderSign(rider: subject.person), subject.key.campus, lastMs: signMs)
            case .itinerary: signs.push(.vehicleSign(vehicle: subject.key.id), subject.key.campus, lastMs: signMs)
            case .campus: break
            }
        }
    }

    /// Call once, after the last request.
    package func stop() {
        addresses?.stop()
        ways?.stop()
        watch.stop()
    }

    /// The routes and their handlers.
    package func router() -> Router {
        var router = Router()
        addProfiles(to: &router)
        addRides(to: &router)
        addDriving(to: &router)
        addEnding(to: &router)
        addDispatching(to: &router)
        return router
    }

    static let path = "/v1/campuses/{campus}"

    // MARK: Who asks

    /// Runs `then` for a person of the campus with one of the roles; else says what is wrong.
    func asPerson(_ request: Request, _ roles: Set<PersonRole>, _ then: (Caller) -> Response) -> Response {
        let token: Token
        switch Bearer.token(request) {
        case .success(let shown): token = shown
        case .failure(let refusal): return refusal.response
        }
        let found: Caller?
        do {
            found = try pool.withConnection { try PersonStore.caller(digest: token.digest, on: $0) }
        } catch {
            return databaseAway(error)
        }
        guard let caller = found else {
            return Bearer.unauthorized("token-unknown", "This token does not hold. Sign in again for a new one.")
        }
        // Even the existence of the campus is private.
        guard caller.campus == request.parameters["campus"] else { return CampusRoutes.notFound }
        guard roles.contains(caller.role) else {
            let names = roles.map(\.rawValue).sorted().joined(separator: " or ")
            return .problem(403, type: "role", detail: "This is for a \(names); you are a \(caller.role.rawValue).")
        }
        return then(caller)
    }

    static let notFound = Response.problem(404, type: "not-found", detail: "There is no such thing of yours here.")

    // MARK: Reading

    /// As this person: for people who are logged in, the database limits rows to what the account sees.
    func reading<R>(_ caller: Caller, _ body: (Connection) throws -> R) throws -> R {
        guard let account = caller.account else { return try pool.withConnection(body) }
        return try access.reading(as: account, body)
    }

    func read(_ caller: Caller, _ make: (Connection) throws -> Response) -> Response {
        do {
            return try reading(caller, make).with("Cache-Control", "no-store")
        } catch {
            return databaseAway(error)
        }
    }

    func databaseAway(_ error: any Error) -> Response {
        log.error("an app could not be answered", ["error": "\(error)"])
        return .problem(
            503, type: "database", detail: "This cannot be read right now. Nothing was taken: send it again shortly."
        ).with("Retry-After", "5")
    }

    func stream(
        _ subject: RideStreams.Subject, by access: StreamAccess, _ request: Request, first json: String
    ) -> Response {
        .events(request) { watch.streams.open(subject, by: access, first: json) }
    }

    /// At most one in half a minute reaches the log.
    func sign(_ kind: RideRecord.Kind, of caller: Caller, lastMs: Int64) {
        signs.push(kind, caller.campus, lastMs: lastMs)
    }

    // MARK: Saying

    /// A record of this person, with an id that follows from the request's key where it has one.
    func record(_ kind: RideRecord.Kind, of caller: Caller, id: String) -> RideRecord {
        RideRecord(id: id, campus: caller.campus, ts: Clock.nowMs(), by: caller.id, kind: kind)
    }

    /// The same for the same key of the same person, and nobody else's; without a key, of chance.
    static func id(_ prefix: String, of caller: Caller, key: String?) -> String {
        let bytes = key.map { Secrets.digest(Array("\(caller.campus) \(caller.id) \(prefix) \($0)".utf8)) }
        return prefix + "-" + Hex.text((bytes ?? Secrets.random(16)).prefix(16))
    }

    /// Nil: this one may.
    func overBudget(_ caller: Caller) -> Response? {
        budget.reserve("\(caller.campus) \(caller.id)", most: PushLimiter.most(caller.role), nowMs: Clock.nowMs()).map {
            .problem(429, type: "too-many-requests", detail: "That is too often. Wait a moment.")
                .with("Retry-After", "\($0)")
        }
    }

    /// Puts records of one campus on the log. `committed` makes the answer once the last of them is decided and committed;
    /// with nil for the session it was too late for that.
    func say(
        _ records: [RideRecord], to answer: DeferredResponse,
        committed: @escaping @Sendable (Connection?, UploadSender.Place) throws -> Response
    ) {
        let upload: Upload
        do throws(Upload.Fault) { upload = try Upload(rides: records) } catch {
            return answer.give(.problem(422, type: "value", detail: "\(error)."))
        }
        uploads.send(rides: upload) { [self] outcome, place in
            guard outcome == .acknowledged, let place else { return answer.give(CampusRoutes.notOnLog(outcome)) }
            let isTaken = watch.waits.wait(partition: place.partition, offset: place.offset, forMs: answerWaitMs) {
                [self] connection in
                do {
                    answer.give(try committed(connection, place).with("Cache-Control", "no-store"))
                } catch {
                    // It is on the log: that must be said, whatever can be read now.
                    let late = try? committed(nil, place)
                    answer.give(late?.with("Cache-Control", "no-store") ?? databaseAway(error))
                }
            }
            if !isTaken { answer.give((try? committed(nil, place)) ?? CampusRoutes.notOnLog(.busy)) }
        }
    }

    /// Answers as soon as it is on the log.
    func say(_ record: RideRecord, then response: Response) -> Response {
        let answer = DeferredResponse()
        let upload: Upload
        do throws(Upload.Fault) { upload = try Upload(rides: [record]) } catch {
            return .problem(422, type: "value", detail: "\(error).")
        }
        uploads.send(rides: upload) { outcome, _ in
            answer.give(outcome == .acknowledged ? response : CampusRoutes.notOnLog(outcome))
        }
        return .later(answer)
    }

    private static func notOnLog(_ outcome: UploadSender.Outcome) -> Response {
        outcome == .busy
            ? .problem(503, type: "busy", detail: "Too much is under way. Send this again with the same key.")
                .with("Retry-After", "1")
            : .problem(
                503, type: "broker-away", detail: "This cannot be taken right now. Send it again with the same key."
            ).with("Retry-After", "10")
    }

    /// It is on the log and will count; how, is not known yet.
    /// - Parameter request: the ride that it is about, if it is about one, and where the record stands.
    static func undecided(_ caller: Caller, request: String? = nil, _ place: UploadSender.Place) -> Response {
        var fields: [JSONValue.Field] = [
            ("state", .text("undecided")),
            (
                "detail",
                .text("This is taken and counts; what comes of it is not decided yet. Ask again in a moment.")
            ),
        ]
        guard let request else {
            return .json(JSONValue.object(fields).rendered(), status: 202).with("Retry-After", "2")
        }
        let address =
            "\(base(caller))/rides/\(request)?after=\(place.partition).\(place.offset)"
        fields += [("request", .text(request)), ("ask", .text(address))]
        return .json(JSONValue.object(fields).rendered(), status: 202).with("Retry-After", "2")
            .with("Location", address)
    }

    static func base(_ caller: Caller) -> String { "/v1/campuses/\(caller.campus)" }
}

/// Signs of life of who looks and says nothing.
final class Heartbeats: Sendable {
    private let uploads: UploadSender
    private let limiter = HeartbeatLimiter()

    init(_ uploads: UploadSender) { self.uploads = uploads }

    func push(_ kind: RideRecord.Kind, _ campus: String, lastMs: Int64) {
        let person: String
        switch kind {
        case .riderSign(let rider): person = "rider \(rider)"
        case .vehicleSign(let vehicle): person = "vehicle \(vehicle)"
        case .campus, .profile, .pickup, .cancel, .override, .done, .inService, .outOfService, .breakdown, .end,
            .handOver, .position, .clock, .surge, .hour, .travel, .decision:
            return
        }
        let nowMs = Clock.nowMs()
        guard limiter.isDue("\(campus) \(person)", lastMs: lastMs, nowMs: nowMs) else { return }
        let record = RideRecord(
            id: "l-" + Hex.text(Secrets.random(16)), campus: campus, ts: nowMs, by: "", kind: kind)
        guard let upload = try? Upload(rides: [record]) else { return }
        // One that is lost is followed by another in half a minute.
        uploads.send(rides: upload) { _, _ in }
    }
}
