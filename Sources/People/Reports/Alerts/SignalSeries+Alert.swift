internal import Alerts

extension SignalSeries {
    /// The same values with the limits that an alert was judged by: the rule may be another by now. Where they are not known those of today
    /// stay.
    package func judged(by story: AlertDetail) -> SignalSeries {
        guard !story.limits.isEmpty else { return self }
        let limits = story.limits.map { Limit(value: $0.value, kind: $0.kind, isLeast: story.alert.test == .below) }
        let judged = signals.map { signal in
            Signal(
                key: signal.key, name: signal.name, unit: signal.unit, points: signal.points, limits: limits,
                alerts: signal.alerts)
        }
        return SignalSeries(
            kind: kind, vehicle: vehicle, span: span, pieceS: pieceS, gapS: gapS, signals: judged, places: places)
    }
}
