internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Ingest
internal import Storage
internal import Telemetry

/// Visits that phones report when they have a network again. Nobody logs in: their number is bounded, they must name what was published,
/// and each counts once by its id.
extension TourAppRoutes {
    static let eventsMax = 500
    static let bodyBytesMax = 128 << 10
    package static let bodyBytesMaxByPath = ["/v1/tour-visits": bodyBytesMax]
    /// A phone that was off for a season still tells; what is older is a wrong clock.
    static let oldestMs: Int64 = 400 * 86_400_000

    func acceptVisits(_ request: Request) -> Response {
        guard request.contentType == "application/json" else {
            return .problem(415, type: "content-type", detail: "Visits come as application/json.")
        }
        let nowMs = Clock.nowMs()
        if let waitS = budget.reserve(request.remote, most: tellsPerMinute, nowMs: nowMs) {
            return Response.problem(
                429, type: "too-many", detail: "Too much came from this address. Keep it and send it again later."
            ).with("Retry-After", String(waitS))
        }
        guard let items = (try? JSONValue(request.body, valuesMax: 10 * TourAppRoutes.eventsMax))?["events"]?.items,
            (1...TourAppRoutes.eventsMax).contains(items.count)
        else {
            return .problem(
                400, type: "not-a-batch",
                detail: "The body must be a JSON object with `events`, a list of 1 to \(TourAppRoutes.eventsMax).")
        }
        return answered { try store(items, nowMs: nowMs) }
    }

    private func store(_ items: [JSONValue], nowMs: Int64) throws -> Response {
        var read = items.map { item -> Result<TourEvent, Refused> in
            do throws(DecodeError) {
                let event = try TourRecords.event(item)
                return TourAppRoutes.fault(event, nowMs: nowMs).map { .failure($0) } ?? .success(event)
            } catch {
                return .failure(Refused(reason: TourAppRoutes.reason(error)))
            }
        }
        let asked = read.compactMap { try? $0.get() }.map { (tour: $0.tour, version: $0.version) }
        let known = try pool.withConnection { try TourVersionStore.waypoints(of: asked, on: $0) }
        for (index, result) in read.enumerated() {
            guard case .success(let event) = result else { continue }
            guard let waypoints = known[event.tour]?[event.version] else {
                read[index] = .failure(Refused(reason: "there is no such version of such a tour"))
                continue
            }
            if let waypoint = event.waypoint, !waypoints.contains(waypoint) {
                read[index] = .failure(Refused(reason: "that version has no such waypoint"))
            }
        }
        let events = read.compactMap { try? $0.get() }
        let answer = TourAppRoutes.document(read)
        guard !events.isEmpty else { return answer }
        let upload: Upload
        do throws(Upload.Fault) { upload = try Upload(tours: events) } catch {
            return .problem(400, type: "not-a-batch", detail: "\(error).")
        }
        let later = DeferredResponse()
        uploads.send(tours: upload) { outcome, _ in
            switch outcome {
            case .acknowledged: later.give(answer)
            case .brokerAway: later.give(TourAppRoutes.away.with("Retry-After", "5"))
            case .busy: later.give(TourAppRoutes.away.with("Retry-After", "1"))
            }
        }
        return .later(later)
    }

    private struct Refused: Error { let reason: String }

    private static func fault(_ event: TourEvent, nowMs: Int64) -> Refused? {
        if event.ts > nowMs + DecodeError.aheadMsMax { return Refused(reason: "`ts` lies in the future") }
        if event.ts < nowMs - oldestMs { return Refused(reason: "`ts` lies more than 400 days back") }
        return nil
    }

    private static func reason(_ error: DecodeError) -> String {
        if case .kindUnknown = error { return "`kind` is not visit or download" }
        return "\(error)"
    }

    /// Refused events need not be sent again.
    private static func document(_ read: [Result<TourEvent, Refused>]) -> Response {
        let refused = read.enumerated().compactMap { index, result -> JSONValue? in
            guard case .failure(let refused) = result else { return nil }
            return .object([("index", .integer(Int64(index))), ("reason", .text(refused.reason))])
        }
        return Response.json(
            JSONValue.object([
                ("accepted", .integer(Int64(read.count - refused.count))), ("refused", .list(refused)),
            ]).rendered()
        ).with("Cache-Control", "no-store")
    }

    private static let away = Response.problem(
        503, type: "broker-away", detail: "Nothing was promised. Keep the events and send them again with the same ids."
    )
}
