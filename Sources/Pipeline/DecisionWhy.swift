internal import Fleet
internal import Itineraries
internal import Wire

/// A record's decisions for people: who was tried, what each would have cost, and by which weights.
enum DecisionWhy {
    /// So many of a step are told: a record must stay within what a broker takes.
    private static let choicesMax = 50
    private static let movedMax = 200
    /// Of the best two vehicles.
    private static let legsMax = 30

    static func text(_ steps: [CampusDesk.Step], _ campus: Campus) -> String {
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

    private static func step(_ step: CampusDesk.Step, _ campus: Campus) -> JSONValue {
        let decision = step.decision
        var fields: [(String, JSONValue)] = [("event", .text(step.event)), ("request", .optional(step.request))]
        switch decision.outcome {
        case .assigned(let vehicle): fields += [("outcome", .text("assigned")), ("vehicle", .text(vehicle))]
        case .queued(let place): fields += [("outcome", .text("queued")), ("place", .integer(Int64(place)))]
        case .done, .ignored: fields.append(("outcome", .text("done")))
        }
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
