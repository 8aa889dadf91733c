internal import Basics
internal import Fleet
internal import Formats
internal import Presentation
internal import Reports
internal import Storage

/// The next hour by vehicle: a bar a ride, from pickup to drop-off, and a line where now is. A picture of what the tables below say.
struct DispatchTimelineView {
    private static let beforeMs: Int64 = 10 * 60_000
    private static let leastMs: Int64 = 40 * 60_000
    private static let mostMs: Int64 = 3 * 3_600_000
    private static let lanesMax = 12
    private static let rowsMax = 60
    private static let lanePx = 28

    private struct Bar {
        let name: String
        let style: HTML
        let words: String
        let fromMs, toMs: Int64
    }

    let view: CampusSnapshot
    let caller: PageCaller
    let nowMs: Int64

    private var fromMs: Int64 { nowMs - DispatchTimelineView.beforeMs }
    private var toMs: Int64 {
        let last = view.rides.compactMap(\.dropoffMs).max() ?? 0
        return min(max(last + 5 * 60_000, nowMs + DispatchTimelineView.leastMs), nowMs + DispatchTimelineView.mostMs)
    }

    var html: HTML {
        let byVehicle = Dictionary(grouping: view.rides.filter { $0.carrier != nil }) { $0.carrier?.vehicle ?? "" }
        // Who has rides first: beyond what a screen holds, the others stand in the table.
        let (busy, idle) = (
            view.vehicles.filter { byVehicle[$0.vehicle] != nil }, view.vehicles.filter { byVehicle[$0.vehicle] == nil }
        )
        let left = view.vehicles.count - DispatchTimelineView.rowsMax
        let more: HTML =
            left > 0
            ? "<p class=\"soft\">\(t(left, one: "\(left) more vehicle below", many: "\(left) more vehicles below"))</p>"
            : ""
        let rows: [HTML] = (busy + idle).prefix(DispatchTimelineView.rowsMax).map { vehicle in
            let isStale = view.isStale(vehicle, nowMs: nowMs)
            return row(
                vehicle.vehicle, vehicle.driverName,
                (byVehicle[vehicle.vehicle] ?? []).compactMap { bar($0, isStale: isStale) })
        }
        let waiting = view.rides.filter { $0.state == .queued }.map(waits)
        let last: HTML =
            waiting.isEmpty
            ? ""
            : row(
                t("No vehicle yet"), caller.words.count(waiting.count, .ride),
                waiting)
        let body: HTML =
            rows.isEmpty && waiting.isEmpty
            ? "<p class=\"empty\">No vehicle in service.</p>"
            : "<div class=\"lane axis\" aria-hidden=\"true\"><span></span>\(axis)</div>\(last)\(rows.joined())\(more)"
        return """
            <section class="card"><header><h2 id="timeline-name">Timeline</h2><span class="soft end small">filled: on board, outlined: planned, dashed: vehicle silent</span></header>
            <div class="lanes" role="region" aria-labelledby="timeline-name" tabindex="0"><div id="timeline" data-live>\(body)</div></div></section>
            """
    }

    // MARK: Bars

    private func bar(_ ride: RideNow, isStale: Bool) -> Bar? {
        guard let pickupMs = ride.pickupMs, let dropoffMs = ride.dropoffMs else { return nil }
        let (name, isAboard) = (view.rider(ride), ride.state == .onBoard)
        let (from, to) = (clock(pickupMs), clock(dropoffMs))
        return Bar(
            name: name, style: isStale ? "unknown" : isAboard ? "aboard" : "planned",
            words: isAboard
                ? t("\(name): picked up \(from), drop-off \(to)") : t("\(name): pickup \(from), drop-off \(to)"),
            fromMs: pickupMs, toMs: max(dropoffMs, isAboard ? nowMs : pickupMs))
    }

    private func waits(_ ride: RideNow) -> Bar {
        let name = view.rider(ride)
        return Bar(
            name: name, style: "waits", words: t("\(name): waiting since \(clock(ride.requestedMs))"),
            fromMs: ride.requestedMs, toMs: nowMs)
    }

    private func clock(_ ms: Int64) -> String { String(caller.clock.second(ms).prefix(5)) }

    /// Bars that overlap stand below each other.
    private func row(_ name: String, _ who: String, _ bars: [Bar]) -> HTML {
        var ends: [Int64] = []
        var drawn: HTML = ""
        for bar in bars.sorted(by: { ($0.fromMs, $0.toMs) < ($1.fromMs, $1.toMs) })
        where bar.toMs >= fromMs && bar.fromMs <= toMs {
            let lane = ends.firstIndex { $0 <= bar.fromMs } ?? ends.count
            guard lane < DispatchTimelineView.lanesMax else { continue }
            if lane == ends.count { ends.append(bar.toMs) } else { ends[lane] = bar.toMs }
            drawn += svg(bar, lane)
        }
        let height = max(1, ends.count) * DispatchTimelineView.lanePx + 8
        let words = bars.isEmpty ? t("no rides") : bars.map(\.words).joined(separator: "; ")
        return """
            <div class="lane"><span class="ell"><b>\(name)</b><br><span class="soft">\(who)</span></span>\
            <svg width="100%" height="\(height)" role="img" aria-label="\(name): \(words)">\
            \(drawn)<line class="now" x1="\(share(nowMs))" x2="\(share(nowMs))" y1="0" y2="100%"/></svg></div>
            """
    }

    private func svg(_ bar: Bar, _ lane: Int) -> HTML {
        let (from, to) = (max(bar.fromMs, fromMs), min(max(bar.toMs, bar.fromMs + 60_000), toMs))
        return """
            <svg x="\(share(from))" y="\(lane * DispatchTimelineView.lanePx + 6)" width="\(share(fromMs + max(0, to - from)))" height="24">\
            <title>\(bar.words)</title><rect class="\(bar.style)" x="1" y="1" width="99%" height="22" rx="5"/><text class="\(bar.style)" x="7" y="16">\(bar.name)</text></svg>
            """
    }

    /// Whole quarters of an hour, and now.
    private var axis: HTML {
        let stepMs: Int64 = toMs - fromMs > 5_400_000 ? 1_800_000 : 900_000
        let first = (fromMs / stepMs + 1) * stepMs
        let ticks: [HTML] = stride(from: first, to: toMs - stepMs / 4, by: Int64.Stride(stepMs)).map { ms in
            "<text x=\"\(share(ms))\" y=\"14\" text-anchor=\"middle\">\(clock(ms))</text>"
        }
        return "<svg width=\"100%\" height=\"20\">\(ticks.joined())</svg>"
    }

    /// Of the width: `12.5%`.
    private func share(_ ms: Int64) -> String {
        Decimal.text((ms - fromMs) * 1_000 / max(1, toMs - fromMs), decimals: 1) + "%"
    }
}
