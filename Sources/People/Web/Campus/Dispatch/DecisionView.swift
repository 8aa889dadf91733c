internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage

/// Why a ride got its vehicle: each decision on it with its inputs, the candidates and their costs.
struct DecisionView {
    /// One vehicle that was tried, or one change of what the rider was told.
    struct Option {
        /// As the query `dispatch_why` words it.
        enum Outcome: String {
            case tried
            case otherTime = "other time"
            case otherVehicle = "other vehicle"
        }

        let outcome: Outcome
        let rank: Int?
        let vehicle: String
        /// By name, in seconds of driving.
        let seconds: [String: Double]
        let isProven: Bool?
        let pickupMs: Int64?
        let legsMeasured, legsEstimated: Int?
    }

    struct Decided {
        let atMs: Int64
        let event: String
        let surge, cancel, override, dropoffOverride, secondsPerMetre: Double?
        let measuredBy, weights: String?
        var options: [Option] = []
    }

    /// The terms that make the growth, in the order of docs/dispatch.md.
    private enum Term: String, CaseIterable {
        case travel = "travel_s"
        case wait = "wait_s"
        case ride = "ride_s"
        case order = "order_s"
        case cancel = "cancel_s"
        case override = "override_s"
        case promises = "promises_s"

        var name: String {
            switch self {
            case .travel: t("Travel")
            case .wait: t("Waiting")
            case .ride: t("Riding")
            case .order: t("Order")
            case .cancel: t("Cancel")
            case .override: t("Override")
            case .promises: t("Promises")
            }
        }
    }

    /// What was decided on.
    private enum Event: String {
        case pickup, cancel, override, breakdown, silence, end, time, speed, surge, campus
        case pickedUp = "picked_up"
        case droppedOff = "dropped_off"
        case inService = "in_service"
        case outOfService = "out_of_service"
        case fellSilent = "fell_silent"
        case handOver = "hand_over"

        var shown: String {
            switch self {
            case .pickup: t("ride asked for")
            case .pickedUp: t("picked up")
            case .droppedOff: t("dropped off")
            case .cancel: t("cancelled")
            case .override: t("driver refused")
            case .breakdown: t("breakdown")
            case .inService: t("vehicle in service")
            case .outOfService: t("vehicle out of service")
            case .fellSilent: t("vehicle fell silent")
            case .silence: t("driver or rider silent")
            case .handOver: t("handed over")
            case .end: t("ended")
            case .time: t("time passed")
            case .speed: t("travel times changed")
            case .surge: t("surge changed")
            case .campus: t("settings changed")
            }
        }
    }

    private static let sums = ["growth_s", "before_s", "after_s"]

    let campus: String
    let names: PlaceNames
    let ride: RideNow
    let decisions: [Decided]
    let caller: PageCaller
    var notice: FormView.Notice?
    /// True on the way to ending the ride or handing it over.
    var isDealing = false

    static func decisions(_ rows: Rows) throws -> [Decided] {
        var decisions: [Decided] = []
        for row in rows {
            let (atMs, event) = (try row.timestampMs("made_at")!, try row.text("event")!)
            if decisions.last?.atMs != atMs || decisions.last?.event != event {
                decisions.append(
                    Decided(
                        atMs: atMs, event: event, surge: try row.double("surge"),
                        cancel: try row.double("cancel_likelihood"), override: try row.double("override_likelihood"),
                        dropoffOverride: try row.double("dropoff_override_likelihood"),
                        secondsPerMetre: try row.double("seconds_per_metre"), measuredBy: try row.text("measured_by"),
                        weights: try row.text("weights")))
            }
            var seconds: [String: Double] = [:]
            for key in Term.allCases.map(\.rawValue) + sums { seconds[key] = try row.double(key) }
            decisions[decisions.count - 1].options.append(
                Option(
                    outcome: try row.word("outcome")!, rank: try row.int("rank"),
                    vehicle: try row.text("vehicle") ?? "–",
                    seconds: seconds, isProven: try row.bool("is_proven"), pickupMs: try row.timestampMs("pickup_at"),
                    legsMeasured: try row.int("legs_measured"), legsEstimated: try row.int("legs_estimated")))
        }
        return decisions
    }

    private var deal: HTML {
        guard ride.isOutstanding else { return "" }
        let base = "/dispatch/\(URLText.escaped(campus))/rides/\(URLText.escaped(ride.pickup.request))/"
        return RideEndingView.html(
            { base + $0.rawValue }, of: ride, nil, caller, isOpen: isDealing || ride.carrier?.isAlarmed ?? false)
    }

    var heading: PageHeading {
        PageHeading(t("Why this vehicle"), crumb: (t("Dispatch"), "/dispatch?campus=\(URLText.escaped(campus))"))
    }

    func html() -> HTML {
        let pickup = ride.pickup
        return """
            <section class="card"><div class="body"><dl><dt>State</dt><dd>\(CampusTextView.state(ride.state))\(ride.reason.map { ": \($0)" } ?? "")</dd>
            <dt>Vehicle</dt><dd>\(ride.carrier.map { "\($0.vehicle), \($0.driverName)" } ?? .t("none"))</dd>
            <dt>Asked for</dt><dd>\(caller.clock.html(ride.requestedMs)), \(CampusTextView.passengers(pickup.passengers))</dd>
            <dt>From</dt><dd>\(CampusTextView.place(pickup.fromAddress, pickup.from, names))</dd>
            <dt>To</dt><dd>\(CampusTextView.place(pickup.toAddress, pickup.to, names))</dd>
            <dt>Ride</dt><dd class="soft">\(pickup.request)</dd></dl></div></section>
            \(CampusTextView.notice(notice))<div id="deal">\(deal)</div>
            <p>A ride goes to the vehicle whose best itinerary grows least by it. Costs are in time of driving.</p>
            \(decisions.isEmpty ? "<p class=\"empty\">No decision on this ride is on record yet.</p>" : "")
            \(decisions.enumerated().map { decision($1, number: $0 + 1) }.joined(separator: "\n"))
            <details class="small"><summary>Try other weights</summary>
            <p>The whole day again with other weights: <code>drover dispatch try --campus \(campus) --weights FILE --date \(ZonedDay.date(ofMs: ride.requestedMs, zone: caller.clock.zone)) --zone \(caller.clock.zone)</code></p></details>
            """
    }

    private func decision(_ decision: Decided, number: Int) -> HTML {
        let tried = decision.options.filter { $0.outcome == .tried }
        let moved = decision.options.filter { $0.outcome != .tried }
        let title =
            t(
                "Decision \(number): \(Event(rawValue: decision.event)?.shown ?? decision.event), \(caller.clock.minute(decision.atMs))"
            )
        var html: HTML = "<section>\n"
        html += HTML.table(
            caption: title,
            headers: [
                .number(t("Rank")), .word(t("Vehicle")), .word(t("Pickup")), .number(t("Costs")),
                .text(t("Mostly for")),
            ],
            rows: tried.map(brief),
            empty: moved.isEmpty ? t("No vehicle had room.") : t("No vehicle was tried for this ride itself."))
        if let sentence = DecisionView.sentence(tried) { html += "<p>\(sentence)</p>\n" }
        for option in moved {
            html += "<p>\(DecisionView.told(option, option.pickupMs.map(caller.clock.second)))</p>\n"
        }
        html += "<details class=\"small\"><summary>All costs and inputs</summary>\n"
        html += tried.isEmpty ? "" : all(tried, number)
        return html + inputs(decision) + "</details></section>"
    }

    private func all(_ tried: [Option], _ number: Int) -> HTML {
        HTML.table(
            caption: t("All costs of decision \(number)"),
            headers: [.number(t("Rank")), .word(t("Vehicle")), .number(t("Growth"))]
                + Term.allCases.map { .number($0.name) }
                + [
                    .number(t("Before")), .number(t("After")), .text(t("Best itinerary")), .word(t("Pickup")),
                    .word(t("Legs")),
                ],
            rows: tried.map(row), empty: t("No vehicle had room."))
    }

    /// What one would tell the rider.
    private static func sentence(_ tried: [Option]) -> String? {
        guard let best = tried.first, let growth = best.seconds["growth_s"], let least = CampusTextView.span(growth)
        else {
            return nil
        }
        guard tried.count > 1, let other = tried[1].seconds["growth_s"], let more = CampusTextView.span(other - growth)
        else {
            return t("\(best.vehicle) was the only vehicle that was tried: the ride costs it \(least) of driving.")
        }
        return t(
            "\(best.vehicle) got it: the ride costs it \(least) of driving, \(more) less than \(tried[1].vehicle), the next best."
        )
    }

    /// In the words of a dispatcher; the terms stand under *All costs and inputs*.
    private func brief(_ option: Option) -> [HTML?] {
        let costs = Term.allCases.compactMap { term in option.seconds[term.rawValue].map { (term: term, s: $0) } }
        let most = costs.max { $0.s < $1.s }.flatMap { most in
            CampusTextView.span(most.s).map { most.s < 0.5 ? "–" : "\(most.term.name), \($0)" }
        }
        return [
            option.rank.map { "\($0)" }, .text(option.vehicle),
            .text(option.pickupMs.map { String(caller.clock.second($0).prefix(5)) }),
            .text(CampusTextView.span(option.seconds["growth_s"])), .text(most),
        ]
    }

    private static func told(_ option: Option, _ pickup: String?) -> String {
        let vehicle = option.vehicle
        switch (option.outcome == .otherVehicle, pickup) {
        case (true, let pickup?): return t("The rider was told another vehicle: \(vehicle), pickup \(pickup).")
        case (true, nil): return t("The rider was told another vehicle: \(vehicle).")
        case (false, let pickup?): return t("The rider was told another time: \(vehicle), pickup \(pickup).")
        case (false, nil): return t("The rider was told another time: \(vehicle).")
        }
    }

    private func row(_ option: Option) -> [HTML?] {
        func number(_ key: String) -> HTML? { .text(option.seconds[key].map(DecisionView.number)) }
        let proven = option.isProven.map { $0 ? t("proven") : t("not proven") }
        let legs = option.legsMeasured.map { t("\($0) measured, \(option.legsEstimated ?? 0) estimated") }
        return [option.rank.map { "\($0)" }, .text(option.vehicle), number("growth_s")]
            + Term.allCases.map { number($0.rawValue) }
            + [
                number("before_s"), number("after_s"), .text(proven), .text(option.pickupMs.map(caller.clock.second)),
                .text(legs),
            ]
    }

    private func inputs(_ decision: Decided) -> HTML {
        func percent(_ value: Double?) -> String? { value.map { DecisionView.number($0 * 100) + " %" } }
        let weights = decision.weights.flatMap(DecisionView.weights)
        let pairs: [(String, String?)] = [
            (t("Weights"), weights), (t("Surge, weather × time of day"), decision.surge.map(DecisionView.number)),
            (t("Likelihood of a cancellation at the start"), percent(decision.cancel)),
            (t("Likelihood of a refusal, start"), percent(decision.override)),
            (t("Likelihood of a refusal, destination"), percent(decision.dropoffOverride)),
            (
                t("Where nothing was measured"),
                decision.secondsPerMetre.map { t("\(DecisionView.number($0)) s a metre") }
            ),
            (t("Ways measured by"), decision.measuredBy),
        ]
        let lines: [HTML] = pairs.compactMap { name, text in text.map { "<dt>\(name)</dt><dd>\($0)</dd>" } }
        return "<dl>\(lines.joined())</dl>\n"
    }

    /// `{"wait": 1, …}` as `wait 1, …`.
    private static func weights(_ json: String) -> String? {
        guard case .object(let fields)? = try? JSONValue(Array(json.utf8)) else { return nil }
        return fields.compactMap { field in field.value.double.map { "\(field.key) \(number($0))" } }
            .joined(separator: ", ")
    }

    /// Three decimals, as decisions are kept.
    private static func number(_ value: Double) -> String {
        Decimal.scaled(value, decimals: 3).map { Decimal.text($0, decimals: 3) } ?? "–"
    }
}
