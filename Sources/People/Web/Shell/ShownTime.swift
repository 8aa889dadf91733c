internal import HTTPServer
internal import Presentation

/// What time a page shows, and the menu that changes it: links and a small form, so that it needs no script. What else the address
/// says stays as it is.
///
///     let when = ShownTime(request, caller, nowMs: nowMs, standard: .last(.day))
///     … when.spanMs …
///     PageHeading("Alerts", range: when.picker)
struct ShownTime {
    let range: TimeRange
    let nowMs: Int64
    /// Why the address's time is not shown; nil: it is. The page says it: `HTML.fault`.
    let fault: String?
    private let request: Request
    private let caller: PageCaller
    private let choices: [TimeRange]

    /// - Parameters:
    ///   - standard: of an address that says nothing, or nothing that can be shown.
    ///   - choices: what the page can show.
    init(
        _ request: Request, _ caller: PageCaller, nowMs: Int64, standard: TimeRange = .last(.day),
        choices: [TimeRange] = TimeRange.choices
    ) {
        (self.request, self.caller, self.nowMs, self.choices) = (request, caller, nowMs, choices)
        do {
            range = try TimeRange.read(request.query, zone: caller.clock.zone, nowMs: nowMs) ?? standard
            fault = nil
        } catch {
            range = standard
            fault = caller.words.fault(error, shown: caller.words.range(standard, caller.clock))
        }
    }

    /// Epoch milliseconds.
    var spanMs: Range<Int64> { range.spanMs(nowMs: nowMs) }

    /// `Last 24 hours`, `24 Nov 00:00 to 15:19`
    var name: String { caller.words.range(range, caller.clock) }

    /// The parameters that say this time, for addresses of this page's parts: `range=24h`.
    var query: String {
        range.queryItems(zone: caller.clock.zone).map { "\($0.name)=\(URLText.escaped($0.value))" }.joined(
            separator: "&")
    }

    /// For `PageHeading.range`.
    var picker: HTML {
        let links: [HTML] = choices.map { choice in
            let isChosen = choice == range
            return """
                <a href="\(address(choice))"\(" aria-current=\"true\"", if: isChosen)>\(HTML.icon(isChosen ? .check : .clock))\
                \(caller.words.range(choice, caller.clock))\("<small class=\"faint end\">moves on</small>", if: choice == .live)</a>
                """
        }
        return """
            <details class="menu end when"><summary class="btn" title="\(caller.words.timeRange)">\(HTML.icon(.calendar))\
            <span class="lbl hide-phone">\(name)</span></summary>
            <div class="pop"><div class="eyebrow">\(caller.words.timeRange)</div>\(links.joined())<hr>\(form)</div></details>
            """
    }

    private var form: HTML {
        let zone = caller.clock.zone
        let span = spanMs
        let kept: [HTML] = others.map { FormView.hidden($0.name, $0.value) }
        return """
            <form class="form" action="\(request.path)">\(kept.joined())
            <div class="fld"><label for="range-from">From</label>\
            <input id="range-from" name="from" type="datetime-local" value="\(TimeRange.field(span.lowerBound, zone: zone))" required></div>
            <div class="fld"><label for="range-to">To</label>\
            <input id="range-to" name="to" type="datetime-local" value="\(TimeRange.field(span.upperBound, zone: zone))" required></div>
            <div class="row between"><span class="faint small">\(zone)</span><button class="btn small primary">Apply</button></div></form>
            """
    }

    /// Without the time, and without the page of a list that another time makes another list.
    private var others: [(name: String, value: String)] {
        request.queryItems.filter { !TimeRange.names.contains($0.name) && $0.name != "page" && $0.name != "said" }
    }

    private func address(_ choice: TimeRange) -> String {
        let items = others + choice.queryItems(zone: caller.clock.zone)
        return request.path + "?"
            + items.map { "\(URLText.escaped($0.name))=\(URLText.escaped($0.value))" }.joined(separator: "&")
    }
}
