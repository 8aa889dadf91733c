internal import HTTPServer
internal import Storage

/// The answers that go to the audit log: exports, and views of others' data by those who see all.
struct AuditedResponse {
    let action: AuditAction
    /// Whom it is about, where the address says it; whose a vehicle is, the database knows.
    var subject: String?
    var detail: AuditLog.Detail = []

    /// Nil: nothing is noted of it.
    /// - Parameter seesAll: the asker may be one who sees the whole installation.
    init?(_ request: Request, seesAll: Bool) {
        let asks = request.method == "POST" && AuditedResponse.questions.contains(request.path)
        guard request.method == "GET" || request.method == "HEAD" || asks else { return nil }
        if let taken = AuditedResponse.export(request) {
            action = taken.0
            subject = AuditedResponse.people.lazy.compactMap { request.query[$0] }.first { !$0.isEmpty }
            let asked = request.queryItems.filter { !$0.value.isEmpty && AuditedResponse.kept.contains($0.name) }
            detail = [taken.1] + asked.map { ($0.name, $0.value) }
            return
        }
        guard seesAll else { return nil }
        if request.segments.starts(with: ["administration", "people"]), let account = request.parameters["account"] {
            (action, subject) = (.personSeen, account)
            return
        }
        action = .dataSeen
        if let alert = request.parameters["alert"] {
            detail = [("alert", alert)]
        } else if let vehicle = request.parameters["vehicle"] ?? request.query["vehicle"], !vehicle.isEmpty {
            detail = [("vehicle", vehicle)]
        } else if AuditedResponse.lists.contains(request.path) {
            detail = [("page", request.path)]
        } else {
            return nil
        }
    }

    /// Parameters that may name a person: stored where erasure of a person reaches them.
    private static let people = ["of", "account", "driver", "rider", "surveyor", "person"]
    /// Other parts of the address are somebody's own text and may be anything.
    private static let kept: Set = [
        "after", "behaviour", "box", "campus", "date", "fleet", "format", "from", "gallons", "hours", "km", "latitude",
        "limit", "longitude", "month", "near", "price", "rows", "site", "span", "species", "taxon", "to", "tour",
        "units", "until", "year", "zone",
    ]
    private static let lists: Set = [
        "/", "/administration", "/alerts", "/audit", "/field", "/fleet", "/home", "/map", "/map/replay",
        "/map/vehicles", "/search", "/search/results", "/services", "/trips", "/vehicle-names", "/vehicles",
        "/vehicles/stickers", "/v1/audit", "/v1/field-view", "/v1/machines",
    ]

    /// A statement may name anybody: the entry says that one was run, not which.
    private static let questions: Set = ["/query", "/v1/query"]

    private static func export(_ request: Request) -> (AuditAction, (String, String))? {
        switch request.segments.count {
        case 1...2 where request.method == "POST": (.queryRun, ("query", "a statement of one's own"))
        case 1 where request.path == "/reports":
            request.query["report"].map { (.reportRun, ("report", $0)) }
        case 2 where request.segments[0] == "reports":
            request.parameters["report"].map { (.reportRun, ("report", $0)) }
        case 4 where request.segments[0] == "reports":
            request.parameters["schedule"].map { (.reportRun, ("schedule", $0)) }
        case 3 where request.segments[0] == "queries" && !request.queryItems.isEmpty:
            (.queryRun, ("query", request.segments[1...].joined(separator: "/")))
        case 2...3 where request.path.hasSuffix("/sightings/export"): (.exportTaken, ("export", "sightings"))
        default: nil
        }
    }

    /// Whether there is something to tell: refusals and mistakes show nothing.
    static func isGiven(_ response: Response) -> Bool { response.isLater || [200, 206, 304].contains(response.status) }
}
