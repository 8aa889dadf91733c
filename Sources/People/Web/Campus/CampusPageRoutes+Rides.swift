internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Storage

extension CampusPageRoutes {
    private static let places = ["from_", "to_"].flatMap { [$0 + "latitude_deg", $0 + "longitude_deg"] }
    private static let words = ["from_address", "to_address", "description"]

    /// A rider's page and what its forms say.
    func addRiding(to router: inout Router) {
        router.add("GET", "/ride") { request in
            page(request, .rider) { caller, person, connection in
                var page = try RideView.read(caller, person, on: connection)
                if let ride = page.ride, ride.isOutstanding {
                    campuses.sign(.riderSign(rider: person.id), of: person, lastMs: ride.signMs)
                }
                if let asked = request.query["asked"], VehicleID.isValid(asked.utf8) {
                    let key = RideQueries.Key(person.campus, asked)
                    page.isUndecided = try RideQueries.ride(key, on: connection) == nil
                }
                return shown(page)
            }
        }
        router.add("POST", "/ride") { request in
            form(request, .rider) { caller, person, fields, connection in
                try ask(request, caller, person, fields, connection)
            }
        }
        router.add("POST", "/ride/{request}/cancel") { request in
            form(request, .rider) { caller, person, fields, connection in
                let known = try RideView.read(caller, person, on: connection)
                return FormRequest.answer(campuses.cancel(FormRequest(request, fields).request, person), to: "/ride") {
                    why, status in
                    var page = known
                    page.notice = .fault(why)
                    return shown(page, status: status)
                }
            }
        }
        router.add("POST", "/ride/{request}/end") { concludeOwn(.end, $0) }
        router.add("POST", "/ride/{request}/hand-over") { concludeOwn(.handOver, $0) }
        router.add("GET", "/ride/{request}/stream") { request in
            call(request, .rider) { campuses.rideStream(request, $0) }
        }
    }

    private func concludeOwn(_ ending: CampusRoutes.Ending, _ request: Request) -> Response {
        form(request, .rider) { caller, person, fields, connection in
            let known = try RideView.read(caller, person, on: connection)
            let call = FormRequest(request, fields, texts: ["reason"]).request
            return FormRequest.answer(campuses.conclude(ending, call, person), to: "/ride") { why, status in
                var page = known
                page.notice = .fault(why)
                return shown(page, status: status)
            }
        }
    }

    private func shown(_ page: RideView, status: Int = 200) -> Response {
        shown(
            page.isOutstanding ? "your ride" : "ask for a ride", at: "/ride", heading: page.heading, page.caller,
            scripts: ["campus/ride.js"],
            status: status, main: page.html(base))
    }

    /// The form's key names the ride: the same form, sent twice or after a reload, is the same ride.
    private func ask(
        _ request: Request, _ caller: PageCaller, _ person: Caller, _ fields: FormFields, _ connection: Connection
    ) throws -> Response {
        var page = try RideView.read(caller, person, on: connection)
        for name in CampusPageRoutes.places + CampusPageRoutes.words + ["passengers"] {
            page.typed[name] = String((fields[name] ?? "").prefix(1_000))
        }
        page.key = String((fields["key"] ?? "").prefix(64))
        let asked = page
        @Sendable func again(_ why: String, _ status: Int) -> Response {
            var page = asked
            page.notice = .fault(why)
            return shown(page, status: status)
        }
        for (prefix, what) in [("from_", "where you start"), ("to_", "where you go")]
        where ["address", "latitude_deg", "longitude_deg"].allSatisfy({ (fields[prefix + $0] ?? "").isEmpty }) {
            return again("Say \(what): an address, or a place on the map.", 422)
        }
        let order = FormRequest(
            request, fields, numbers: CampusPageRoutes.places + ["passengers"], texts: CampusPageRoutes.words)
        let id = CampusRoutes.id("r", of: person, key: fields["key"])
        return campuses.pickup(order.request, person).then { response in
            if let why = FormRequest.fault(response) { return again(why, response.status) }
            // Taken, and decided or not yet.
            return .seeOther(response.status == 202 ? "/ride?asked=\(id)" : "/ride")
        }
    }
}
