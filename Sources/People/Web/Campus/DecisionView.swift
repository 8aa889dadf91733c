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
    private static let terms: [(key: String, name: String)] = [
        ("travel_s", "Travel"), ("wait_s", "Waiting"), ("ride_s", "Riding"), ("order_s", "Order"),
        ("cancel_s", "Cancel"),
        ("override_s", "Override"), ("promises_s", "Promises"),
    ]
    private static let sums = ["growth_s", "before_s", "after_s"]

    let campus: String
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
            for key in terms.map(\.key) + sums { seconds[key] = try row.double(key) }
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
        PageHeading("Why this vehicle", crumb: ("Dispatch", "/dispatch?campus=\(URLText.escaped(campus))"))
    }

    func html() -> HTML {
        let pickup = ride.pickup
        return """
            <section class="card"><div class="body"><dl><dt>State</dt><dd>\(CampusTextView.short(ride.state.rawValue))\(ride.reason.map { ": \($0)" } ?? "")</dd>
            <dt>Vehicle</dt><dd>\(ride.carrier.map { "\($0.vehicle), \($0.driverName)" } ?? "none")</dd>
            <dt>Asked for</dt><dd>\(caller.clock.html(ride.requestedMs)), \(CampusTextView.passengers(pickup.passengers))</dd>
            <dt>From</dt><dd>\(CampusTextView.place(pickup.fromAddress, pickup.from))</dd>
            <dt>To</dt><dd>\(CampusTextView.place(pickup.toAddress, pickup.to))</dd>
            <dt>Ride</dt><dd class="soft">\(pickup.request)</dd></dl></div></section>
            \(CampusTextView.notice(notice))<div id="deal">\(deal)</div>
            <p>A ride goes to the vehicle whose best itinerary grows least by it. All costs are in seconds of driving.</p>
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
            "Decision \(number): \(CampusTextView.short(decision.event)), \(caller.clock.minute(decision.atMs))"
        var html: HTML = "<section>\n"
        html += HTML.table(
            caption: title,
            headers: [.number("Rank"), .word("Vehicle"), .number("Growth")]
                + DecisionView.terms.map { .number($0.name) }
                + [.number("Before"), .number("After"), .text("Best itinerary"), .word("Pickup"), .word("Legs")],
            rows: tried.map(row),
            empty: moved.isEmpty ? "No vehicle had room." : "No vehicle was tried for this ride itself.")
        for option in moved {
            let pickup = option.pickupMs.map { ", pickup \(caller.clock.second($0))" } ?? ""
            let what = option.outcome == .otherVehicle ? "another vehicle" : "another time"
            html +=
                "<p>The rider was told \(what): \(option.vehicle)\(pickup).</p>\n"
        }
        return html + inputs(decision) + "</section>"
    }

    private func row(_ option: Option) -> [HTML?] {
        func number(_ key: String) -> HTML? { .text(option.seconds[key].map(DecisionView.number)) }
        let proven = option.isProven.map { $0 ? "proven" : "not proven" }
        let legs = option.legsMeasured.map { "\($0) measured, \(option.legsEstimated ?? 0) estimated" }
        return [option.rank.map { "\($0)" }, .text(option.vehicle), number("growth_s")]
            + DecisionView.terms.map { number($0.key) }
            + [
                number("before_s"), number("after_s"), .text(proven), .text(option.pickupMs.map(caller.clock.second)),
                .text(legs),
            ]
    }

    private func inputs(_ decision: Decided) -> HTML {
        func percent(_ value: Double?) -> String? { value.map { DecisionView.number($0 * 100) + " %" } }
        let weights = decision.weights.flatMap(DecisionView.weights)
        let pairs: [(String, String?)] = [
            ("Weights", weights), ("Surge, weather × time of day", decision.surge.map(DecisionView.number)),
            ("Likelihood of a cancellation at the start", percent(decision.cancel)),
            ("Likelihood of a refusal, start", percent(decision.override)),
            ("Likelihood of a refusal, destination", percent(decision.dropoffOverride)),
            ("Where nothing was measured", decision.secondsPerMetre.map { "\(DecisionView.number($0)) s a metre" }),
            ("Ways measured by", decision.measuredBy),
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
