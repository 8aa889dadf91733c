internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage

/// Actions of a rider, its driver or a dispatcher when a ride does not go as planned, even with the rider on board and the vehicle silent:
/// they end it, or another vehicle takes it over. Each gives a reason, which is kept.
extension CampusRoutes {
    enum Ending: String {
        case end
        case handOver = "hand-over"

        func kind(_ request: String, _ say: RideRecord.Say) -> RideRecord.Kind {
            switch self {
            case .end: .end(request: request, say)
            case .handOver: .handOver(request: request, say)
            }
        }
    }

    func addEnding(to router: inout Router) {
        router.add("POST", CampusRoutes.path + "/rides/{request}/end") { [self] request in
            asPerson(request, Set(PersonRole.allCases)) { conclude(.end, request, $0) }
        }
        router.add("POST", CampusRoutes.path + "/rides/{request}/hand-over") { [self] request in
            asPerson(request, Set(PersonRole.allCases)) { conclude(.handOver, request, $0) }
        }
    }

    func conclude(_ ending: Ending, _ request: Request, _ caller: Caller) -> Response {
        let reason: String
        do throws(CampusRequestBody.Fault) {
            let given = try CampusRequestBody(request).optionalText("reason", bytesMax: RideRecord.Say.bytesMax)
            guard let given, !given.allSatisfy(\.isWhitespace) else {
                throw CampusRequestBody.Fault(
                    "reason", "said: 1 to \(RideRecord.Say.bytesMax) bytes for the others of this ride")
            }
            reason = given
        } catch { return error.response }
        let say = RideRecord.Say(role: caller.role, reason: reason)
        guard caller.role == .rideDriver else {
            let found = find(request, caller)
            return found.ride.map { conclude(ending, $0, say, request, caller) } ?? found.refusal!
        }
        return withRide(request, caller) { ride, _ in conclude(ending, ride, say, request, caller) }
    }

    private func conclude(
        _ ending: Ending, _ ride: RideNow, _ say: RideRecord.Say, _ request: Request, _ caller: Caller
    ) -> Response {
        // Said before: the answer was lost.
        if !ride.isOutstanding, ride.reason == say.text { return CampusRoutes.concluded(ride, say) }
        if let refusal = CampusRoutes.refusal(ending, ride) { return refusal }
        if let refusal = overBudget(caller) { return refusal }
        let (id, vehicle) = (ride.pickup.request, ride.carrier?.vehicle)
        let key = request.headers["idempotency-key"]
        let record = record(
            ending.kind(id, say), of: caller, id: CampusRoutes.id(ending.rawValue, of: caller, key: key))
        let answer = DeferredResponse()
        self.say([record], to: answer) { connection, place in
            guard let connection, let now = try RideQueries.ride(RideQueries.Key(caller.campus, id), on: connection)
            else {
                return CampusRoutes.undecided(caller, request: caller.role == .rideDriver ? nil : id, place)
            }
            let isDone = !now.isOutstanding || ending == .handOver && now.carrier?.vehicle != vehicle
            guard isDone else {
                return .problem(
                    409, type: "not-taken", detail: "This does not count: the ride is \(now.state.rawValue) now.",
                    more: ["state": JSONValue.text(now.state.rawValue).rendered()])
            }
            return CampusRoutes.concluded(now, say)
        }
        return .later(answer)
    }

    /// The previous driver does not learn who takes it now.
    private static func concluded(_ ride: RideNow, _ say: RideRecord.Say) -> Response {
        .json(
            JSONValue.object([
                ("request", .text(ride.pickup.request)), ("state", .text(ride.state.rawValue)),
                ("reason", .text(say.text)),
            ]).rendered(indent: true))
    }

    /// Nil: it can still be said.
    private static func refusal(_ ending: Ending, _ ride: RideNow) -> Response? {
        let state: KeyValuePairs = ["state": JSONValue.text(ride.state.rawValue).rendered()]
        guard ride.isOutstanding else {
            return .problem(409, type: "ride-over", detail: "This ride is over: \(ride.state.rawValue).", more: state)
        }
        guard ending == .end || ride.carrier != nil else {
            return .problem(
                409, type: "not-taken", detail: "No vehicle has this ride: it waits for the next that is free.",
                more: state)
        }
        return nil
    }
}

/// The same on pages.
enum RideEndingView {
    /// Closed until somebody needs it: ending a ride is no everyday thing.
    static func html(
        _ action: (CampusRoutes.Ending) -> String, of ride: RideNow, _ name: String?, _ caller: PageCaller,
        isOpen: Bool = false
    ) -> HTML {
        let request = ride.pickup.request
        func form(_ ending: CampusRoutes.Ending, _ about: String, _ button: String, _ label: String) -> HTML {
            let id = "\(ending.rawValue)-\(request)"
            return """
                <form class="fields" method="post" action="\(action(ending))">
                \(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("key", CampusPageRoutes.newKey()))\(FormView.hidden("request", request))
                <label for="\(id)">\(about)</label><input id="\(id)" name="reason" type="text" maxlength="200" required autocomplete="off">
                <button class="quiet" aria-label="\(label)">\(button)</button></form>
                """
        }
        let (end, over) = (t("End this ride"), t("Give it to another vehicle"))
        return """
            <details\(" open", if: isOpen)><summary>\(name.map { t("Something is wrong with this ride of \($0)") } ?? t("Something is wrong with this ride"))</summary>
            \(form(.end, t("Why it is over"), end, name.map { t("End this ride of \($0)") } ?? end))
            \(form(.handOver, t("Why another vehicle shall take it"), over, name.map { t("Give it to another vehicle, ride of \($0)") } ?? over))</details>
            """
    }
}

extension BoundPersonStore {
    /// The person as whom an account dispatches a campus. Nil: it does not.
    static func dispatcher(_ caller: PageCaller, of campus: String, on connection: Connection) throws -> Caller? {
        let bound = try read(caller.account, key: caller.key, on: connection).first {
            $0.campus == campus && $0.role == .dispatcher
        }
        return bound
            ?? (caller.roles.contains(.administrator)
                ? administrator(caller.account, key: caller.key, of: campus) : nil)
    }
}
