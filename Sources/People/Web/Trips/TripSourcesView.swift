internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports
internal import Trips

/// Where every figure of a trip comes from: what was read, and by what rule it was added up.
struct TripSourcesView {
    let read: TripRead
    let events: TripEvents
    let readings: [CarReading]
    let rules: TripRules
    let words: TripWords

    var html: HTML {
        let items = rows.map { name, text -> HTML in "<dt>\(name)</dt><dd>\(text)</dd>" }
        return """
            <section class="card w4" aria-labelledby="sources"><header><h2 id="sources">Where every figure comes from</h2></header>
            <dl class="kv why">\(items.joined())</dl>
            <footer class="small"><a class="more" href="\(TripWords.path(read))?format=csv">All \(TripWords.number(Double(totals.readings), 0)) readings</a></footer></section>
            """
    }

    private var totals: DriveTotals { read.trip.totals }

    private var rows: [(String, String)] {
        [
            ("Distance", distance), ("Moving", "Time between readings of the speed above 0, gaps left out"),
            ("Fuel", fuel), ("Cost", cost),
            (
                "Top speed",
                totals.speedReadings > 0 ? "The highest of the car's own speed readings" : "No speed was read"
            ),
            ("Harsh", harsh), ("Stops", "Standing for \(TripWords.length(TripEvents.stopMsMin)) or longer"),
            ("Idling", "\(TripWords.length(totals.idleMs)): speed 0 while the engine turned"), ("Gaps", gaps),
        ]
            + (read.weatherText.map { [("Weather", $0)] } ?? [])
            + (read.revisedMs.map {
                [("Corrected", "Readings that came late changed it on \(words.caller.clock.minute($0))")]
            } ?? [])
    }

    private var distance: String {
        totals.speedReadings > 0
            ? "\(TripWords.count(Int(totals.speedReadings), "reading")) of the car's speed, added up over time"
            : "No speed was read, so it is not known"
    }

    private var fuel: String {
        switch read.figures.fuel {
        case .unknown(let why): "Not known: \(why.rawValue)"
        case .litres(_, .fuelRate): "The engine's own fuel rate, added up reading by reading"
        case .litres(_, .maf): "The air that the engine took in, by its own sensor, and how much fuel burns with it"
        case .litres(_, .mafCalculated):
            "The air that the engine took in, as the logger worked it out from pressure, engine speed and temperature"
        case .litres(_, .speedDensity):
            "The air that the engine took in, worked out from pressure, engine speed, intake temperature and displacement"
        }
    }

    private var cost: String {
        guard let price = read.figures.price else { return "Not known without fuel and a price" }
        let whose = read.settings == nil ? "The default price" : "The driver's or owner's price when the trip ended"
        return "\(whose): \(words.price(price))"
    }

    private var harsh: String {
        "Speed changed by more than \(TripWords.number(Double(rules.sharpMmPerS2) / 1_000, 1)) m/s² within a second"
    }

    private var gaps: String {
        let bridged = TripWords.length(rules.gapMs)
        guard totals.holes > 0 else { return "None. No two readings of the speed are more than \(bridged) apart" }
        return
            "\(TripWords.count(Int(totals.holes), "gap")) longer than \(bridged); nothing is added for \(totals.holes == 1 ? "it" : "them")"
    }
}
