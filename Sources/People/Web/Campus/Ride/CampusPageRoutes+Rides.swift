internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
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
            page.isOutstanding ? t("Your ride") : t("Ask for a ride"), at: "/ride", heading: page.heading, page.caller,
            scripts: ["campus/ride.js"],
            status: status, isFull: true, main: page.html(base))
    }

    /// The form's key names the ride: the same form, sent twice or after a reload, is the same ride.
    private func ask(
        _ request: Request, _ caller: PageCaller, _ person: Caller, _ fields: FormFields, _ connection: Connection
    ) throws -> Response {
        var page = try RideView.read(caller, person, on: connection)
        for name in CampusPageRoutes.places + CampusPageRoutes.words + ["passengers", "from_place", "to_place"] {
            page.typed[name] = String((fields[name] ?? "").prefix(1_000))
        }
        page.key = String((fields["key"] ?? "").prefix(64))
        let asked = page
        @Sendable func again(_ why: String, _ status: Int) -> Response {
            var page = asked
            page.notice = .fault(why)
            return shown(page, status: status)
        }
        let taken = try taken(fields, person, connection)
        let ends: [CampusEnd]
        do throws(CampusEnd.Fault) {
            ends = try CampusEnd.read(fields, again: taken, page.settings)
        } catch { return again(error.text, 422) }
        let order = FormRequest(
            request, fields, numbers: ends.flatMap(\.numbers) + ["passengers"],
            texts: ends.flatMap(\.texts) + ["description"], said: ends.flatMap(\.said))
        let id = CampusRoutes.id("r", of: person, key: fields["key"])
        return campuses.pickup(order.request, person).thenPage { response in
            if let why = FormRequest.fault(response) { return again(why, response.status) }
            // Taken, and decided or not yet.
            return .seeOther(response.status == 202 ? "/ride?asked=\(id)" : "/ride")
        }
    }
    /// The rider's own ride that is asked for again, if it is one.
    private func taken(_ fields: FormFields, _ person: Caller, _ connection: Connection) throws -> RideNow? {
        guard let id = fields["again"], VehicleID.isValid(id.utf8) else { return nil }
        let ride = try RideQueries.ride(RideQueries.Key(person.campus, id), on: connection)
        return ride.flatMap { $0.pickup.rider == person.id ? $0 : nil }
    }
}
