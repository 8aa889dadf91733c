internal import Basics
internal import HTTPServer
internal import Presentation
internal import Reports

/// The map as it was: the span that is played, in the address, and the bar that plays it. The script moves the markers.
struct FleetReplayView {
    /// Epoch milliseconds, whole seconds.
    let span: Range<Int64>
    private let caller: PageCaller
    private let nowMs: Int64
    /// What else the address says.
    private let kept: [(String, String)]

    /// Nil: the map is as now.
    init?(_ request: Request, _ caller: PageCaller, nowMs: Int64) {
        guard let span = FleetReplayView.span(request.query) else { return nil }
        self.span = span
        self.caller = caller
        self.nowMs = nowMs
        kept = FleetReplayView.kept(request)
    }

    /// Nil: there is none, or one that cannot be played.
    static func span(_ query: [String: String]) -> Range<Int64>? {
        func time(_ name: String) -> Int64? {
            query[name].flatMap { Int64($0) }.flatMap { UTC.plausible.contains($0) ? $0 / 1_000 * 1_000 : nil }
        }
        guard let fromMs = time("from"), let untilMs = time("until"), fromMs < untilMs,
            untilMs - fromMs <= FleetReplay.spanMsMax
        else { return nil }
        return fromMs..<untilMs
    }

    /// A day that somebody chose; of today what there is so far.
    static func span(ofDay text: String, zone: String, nowMs: Int64) -> Range<Int64>? {
        guard let day = CivilDate(text, zone: zone), UTC.plausible.contains(day.startMs) else { return nil }
        let whole = day.span(days: 1)
        let untilMs = min(whole.upperBound, nowMs / 1_000 * 1_000)
        return whole.lowerBound < untilMs ? whole.lowerBound..<untilMs : nil
    }

    private static func kept(_ request: Request) -> [(String, String)] {
        ["search", "group", "state"].map { ($0, String((request.query[$0] ?? "").prefix(64))) }.filter { !$0.1.isEmpty }
    }

    static func path(_ span: Range<Int64>, _ request: Request) -> String {
        let items = kept(request) + [("from", String(span.lowerBound)), ("until", String(span.upperBound))]
        return "/map?" + items.map { "\($0)=\(URLText.escaped($1))" }.joined(separator: "&")
    }

    /// Chooses what is played: links and a form, so that it needs no script.
    static func menu(_ request: Request, _ caller: PageCaller, nowMs: Int64) -> HTML {
        let untilMs = nowMs / 1_000 * 1_000
        let choices: [(String, Int64)] = [(t("Last hour"), 1), (t("Last 6 hours"), 6), (t("Last 24 hours"), 24)]
        let links: [HTML] = choices.map { name, hours in
            "<a href=\"\(path(untilMs - hours * 3_600_000..<untilMs, request))\">\(HTML.icon(.history))\(name)</a>"
        }
        let today = CivilDate(ofMs: nowMs, zone: caller.clock.zone).text
        let day = span(request.query).map { CivilDate(ofMs: $0.lowerBound, zone: caller.clock.zone).text } ?? today
        return """
            <details class="menu end"><summary class="btn" aria-label="Replay">\(HTML.icon(.history))<span class="hide-phone">Replay</span></summary>\
            <div class="pop"><div class="eyebrow">Play back</div>\(links.joined())<hr>
            <form class="form" method="get" action="/map">\(kept(request).map(FormView.hidden).joined())\
            <label for="replay-day">A day</label><input class="box" id="replay-day" name="day" type="date" max="\(today)" value="\(day)" required>\
            <button class="btn primary">Play</button></form></div></details>
            """
    }

    /// `24 Nov 09:00 to 15:00`
    var name: String { caller.words.range(.between(span), caller.clock) }

    private var live: HTML {
        let query: HTML = kept.map { "\($0)=\(encoded: $1)" }.joined(separator: "&amp;")
        return query.isEmpty ? "/map" : "/map?\(query)"
    }

    private static let paces = [1, 10, 60, 300, 1_200]

    /// So that it is over in about a minute.
    private var pace: Int {
        let seconds = Int((span.upperBound - span.lowerBound) / 1_000)
        return FleetReplayView.paces.last { seconds / $0 >= 45 } ?? 1
    }

    var bar: HTML {
        let paces: HTML = FleetReplayView.paces.map { pace in
            "<option value=\"\(pace)\"\(" selected", if: pace == self.pace)>\(GroupedNumber.short(Double(pace), 0))×</option>"
        }.joined()
        let lengthS = (span.upperBound - span.lowerBound) / 1_000
        let day = CivilDate(ofMs: span.lowerBound, zone: caller.clock.zone).text
        let isDriver = !caller.roles.isDisjoint(with: FleetRoutes.drivers)
        let trips: HTML =
            isDriver ? " <a class=\"link\" href=\"/trips?date=\(day)\">The trips of that day</a> are a list." : ""
        return """
            <section id="replay" class="card mapplay" aria-label="Replay of \(name)" data-from="\(span.lowerBound)" data-until="\(span.upperBound)" \
            data-zone="\(caller.clock.zone)">
            <p class="small body" id="replay-told" role="status">Replay of \(name) needs scripts and a browser that draws maps.\(trips)</p>
            <div class="play" id="replay-bar" hidden><button class="btn icon primary" type="button" id="play" aria-label="Play">\(HTML.icon(.play))</button>
            <b id="clock" class="nowrap"></b>
            <div class="grow"><input class="range" id="moment" type="range" min="0" max="\(lengthS)" step="\(max(1, lengthS / 240))" value="0" aria-label="Moment of the replay"></div>
            <label class="sr" for="pace">Speed</label><select class="box" id="pace">\(paces)</select>
            <output id="said" class="small soft nowrap hide-phone" for="moment"></output></div>
            <footer class="small"><span class="soft">\(name)</span><a class="more" href="\(live)">Back to now</a></footer></section>
            """
    }
}
