internal import Fleet
internal import HTTPServer
internal import Reports
internal import Storage
internal import Telemetry

extension WebRoutes {
    /// The routes of a driver's page or app while driving: docs/drivers.md.
    func addCars(to router: inout Router) {
        router.add("GET", "/v1/cars/{vehicle}/now") { [self] request in
            authorized(request, .account) { use in
                do {
                    return try withConnection { connection in
                        // Even the existence of the car is private.
                        guard let vehicle = VehicleID(request.parameters["vehicle"]!),
                            try WriteAccess.mayLook(vehicle, account: use.account, on: connection)
                        else { return .problem(404, type: "not-found", detail: "There is no such car of yours.") }
                        guard
                            let now = try CarStatus.read(
                                vehicle, account: use.account, rules: rules, price: price, queries: queries,
                                on: connection)
                        else {
                            return .problem(
                                404, type: "no-trip-yet",
                                detail:
                                    "You see no trip of this car yet. If it is driving, ask again in a second; a trip that began "
                                    + "before the car was yours to drive stays unseen."
                            ).with("Retry-After", "1")
                        }
                        return .json(now.json(nowMs: Clock.nowMs())).with("Cache-Control", "no-store")
                    }
                } catch {
                    return databaseAway(request.path, error)
                }
            }
        }
    }
}
