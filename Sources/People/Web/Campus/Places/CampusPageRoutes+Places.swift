internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage

extension CampusPageRoutes {
    /// The page of a campus's places, and what its forms say.
    func addPlaces(to router: inout Router) {
        router.add("GET", "/dispatch/{campus}/places") { request in
            access.page(request, for: CampusPageRoutes.watchers) { caller, connection in
                guard var page = try places(request, caller, connection) else { return CampusRoutes.notFound }
                page.isUndecided = request.query["taken"] != nil
                return shown(page)
            }
        }
        router.add("POST", "/dispatch/{campus}/places") { request in
            access.form(request, for: CampusPageRoutes.watchers) { caller, fields, connection in
                guard var page = try places(request, caller, connection),
                    let person = try BoundPersonStore.dispatcher(caller, of: page.campus, on: connection)
                else { return CampusRoutes.notFound }
                for name in ["name", "latitude_deg", "longitude_deg"] where PlaceChange.act(fields) == .add {
                    page.typed[name] = String((fields[name] ?? "").prefix(100))
                }
                let asked = page
                return FormRequest.answer(
                    change(page.campus, page.settings, fields, person), to: page.path
                ) { why, status in
                    var page = asked
                    page.notice = .fault(why)
                    return shown(page, status: status)
                }
            }
        }
    }

    private func places(_ request: Request, _ caller: PageCaller, _ connection: Connection) throws -> PlacesView? {
        let campus = request.parameters["campus"]!
        guard VehicleID.isValid(campus.utf8), try watched(caller, connection).contains(where: { $0.id == campus }),
            let settings = try RideQueries.settings(campus, on: connection)
        else { return nil }
        return PlacesView(campus: campus, settings: settings, caller: caller)
    }

    private func shown(_ page: PlacesView, status: Int = 200) -> Response {
        shown(
            t("Places"), at: "/dispatch", heading: page.heading, page.caller, scripts: ["campus/ride.js"],
            status: status, main: page.html(base))
    }

    /// Puts the places as they will be on the log. Somebody may be quicker: the worker takes what was made from the places that stand.
    private func change(
        _ campus: String, _ settings: CampusSettings, _ fields: FormFields, _ person: Caller
    ) -> Response {
        let conflict = Response.problem(
            409, type: "places-changed",
            detail: t("Somebody else changed the places meanwhile. Look at them as they are now, and try again."))
        guard fields["base"] == String(settings.placesVersion) else { return conflict }
        let places: [CampusPlace]
        do throws(PlaceChange.Fault) { places = try PlaceChange(fields, settings).places } catch {
            return .problem(422, type: "value", detail: error.text)
        }
        if let refusal = campuses.overBudget(person) { return refusal }
        var said = settings
        (said.places, said.placesBase) = (places, settings.placesVersion)
        let record = campuses.record(
            .campus(said), of: person, id: CampusRoutes.id("places", of: person, key: fields["key"]))
        let answer = DeferredResponse()
        campuses.say([record], to: answer) { connection, place in
            guard let connection, let now = try RideQueries.settings(campus, on: connection) else {
                return CampusRoutes.undecided(person, place)
            }
            return now.places == places ? Response(204) : conflict
        }
        return .later(answer)
    }
}
