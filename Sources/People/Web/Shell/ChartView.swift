internal import Fleet
internal import Presentation

/// A chart that a page declares: `Assets/chart-figure.js` draws it from a route's answer. Who has no script sees what the server has drawn.
///
///     ChartView("Coolant temperature, °C", of: SeriesSource(about.kind, about.vehicle, ["coolant_c"]), ["coolant_c"], span, caller,
///         fallback: lineChart.svg).html
///
/// The page loads `ChartView.styles` and `ChartView.scripts`. Charts whose sources are equal are answered by one request; name all signals
/// of the page in the source, and of each chart those that it draws. For an alert's page set `alert`: hold time and opening are drawn.
struct ChartView {
    static let styles = ["uplot/uPlot.min.css"]
    static let scripts = ["uplot/uPlot.iife.min.js", "chart.js", "chart-figure.js"]

    /// With its unit: it is the caption, and the name of files that are saved.
    private let title: String
    private let source: SeriesSource
    private let signals: [String]
    private let span: Range<Int64>
    private let zone: String
    private let fallback: HTML
    /// Charts of a group share crosshair and zoom; empty: all of the page.
    var group = ""
    /// Pixels.
    var height = 160
    /// The token of the first line's colour.
    var tone = "--c1"
    /// It ends now, always.
    var isLive = false
    /// Another chart of the same times stands below: no times.
    var isBare = false
    /// The alert that the chart is about.
    var alert: String?
    /// Instead of the title: the latest value, say. It must name what is drawn.
    var caption: HTML?

    /// - Parameters:
    ///   - span: what is shown at first, epoch milliseconds.
    ///   - fallback: for who has no script.
    init(
        _ title: String, of source: SeriesSource, _ signals: [String], _ span: Range<Int64>, _ caller: PageCaller,
        fallback: HTML
    ) {
        self.title = title
        self.source = source
        self.signals = signals
        self.span = span
        zone = caller.clock.zone
        self.fallback = fallback
    }

    var html: HTML {
        """
        <figure class="chart" data-source="\(source.address)" data-signals="\(signals.joined(separator: " "))" \
        data-from="\(span.lowerBound)" data-until="\(span.upperBound)" data-zone="\(zone)" data-height="\(height)" \
        data-tone="\(tone)" data-title="\(title)"\(attribute("group", group))\(attribute("alert", alert ?? ""))\
        \(" data-live", if: isLive)\(" data-bare", if: isBare)>
        <figcaption>\(caption ?? HTML(title))</figcaption>
        \(fallback)
        </figure>
        """
    }

    private func attribute(_ name: StaticString, _ value: String) -> HTML {
        value.isEmpty ? "" : " data-\(HTML(stringLiteral: name))=\"\(value)\""
    }
}

/// Where charts of a vehicle have their values from: `GET /v1/vehicles/{vehicle}/series`.
struct SeriesSource {
    let address: String

    /// - Parameter signals: of all charts that ask it; empty: all that there are.
    init(_ kind: VehicleKind, _ vehicle: String, _ signals: [String] = []) {
        let wanted = signals.isEmpty ? "" : "&signals=" + signals.map(URLText.escaped).joined(separator: ",")
        address = "/v1/vehicles/\(URLText.escaped(vehicle))/series?kind=\(kind.rawValue)\(wanted)"
    }
}
