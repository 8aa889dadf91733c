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
            <footer class="small"><a class="more" href="\(TripWords.path(read))?format=csv">All \(GroupedNumber.text(totals.readings)) readings</a></footer></section>
            """
    }

    private var totals: DriveTotals { read.trip.totals }

    private var rows: [(String, String)] {
        let stop = TripWords.length(TripEvents.stopMsMin), idle = TripWords.length(totals.idleMs)
        return [
            (t("Distance"), distance), (t("Moving"), t("Time between readings of the speed above 0, gaps left out")),
            (t("Fuel"), fuel), (t("Cost"), cost),
            (
                t("Top speed"),
                totals.speedReadings > 0
                    ? t("The highest of the car's own speed readings") : t("No speed was read")
            ),
            (t("Harsh"), harsh), (t("Stops"), t("Standing for \(stop) or longer")),
            (t("Idling"), t("\(idle): speed 0 while the engine turned")), (t("Gaps"), gaps),
        ]
            + (read.weatherText.map { [(t("Weather"), $0)] } ?? [])
            + (read.revisedMs.map {
                [(t("Corrected"), t("Readings that came late changed it on \(words.caller.clock.minute($0))"))]
            } ?? [])
    }

    private var distance: String {
        let count = GroupedNumber.text(totals.speedReadings)
        return totals.speedReadings > 0
            ? t(
                totals.speedReadings, one: "\(count) reading of the car's speed, added up over time",
                many: "\(count) readings of the car's speed, added up over time")
            : t("No speed was read, so it is not known")
    }

    private var fuel: String {
        switch read.figures.fuel {
        case .unknown(let why): t("Not known: \(TripWords.why(why))")
        case .litres(_, .fuelRate): t("The engine's own fuel rate, added up reading by reading")
        case .litres(_, .maf):
            t("The air that the engine took in, by its own sensor, and how much fuel burns with it")
        case .litres(_, .mafCalculated):
            t(
                "The air that the engine took in, as the logger worked it out from pressure, engine speed and temperature"
            )
        case .litres(_, .speedDensity):
            t(
                "The air that the engine took in, worked out from pressure, engine speed, intake temperature and displacement"
            )
        }
    }

    private var cost: String {
        guard let price = read.figures.price else { return t("Not known without fuel and a price") }
        let shown = words.price(price)
        return read.settings == nil
            ? t("The default price: \(shown)") : t("The driver's or owner's price when the trip ended: \(shown)")
    }

    private var harsh: String {
        let limit = GroupedNumber.text(Double(rules.sharpMmPerS2) / 1_000, 1)
        return t("Speed changed by more than \(limit) m/s² within a second")
    }

    private var gaps: String {
        let bridged = TripWords.length(rules.gapMs)
        guard totals.holes > 0 else { return t("None. No two readings of the speed are more than \(bridged) apart") }
        return t(
            totals.holes, one: "\(totals.holes) gap longer than \(bridged); nothing is added for it",
            many: "\(totals.holes) gaps longer than \(bridged); nothing is added for them")
    }
}
