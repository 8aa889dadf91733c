internal import Codecs
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage

extension CampusPageRoutes {
    private static let place = ["latitude_deg", "longitude_deg"]

    /// A ride driver's page and what its forms say.
    func addDriving(to router: inout Router) {
        router.add("GET", "/drive") { request in
            page(request, .rideDriver) { caller, person, connection in
                var page = try RideDriverView.read(caller, person, on: connection)
                page.isUndecided = request.query["taken"] != nil
                page.deal = request.query["deal"]
                if let vehicle = page.vehicle {
                    campuses.sign(.vehicleSign(vehicle: vehicle.vehicle), of: person, lastMs: vehicle.signMs)
                }
                return shown(page)
            }
        }
        router.add("POST", "/drive/in-service") { request in
            say(request, numbers: CampusPageRoutes.place + ["capacity"], texts: ["vehicle"]) { campuses.enter($0, $1) }
        }
        router.add("POST", "/drive/out-of-service") { request in
            say(request) { campuses.leave($0, $1) { .outOfService(vehicle: $0) } }
        }
        router.add("POST", "/drive/breakdown") { request in
            say(request) { campuses.leave($0, $1) { .breakdown(vehicle: $0) } }
        }
        router.add("POST", "/drive/position") { request in
            say(request, numbers: CampusPageRoutes.place + ["speed_mps"]) { campuses.move($0, $1) }
        }
        router.add("POST", "/drive/done") { request in
            say(request, texts: ["stop"]) { campuses.done($0, $1) }
        }
        router.add("POST", "/drive/override") { request in say(request) { campuses.override($0, $1) } }
        router.add("POST", "/drive/end") { request in
            say(request, texts: ["reason"]) { campuses.conclude(.end, $0, $1) }
        }
        router.add("POST", "/drive/hand-over") { request in
            say(request, texts: ["reason"]) { campuses.conclude(.handOver, $0, $1) }
        }
        router.add("GET", "/drive/stream") { request in
            call(request, .rideDriver) { campuses.itineraryStream(request, $0) }
        }
    }

    private func shown(_ page: RideDriverView, status: Int = 200) -> Response {
        shown(
            page.vehicle == nil ? t("Start service") : t("Your stops"), at: "/drive", heading: page.heading,
            page.caller,
            scripts: ["campus/ride.js"],
            status: status, isFull: true, main: page.html(base))
    }

    /// Sends a form's statement the way of apps; `request` is the ride that it is about, if any.
    private func say(
        _ request: Request, numbers: [String] = [], texts: [String] = [],
        _ told: (Request, Caller) -> Response
    ) -> Response {
        form(request, .rideDriver) { caller, person, fields, connection in
            var page = try RideDriverView.read(caller, person, on: connection)
            for name in CampusPageRoutes.place + ["vehicle", "capacity"] {
                page.typed[name] = String((fields[name] ?? "").prefix(100))
            }
            let asked = page
            var call = FormRequest(request, fields, numbers: numbers, texts: texts).request
            if let ride = fields["request"] { call.parameters["request"] = ride }
            if call.parameters["request"] == nil { call.parameters["request"] = "" }
            return FormRequest.answer(told(call, person), to: "/drive") { why, status in
                var page = asked
                page.notice = .fault(why)
                return shown(page, status: status)
            }
        }
    }
}
