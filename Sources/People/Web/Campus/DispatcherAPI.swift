internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Reports
internal import Storage

extension CampusRoutes {
    /// The routes that only dispatchers have.
    func addDispatching(to router: inout Router) {
        router.add("GET", CampusRoutes.path + "/decisions/{request}") { [self] request in
            asPerson(request, [.dispatcher]) { caller in
                read(caller) { connection in
                    let id = request.parameters["request"]!
                    guard VehicleID.isValid(id.utf8) else { return CampusRoutes.notFound }
                    let rows = try connection.query(queries["dispatch_why"], [.text(id), .text(caller.campus)])
                    guard !rows.isEmpty else { return CampusRoutes.notFound }
                    return .json(try QueryOutput(rows).json)
                }
            }
        }
        router.add("PUT", CampusRoutes.path + "/surge") { [self] request in
            asPerson(request, [.dispatcher]) { caller in
                let surge: Int64
                do throws(CampusRequestBody.Fault) {
                    guard let given = try CampusRequestBody(request).thousandths("surge", 0...100_000) else {
                        throw CampusRequestBody.Fault("surge", "a number from 0 to 100")
                    }
                    surge = given
                } catch { return error.response }
                if let refusal = overBudget(caller) { return refusal }
                let answer = DeferredResponse()
                let id = CampusRoutes.id("s", of: caller, key: request.headers["idempotency-key"])
                say([record(.surge(thousandths: surge), of: caller, id: id)], to: answer) { connection, place in
                    guard connection != nil else { return CampusRoutes.undecided(caller, place) }
                    return .json(
                        JSONValue.object([("surge", .number(Decimal.text(surge, decimals: 3)))]).rendered(
                            indent: true))
                }
                return .later(answer)
            }
        }
    }
}
