internal import Basics
internal import Codecs
internal import Formats
internal import Routing

/// A record's decisions for people: who was tried, what each would have cost, and by which weights.
enum DecisionWhy {
    /// So many of a step are told: a record must stay within what a broker takes.
    private static let choicesMax = 50
    private static let movedMax = 200
    /// The most legs of each of the best two vehicles.
    private static let legsMax = 30

    static func text(_ steps: [CampusDispatcher.Step], _ campus: Campus) -> String {
        let weights = campus.rules.weights
        return JSONValue.object([
            ("steps", .list(steps.map { step($0, campus) })),
            (
                "weights",
                .object([
                    ("travel", number(weights.travel)), ("wait", number(weights.wait)), ("ride", number(weights.ride)),
                    ("order", number(weights.order)), ("cancel", number(weights.cancel)),
                    ("override", number(weights.override)), ("surge", number(weights.surge)),
                    ("other_vehicle_s", number(campus.rules.otherVehiclePrice)),
                    ("moved_arrival_s", number(campus.rules.movedArrivalPrice)),
                ])
            ),
            ("seconds_per_metre", number(campus.travel.secondsPerMetre)),
            ("measured_by", .optional(campus.measuredBy)),
            ("measured_places", .integer(Int64(campus.measuredPlaceCount))),
        ]).rendered()
    }

    // MARK: From the log

    /// Whether reports and pages can read it, which take its lists, numbers and times as such (Queries/reports/dispatch_*.sql):
    /// one that they cannot would stop them for all campuses. Names that are not known here may say anything.
    static func isReadable(_ text: String) -> Bool {
        guard let why = try? JSONValue(Array(text.utf8), valuesMax: 1_000_000), case .object = why, why.isReadable,
            hasNumbers(why, ["seconds_per_metre"]), hasNumbers(why["weights"] ?? .null, ["surge"])
        else { return false }
        return all(why["steps"]) { step in
            all(step["moved"]) { hasTimes($0, ["pickup", "pickup_before"]) }
                && all(step["choices"]) { choice in
                    hasNumbers(choice, likelihoods) && all(choice["options"], isReadable(option:))
                }
        }
    }

    private static let likelihoods = ["cancel_likelihood", "override_likelihood", "dropoff_override_likelihood"]
    private static let seconds = [
        "growth_s", "before_s", "after_s", "travel_s", "wait_s", "ride_s", "order_s", "cancel_s", "override_s",
        "promises_s",
    ]

    private static func isReadable(option: JSONValue) -> Bool {
        let isFlag =
            switch option["proven"] ?? .null {
            case .null, .bool: true
            case .number, .text, .list, .object: false
            }
        let counts = ["legs_measured", "legs_estimated"].allSatisfy { key in
            guard let value = option[key], !value.isNull else { return true }
            guard case .number(let text) = value else { return false }
            return Int32(text) != nil
        }
        return isFlag && counts && hasNumbers(option, seconds) && hasTimes(option, ["pickup"])
    }

    /// A list of which each item passes; one that is not there has none.
    private static func all(_ list: JSONValue?, _ passes: (JSONValue) -> Bool) -> Bool {
        guard let list else { return true }
        return list.items?.allSatisfy(passes) ?? false
    }

    private static func hasNumbers(_ tree: JSONValue, _ keys: [String]) -> Bool {
        keys.allSatisfy { key in
            guard let value = tree[key], !value.isNull else { return true }
            if case .number = value { return true }
            return false
        }
    }

    private static func hasTimes(_ tree: JSONValue, _ keys: [String]) -> Bool {
        keys.allSatisfy { key in
            guard let value = tree[key], !value.isNull else { return true }
            guard let text = value.text, let ts = UTC.parse(text) else { return false }
            return UTC.plausible.contains(ts) && UTC.text(ts) == text
        }
    }

    // MARK: What it holds

    private static func step(_ step: CampusDispatcher.Step, _ campus: Campus) -> JSONValue {
        let decision = step.decision
        var fields: [JSONValue.Field] = [("event", .text(step.event)), ("request", .optional(step.request))]
        switch decision.outcome {
        case .assigned(let vehicle): fields += [("outcome", .text("assigned")), ("vehicle", .text(vehicle))]
        case .queued(let place): fields += [("outcome", .text("queued")), ("place", .integer(Int64(place)))]
        case .done, .ignored: fields.append(("outcome", .text("done")))
        }
        if let vehicle = step.vehicle { fields.append(("of_vehicle", .text(vehicle))) }
        if let reason = step.reason { fields.append(("reason", .text(reason))) }
        if let weather = step.weather { fields.append(("weather", .text(weather))) }
        if step.isAnew { fields.append(("made_anew", .bool(true))) }
        fields += [
            ("choices", .list(decision.choices.prefix(choicesMax).map { choice($0, campus) })),
            ("choices_left_out", .integer(Int64(max(0, decision.choices.count - choicesMax)))),
            ("moved", .list(decision.moved.prefix(movedMax).map(moved))),
            ("moved_left_out", .integer(Int64(max(0, decision.moved.count - movedMax)))),
            ("expired", .list(decision.expired.map { .text($0) })), ("cost_placed_s", number(decision.costPlaced)),
            ("cost_after_s", number(decision.costAfter)),
        ]
        return .object(fields)
    }

    private static func choice(_ choice: Decision.Choice, _ campus: Campus) -> JSONValue {
        let request = campus.ride(choice.request)?.request
        return .object([
            ("request", .text(choice.request)), ("cancel_likelihood", likelihood(request?.cancelLikelihood)),
            ("override_likelihood", likelihood(request?.overrideLikelihood)),
            ("dropoff_override_likelihood", likelihood(request?.dropoffOverrideLikelihood)),
            (
                "options",
                .list(
                    choice.options.enumerated().map { index, option in
                        .object([
                            ("vehicle", .text(option.vehicle)), ("growth_s", number(option.growth)),
                            ("before_s", number(option.before)), ("after_s", number(option.after)),
                            ("travel_s", number(option.terms.travel)), ("wait_s", number(option.terms.wait)),
                            ("ride_s", number(option.terms.ride)), ("order_s", number(option.terms.order)),
                            ("cancel_s", number(option.terms.cancel)), ("override_s", number(option.terms.override)),
                            ("promises_s", number(option.promises)), ("proven", .bool(option.isProven)),
                            ("legs_measured", .integer(Int64(option.legs.count { $0.isMeasured }))),
                            ("legs_estimated", .integer(Int64(option.legs.count { !$0.isMeasured }))),
                            ("legs", .list(index < 2 ? option.legs.prefix(legsMax).map { leg($0, campus) } : [])),
                        ])
                    })
            ), ("bounded_out", .integer(Int64(choice.boundedOut))), ("unlisted", .integer(Int64(choice.unlisted))),
        ])
    }

    /// A stop as `request p` or `request d`.
    private static func leg(_ leg: Decision.Leg, _ campus: Campus) -> JSONValue {
        let request = campus.rides.first { $0.rank == leg.stop.rank }?.request.id ?? "?"
        return .object([
            ("to", .text(request + (leg.stop.kind == .pickup ? " p" : " d"))), ("s", number(leg.seconds)),
            ("measured", .bool(leg.isMeasured)),
        ])
    }

    private static func likelihood(_ value: Double?) -> JSONValue {
        .number(value.flatMap { Decimal.scaled($0, decimals: 6) }.map { Decimal.text($0, decimals: 6) })
    }

    private static func moved(_ promise: Decision.MovedPromise) -> JSONValue {
        .object([
            ("request", .text(promise.request)), ("vehicle_before", .text(promise.vehicleBefore)),
            ("vehicle", .text(promise.vehicleAfter)), ("pickup_before", .text(UTC.text(promise.arrivalBeforeMs))),
            ("pickup", .text(UTC.text(promise.arrivalAfterMs))),
        ])
    }

    /// Three decimals: more says nothing of seconds.
    private static func number(_ value: Double) -> JSONValue {
        .number(Decimal.scaled(value, decimals: 3).map { Decimal.text($0, decimals: 3) })
    }
}
