internal import Alerts
internal import Codecs
internal import Fleet
internal import Presentation
internal import Reports
internal import Trips

/// The tabs of a vehicle's page.
extension VehicleView {
    // MARK: Live

    var live: HTML {
        let hasMap = !(story.series?.places ?? []).isEmpty
        guard hasMap else {
            return
                "\(dials)<div class=\"grid\">\(recent(width: "w7"))<div class=\"w5 stack\" id=\"story\">\(latest)</div></div>"
        }
        // On a phone the map comes first, then the dials.
        return """
            <div class="now-here">\(dials)
            <div class="grid"><section class="card w7"><header><h2>Where it was</h2></header>\(map)</section>\(recent(width: "w5"))</div>
            </div><div class="grid below"><div class="w12 wide-values" id="story">\(latest)</div></div>
            """
    }

    /// The way of what the charts show; the place under their crosshair is a dot on it.
    private var map: HTML {
        let severity = alerts.first?.alert.severity.rawValue ?? ""
        return """
            <div id="way" class="map grow" role="region" aria-label="Map of the vehicle’s route" data-vehicle="\(about.vehicle)" \
            data-name="\(about.name ?? about.vehicle)" data-icon="\(about.icon.rawValue)" data-sev="\(severity)" \(parts.base)></div>
            """
    }

    /// At most four: more are a table.
    private var dials: HTML {
        let shown = story.gauges.prefix(4)
        guard !shown.isEmpty else { return "" }
        return
            "<div class=\"grid\" id=\"gauges\">\(shown.map { "<section class=\"card gauge w3\">\(DialView($0).html)</section>" }.joined())</div>"
    }

    private func recent(width: StaticString) -> HTML {
        let width = HTML(stringLiteral: width)
        guard let series = story.series, !series.signals.isEmpty else {
            return
                "<section class=\"card \(width)\">\(HTML.emptyState(.line, t("No charts yet"), .t("What it reports is drawn here.")))</section>"
        }
        let isNow = nowMs - series.span.upperBound < 60_000
        let title: HTML =
            isNow ? "<h2>Last two hours</h2>" : "<h2>Two hours up to \(caller.clock.html(series.span.upperBound))</h2>"
        return """
            <section class="card \(width)"><header>\(title)<a class="more" href="\(link(.charts))">All charts</a></header>
            \(charts(series, signals: Array(series.signals.prefix(3)), height: 128, isLive: isNow))
            </section>
            """
    }

    private var latest: HTML {
        let rows = story.values
        let readAt: HTML = story.valuesMs.map { " <span class=\"faint small\">\(caller.clock.html($0))</span>" } ?? ""
        guard !rows.isEmpty else {
            let words: HTML =
                seenSinceMs == nil ? .t("It has not said anything yet.") : .t("It has not said anything since.")
            let empty = HTML.emptyState(.signal, t("No readings"), words)
            return "<section class=\"card\" aria-label=\"Latest reading\">\(empty)</section>"
        }
        let lines = rows.map { row -> HTML in "<div><dt>\(row.name)</dt><dd>\(row.text)</dd></div>" }.joined(
            separator: "\n")
        return """
            <section class="card" aria-label="Latest reading"><header><h2>Latest reading</h2>\(readAt)</header>
            <div class="body"><dl class="kv values">\(lines)</dl></div></section>
            """
    }

    // MARK: Charts

    var chartsPane: HTML {
        let links = VehicleView.spans.map { count -> HTML in
            let text = caller.words.count(count, .day)
            return
                "<a href=\"\(link(.charts))&amp;days=\(count)\"\(" aria-current=\"true\"", if: isBack(count))>\(text)</a>"
        }
        let title: HTML =
            if case .days = back { .t("Up to its last reading") } else { .t("Time range") }
        let drawn: HTML
        if let series = story.series, !series.signals.isEmpty {
            drawn = charts(series, signals: series.signals, height: 168, isLive: false)
        } else {
            drawn = HTML.emptyState(.line, t("No charts yet"), .t("What it reports is drawn here."))
        }
        return """
            <section class="card"><header><h2>\(title)</h2>\
            <span class="faint small hide-phone">Line: mean. Band: lowest to highest. Drag to zoom, double-click to go back.</span>\
            <div class="seg" role="group" aria-label="How far back">\(links.joined())</div></header>
            \(drawn)
            </section>
            """
    }

    private func isBack(_ count: Int) -> Bool {
        if case .days(let days) = back { days == count } else { false }
    }

    /// One below the other, with one axis of time.
    private func charts(
        _ series: SignalSeries, signals: [SignalSeries.Signal], height: Int, isLive: Bool
    ) -> HTML {
        let source = SeriesSource(about.kind, about.vehicle, series.signals.map(\.key))
        let nothing: HTML = "<p class=\"empty\">Nothing was read.</p>"
        let tones = ["--c1", "--c2", "--c4", "--c3", "--c5", "--c6"]
        return signals.enumerated().map { at, signal -> HTML in
            let line = series.chart(signal, caller.units, clock: caller.clock.minute)
            var chart = ChartView(
                line.title, of: source, [signal.key], series.span, caller,
                fallback: line.svg ?? nothing)
            chart.height = height
            chart.tone = tones[at % tones.count]
            chart.isLive = isLive
            return chart.html
        }.joined(separator: "\n")
    }

    // MARK: Alerts

    var alertsPane: HTML {
        let open = HTML.table(
            caption: t("Open alerts"),
            headers: [
                .word(t("Alert")), .number(t("Worst value")), .word(t("Limit")), .word(t("Since")),
                .text(t("Acknowledged by")),
            ],
            rows: alerts.map { open in
                [
                    alertLink(open.id, open.alert), .text(open.alert.shown(open.alert.worstValue, caller.units)),
                    .text(open.alert.shownRule(caller.units)), caller.clock.html(open.alert.openedMs),
                    .text(open.acknowledgedBy.map(caller.person)),
                ]
            }, empty: noAlert, narrow: .cards)
        let past = HTML.table(
            caption: t("Resolved alerts"),
            headers: [
                .word(t("Alert")), .number(t("Worst value")), .word(t("Limit")), .word(t("Opened")),
                .word(t("Resolved")),
            ],
            rows: story.past.map { past in
                [
                    alertLink(past.id, past.alert), .text(past.alert.shown(past.alert.worstValue, caller.units)),
                    .text(past.alert.shownRule(caller.units)), caller.clock.html(past.alert.openedMs),
                    past.alert.resolvedMs.map(caller.clock.html),
                ]
            }, empty: t("None was resolved yet."), narrow: .cards)
        return "<div class=\"stack\" id=\"story\">\(open)\n\(past)</div>"
    }

    private func alertLink(_ id: String, _ alert: AlertRow) -> HTML {
        let pill = alert.state == .dueSoon ? HTML.pill("service", t("Due soon")) : HTML.severity(alert.severity)
        return "\(pill) <a class=\"name\" href=\"/alerts/\(encoded: id)\">\(alert.parameter)</a>"
    }

    private var noAlert: String {
        if about.notMonitored != nil { return t("Not monitored: nothing judges what it says.") }
        return seenSinceMs == nil ? t("No alert is open.") : t("No alert was opened since and is open.")
    }

    // MARK: Cars

    var trips: HTML {
        let empty =
            about.hasReported
            ? t("No trip of it is yours to see: its last one began before the car was yours to drive.")
            : t("It has not been on a trip yet.")
        return
            "<div id=\"story\">\(TripTableView(story.trips, caller).html(caption: t("Last trips"), empty: empty))</div>"
    }

    var codes: HTML {
        let table = HTML.table(
            caption: t("Trouble codes"),
            headers: [
                .word(t("Scanned")), .prose(t("Stored")), .prose(t("Pending")), .prose(t("Permanent")),
                .text(t("Warning lamp")), .prose(t("Answer")),
            ],
            rows: story.scans.map { scan in
                [
                    scan.scannedMs.map(caller.clock.html) ?? .t("not yet"), scan.stored.map(shown),
                    scan.pending.map(shown), scan.permanent.map(shown), scan.isLampOn.map { $0 ? .t("on") : .t("off") },
                    .text(scan.answer),
                ]
            }, empty: t("Its codes were not read yet."), narrow: .cards)
        let scan: HTML =
            "<p class=\"tools\"><a class=\"btn\" href=\"/cars/\(encoded: about.vehicle)/scan\">\(HTML.icon(.engine))Health scan</a></p>"
        return "<div id=\"story\">\(scan)\(table)</div>"
    }

    private func shown(_ codes: [String]) -> HTML {
        let told = codes.map { code -> HTML in
            let meaning = TroubleCode(text: code.utf8).flatMap { meanings?.meaning(of: $0) }
            return "<b>\(code)</b>\(meaning.map { " \($0)" })"
        }
        return told.isEmpty ? .t("none") : told.joined(separator: "<br>")
    }
}

/// A value with its scale: where it stands, and where it would be too high or too low.
struct DialView {
    private let gauge: VehicleGauge

    init(_ gauge: VehicleGauge) { self.gauge = gauge }

    var html: HTML {
        let tone = gauge.broken?.rawValue ?? "ok"
        return """
            <div class="row between"><h2 class="soft">\(gauge.name)</h2>\(pill)</div>
            <span class="fig\(" \(tone)", if: gauge.broken == .critical)">\(number(gauge.value))<small>\(gauge.unit)</small></span>
            <svg class="dial" height="30" aria-hidden="true"><rect class="ground" width="100%" height="8" y="3" rx="4"/>\
            \(zones)<rect class="\(gauge.isJudged ? tone : "quiet")" width="\(at(gauge.value))" height="8" y="3" rx="4"/>\
            <rect class="needle" x="\(at(gauge.value))" width="3" height="14" rx="1.5"/>\(ends)</svg>
            """
    }

    private var pill: HTML {
        guard gauge.isJudged else { return "" }
        let isHeat = gauge.unit.hasPrefix("°")
        switch gauge.broken {
        case .critical?:
            return HTML.pill("critical", gauge.isLow ? t("Too low") : isHeat ? t("Too hot") : t("Too high"))
        case .warning?: return HTML.pill("warning", gauge.isLow ? t("Low") : isHeat ? t("Hot") : t("High"))
        case .recommended?, nil: return HTML.pill("ok", t("Fine"))
        }
    }

    /// From a limit to the edge; the worse one lies over the other.
    private var zones: HTML {
        gauge.limits.filter { $0.kind != .recommended }.map { limit in
            limit.isLeast
                ? "<rect class=\"zone \(limit.kind.rawValue)\" width=\"\(at(limit.value))\" height=\"8\" y=\"3\"/>"
                : "<rect class=\"zone \(limit.kind.rawValue)\" x=\"\(at(limit.value))\" width=\"\(percent(100 - share(limit.value)))\" height=\"8\" y=\"3\"/>"
        }.joined()
    }

    /// The scale's ends, and the limits where there is room.
    private var ends: HTML {
        let limits: [HTML] = gauge.limits.filter { $0.kind != .recommended && (12...84).contains(share($0.value)) }
            .prefix(1).map {
                "<text x=\"\(at($0.value))\" y=\"28\" text-anchor=\"middle\">\(number($0.value))</text>"
            }
        return """
            <text x="0" y="28">\(number(gauge.low))</text>\(limits.joined())\
            <text x="100%" y="28" text-anchor="end">\(number(gauge.high))</text>
            """
    }

    private func share(_ value: Double) -> Double {
        guard gauge.high > gauge.low else { return 0 }
        return min(100, max(0, (value - gauge.low) / (gauge.high - gauge.low) * 100))
    }

    private func at(_ value: Double) -> String { percent(share(value)) }
    private func percent(_ share: Double) -> String { "\((share * 10).rounded() / 10)%" }
    private func number(_ value: Double) -> String { ShownValue(value, unit: "", in: .metric).number }
}
