internal import Alerts
internal import Fleet
internal import Presentation
internal import Reports
internal import Storage

/// What needs a dispatcher, the worst first: passengers in a silent vehicle, who waits without one, who is late, which vehicle is silent.
struct DispatchNeedsView {
    /// Plans slip by seconds all day.
    private static let lateMs: Int64 = 120_000
    private static let rowsMax = 50

    private enum Weight: Comparable { case critical, warning }

    private struct Need {
        let weight: Weight
        let sinceMs: Int64
        let html: HTML
    }

    let view: CampusSnapshot
    let caller: PageCaller
    let nowMs: Int64

    var html: HTML {
        let needs = (view.rides.compactMap(ride) + view.vehicles.compactMap(silent)).sorted {
            ($0.weight, $0.sinceMs) < ($1.weight, $1.sinceMs)
        }
        let rows = needs.prefix(DispatchNeedsView.rowsMax).map(\.html).joined(separator: "\n")
        let rest = needs.count - DispatchNeedsView.rowsMax
        let more: HTML = rest > 0 ? "<li class=\"soft\">\(t("\(rest) more in the tables below"))</li>" : ""
        return """
            <section class="card" id="needs" data-live><header><h2>Needs action</h2><span class="soft end">\(needs.count)</span></header>
            \(needs.isEmpty ? "<p class=\"empty\">Nothing right now: all have a vehicle, none is late or silent.</p>" : "<ul class=\"needs\">\(rows)\(more)</ul>")</section>
            """
    }

    private func need(_ weight: Weight, since ms: Int64, _ name: String, _ words: String, _ links: HTML) -> Need {
        let pill = HTML.severity(weight == .critical ? .critical : .warning)
        return Need(
            weight: weight, sinceMs: ms,
            html: "<li>\(pill)<span class=\"grow\"><b>\(name)</b><br><span>\(words)</span></span>\(links)</li>")
    }

    private func ride(_ ride: RideNow) -> Need? {
        let (name, id) = (view.rider(ride), ride.pickup.request)
        if ride.state == .onBoard, let carrier = ride.carrier, carrier.isAlarmed {
            let age = caller.words.age(carrier.seenMs, nowMs: nowMs)
            return need(
                .critical, since: carrier.seenMs, name,
                t(
                    "On board of \(carrier.vehicle), last heard \(age). Call \(carrier.driverName), then end the ride or hand it over."
                ),
                link(id, "?deal=1#deal", t("End or hand over"), t("Deal with the ride of \(name)")))
        }
        if ride.state == .queued {
            let waited = caller.words.span(nowMs - ride.requestedMs)
            let from = CampusTextView.place(ride.pickup.fromAddress, ride.pickup.from, view.names)
            return need(
                .warning, since: ride.requestedMs, name, t("No vehicle yet, asked \(waited) ago at \(from)."),
                link(id, "", t("Why"), t("Why no vehicle yet, ride of \(name)")))
        }
        let due = ride.state == .onBoard ? ride.dropoffMs : ride.pickupMs
        guard let due, nowMs - due > DispatchNeedsView.lateMs, let vehicle = ride.carrier?.vehicle else { return nil }
        let late = caller.words.span(nowMs - due)
        return need(
            .warning, since: due, name,
            ride.state == .onBoard
                ? t("Drop-off by \(vehicle) is \(late) late.") : t("Pickup by \(vehicle) is \(late) late."),
            link(id, "?deal=1#deal", t("End or hand over"), t("Deal with the ride of \(name)")))
    }

    /// With passengers on board it is theirs to be said.
    private func silent(_ vehicle: VehicleNow) -> Need? {
        guard view.isStale(vehicle, nowMs: nowMs), !vehicle.isAlarmed else { return nil }
        let age = caller.words.age(vehicle.seenMs, nowMs: nowMs)
        return need(
            .warning, since: vehicle.seenMs, vehicle.vehicle,
            t("Silent, last heard \(age): it gets no rides. Call \(vehicle.driverName)."), "")
    }

    private func link(_ ride: String, _ rest: HTML, _ text: String, _ label: String) -> HTML {
        "<a class=\"btn small\" href=\"/dispatch/\(encoded: view.campus)/why/\(encoded: ride)\(rest)\" aria-label=\"\(label)\">\(text)</a>"
    }
}
