internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage

/// Home of riders and surveyors: what they do next, what waits, and what they did last.
struct HomeJobs {
    private static let itemsMax = 5

    private struct Ride {
        let state: RideState
        let from, to: String?
        let requestedMs: Int64
        let pickupMs: Int64?
        let isOver: Bool
    }

    private let caller: PageCaller
    private let rides: [Ride]
    private let surveys: [SurveyPageQueries.Own]
    private let nowMs: Int64

    init(_ caller: PageCaller, nowMs: Int64, _ queries: ReportQueries, on connection: Connection) throws {
        (self.caller, self.nowMs) = (caller, nowMs)
        rides =
            caller.roles.contains(.rider)
            ? try connection.query(queries["home_rides"], [.int8(Int64(HomeJobs.itemsMax))]).map { row in
                Ride(
                    state: try row.word("state")!, from: try row.text("from_address"), to: try row.text("to_address"),
                    requestedMs: try row.timestampMs("requested_at")!, pickupMs: try row.timestampMs("pickup_at"),
                    isOver: try row.timestampMs("ended_at") != nil)
            } : []
        surveys =
            caller.roles.contains(.surveyor)
            ? try SurveyPageQueries.own(before: .max, most: HomeJobs.itemsMax, on: connection) : []
    }

    /// Nil: they have done nothing yet, and first steps say what to do.
    var html: HTML? {
        guard !rides.isEmpty || !surveys.isEmpty else { return nil }
        return """
            \(waiting)
            <div class="grid">
            \(caller.roles.contains(.rider) ? ridesCard : "")
            \(caller.roles.contains(.surveyor) ? surveysCard : "")
            </div>
            \(FirstSteps(caller: caller).pages)
            """
    }

    // MARK: What waits

    private var waiting: HTML? {
        if let ride = rides.first(where: { !$0.isOver }) {
            let words =
                ride.pickupMs.map { t("Pick-up at \(caller.words.moment($0, nowMs: nowMs, caller.clock))") }
                ?? t("Waiting for a vehicle")
            return """
                <section class="strip info" aria-label="Your ride"><div class="grow"><b>\(way(ride))</b> <span class="soft">\(words)</span></div>
                <div class="row"><a class="btn small primary" href="/ride">Open ride</a></div></section>
                """
        }
        let open = surveys.filter { $0.isSetAside || $0.needsReview || ($0.version == nil && !$0.isLogged) }.count
        guard open > 0 else { return nil }
        return """
            <p class="strip warning"><span>\(t(open, one: "1 of your last surveys needs a look", many: "\(open) of your last surveys need a look"))</span></p>
            """
    }

    // MARK: Last

    private func way(_ ride: Ride) -> String {
        switch (ride.from, ride.to) {
        case (let from?, let to?): t("\(from) to \(to)")
        case (nil, let to?): t("To \(to)")
        case (let from?, nil): t("From \(from)")
        case (nil, nil): t("Ride")
        }
    }

    private func state(_ ride: Ride) -> HTML {
        switch ride.state {
        case .queued: HTML.pill("info", t("Waiting"))
        case .assigned: HTML.pill("info", t("On its way"))
        case .onBoard: HTML.pill("info", t("On board"))
        case .done: HTML.pill("ok", t("Done"))
        case .cancelled: HTML.pill("quiet", t("Cancelled"))
        case .expired: HTML.pill("quiet", t("Expired"))
        case .refused: HTML.pill("warning", t("Refused"))
        case .ended: HTML.pill("quiet", t("Ended"))
        }
    }

    private var ridesCard: HTML {
        let items: [HTML] = rides.map { ride in
            """
            <div class="item"><span class="ic s">\(HTML.icon(.ride))</span>\
            <span><b>\(way(ride))</b><small>\(HTML.relativeTime(ride.requestedMs, nowMs, caller.clock))</small></span>\(state(ride))</div>
            """
        }
        return """
            <section class="card w6" aria-labelledby="rides"><header><h2 id="rides">Your last rides</h2></header>
            \(items.isEmpty ? "<p class=\"empty\">None yet.</p>" : items.joined(separator: "\n"))
            <div class="body"><a class="btn primary wide" href="/ride">\(HTML.icon(.ride))Ask for a ride</a></div></section>
            """
    }

    private func state(_ survey: SurveyPageQueries.Own) -> HTML {
        if survey.isSetAside { return HTML.pill("critical", t("Set aside")) }
        guard survey.version != nil else {
            return survey.isLogged ? HTML.pill("info", t("Saved")) : HTML.pill("warning", t("Send it again"))
        }
        return survey.needsReview ? HTML.pill("warning", t("To be reviewed")) : HTML.pill("ok", t("Saved"))
    }

    private var surveysCard: HTML {
        let items: [HTML] = surveys.map { survey in
            let found = survey.sightings.map { caller.words.count($0, .sighting) }
            let day = survey.day ?? caller.words.moment(survey.receivedMs, nowMs: nowMs, caller.clock)
            let about = [day, found].compactMap { $0 }.joined(separator: " · ")
            let inside: HTML = """
                <span class="ic s">\(HTML.icon(.survey))</span><span><b>\(survey.site) \(survey.survey)</b><small>\(about)</small></span>\(state(survey))
                """
            return survey.version == nil
                ? "<div class=\"item\">\(inside)</div>"
                : "<a class=\"item\" href=\"/surveys/\(encoded: survey.site)/\(encoded: survey.survey)\">\(inside)</a>"
        }
        return """
            <section class="card w6" aria-labelledby="surveys"><header><h2 id="surveys">Your last surveys</h2><a class="more" href="/surveys">All surveys</a></header>
            \(items.isEmpty ? "<p class=\"empty\">None yet.</p>" : items.joined(separator: "\n"))
            <div class="body"><a class="btn primary wide" href="/surveys/enter">\(HTML.icon(.plus))New survey</a></div></section>
            """
    }
}
