public import Fleet
public import Routing

extension CampusSettings {
    /// `speedKmh` in thousandths; nil: its own.
    public func travel(speedKmh: Int64?) -> TravelTimes {
        TravelTimes.kilometresPerHour(
            Double(speedKmh ?? self[.speedKmh]) / 1_000, detour: Double(self[.detour]) / 1_000)
    }

    /// Thousandths of days.
    public var halfLifeMs: Int64 { self[.likelihoodDays] * 86_400 }

    public func rules(surge: Double) -> DispatchRules {
        func number(_ key: Key) -> Double { Double(self[key]) / 1_000 }
        var rules = DispatchRules()
        (rules.weights.travel, rules.weights.wait, rules.weights.ride) = (number(.travel), number(.wait), number(.ride))
        (rules.weights.order, rules.weights.cancel) = (number(.order), number(.cancel))
        (rules.weights.override, rules.weights.surge) = (number(.override), surge)
        (rules.pickupServiceS, rules.dropoffServiceS) = (number(.pickupS), number(.dropoffS))
        (rules.otherVehiclePrice, rules.movedArrivalPrice) = (number(.otherVehicleS), number(.movedArrivalS))
        rules.queuedMs = self[.queueS]
        rules.iterations = Int(self[.iterations] / 1_000)
        return rules
    }
}
