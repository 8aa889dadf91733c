internal import Alerts
internal import Fleet
internal import Pipeline
internal import Postgres
internal import Storage

/// The drivers' alerts of one partition of cars: which cars to look at, and the judgement with the database's help. What
/// is judged is what is stored and the open minute, so the alerts follow from the readings, whatever their order.
///
/// Belongs to its stage, and is used by one thread at a time like it.
final class DriverJudge {
    private let partition: Int32
    /// The stage shows it each reading itself: to reach it through this object is checked each time.
    var watch = CarWatch()
    /// What may change by what somebody is judged, with the time of its push, until it is written.
    private var actions: [(action: Action, pushedMs: Int64)] = []
    /// Cars that report for the first time.
    private var newcomers: [Int] = []

    init(partition: Int32) { self.partition = partition }

    /// Takes over what the database knows of the partition's cars.
    func load(_ book: borrowing CarBook, on connection: Connection) throws {
        for car in try DriverAlertStore.watched(partition: partition, on: connection) {
            guard let number = book.number(of: car.vehicle) else { continue }
            watch.watch(number, limits: car.limits.limits, sinceMs: car.limits.sinceMs)
            guard let lastMs = car.lastMs else { continue }
            watch.restore(
                number, lastMs: lastMs, spellMs: car.spellMs, open: car.open, clockMs: book.clockMs)
        }
    }

    // MARK: Facts

    func take(_ action: Action, pushedMs: Int64) {
        switch action.kind {
        case .registration, .driving, .assignment, .settings, .scan: actions.append((action, pushedMs))
        default: break
        }
    }

    /// Rows of the book that are handed over.
    func wrote(_ rows: borrowing CarRows) {
        newcomers += rows.vehicles.map { Int($0) }
        for index in rows.minutes.indices {
            let row = rows.minutes[index]
            watch.wrote(Int(row.car), minuteMs: row.startMs)
        }
    }

    /// Late readings that are about to be folded in.
    func late(_ book: borrowing CarBook) {
        for late in book.lateSpans where watch.isWatched(late.number) {
            watch.ask(
                late.number,
                CarWatch.Span(fromMs: late.fromMs, toMs: late.toMs, pushedMs: late.pushedMs, isLate: true))
        }
    }

    var hasWork: Bool { watch.hasDue || !actions.isEmpty || !newcomers.isEmpty }

    // MARK: Judging

    /// Precondition: within the transaction, after the rows and actions of the cycle.
    func judge(_ book: inout CarBook, on connection: Connection) throws -> [OutboxRecord] {
        var (alerts, transitions): ([ToldAlert], [AlertTransition]) = ([], [])
        for (vehicle, pushedMs) in try learn(&book, on: connection).sorted(by: { $0.key < $1.key }) {
            try judgeCodes(vehicle, pushedMs, &alerts, &transitions, on: connection)
        }
        for (number, span) in watch.takeDue() {
            try judge(number, span, &book, &alerts, &transitions, on: connection)
        }
        try DriverAlertStore.write(alerts, on: connection)
        return transitions.map { OutboxRecord($0) }
    }

    /// Finds out whose limits count from now on, and asks for what is judged by others than before. Returns the cars that
    /// were spoken of.
    private func learn(_ book: inout CarBook, on connection: Connection) throws -> [VehicleID: Int64] {
        var touched: [VehicleID: Int64] = [:]
        var spans: [(VehicleID, CarWatch.Span)] = []
        for (action, pushedMs) in actions {
            func span(_ fromMs: Int64, _ toMs: Int64, isLate: Bool = true) -> CarWatch.Span {
                CarWatch.Span(fromMs: fromMs, toMs: toMs, pushedMs: pushedMs, isLate: isLate)
            }
            if case .settings(let account, _) = action.kind {
                let cars = try DriverAlertStore.cars(
                    of: account, fromMs: action.ts, partition: partition, on: connection)
                for vehicle in cars {
                    touched[vehicle] = pushedMs
                    spans.append((vehicle, span(action.ts, .max)))
                }
                continue
            }
            guard let vehicle = action.vehicle else { continue }
            touched[vehicle] = pushedMs
            switch action.kind {
            // It comes with its readings.
            case .driving(let fromMs): spans.append((vehicle, span(fromMs, action.ts, isLate: false)))
            case .assignment, .registration: spans.append((vehicle, span(action.ts, .max)))
            default: break
            }
        }
        for number in newcomers {
            let (vehicle, open) = (self.vehicle(number, book), book.openReadings(number))
            guard let first = open.first, let last = open.last else { continue }
            spans.append(
                (
                    vehicle,
                    CarWatch.Span(fromMs: first.ts, toMs: last.ts, pushedMs: watch.lastPushedMs, isLate: false)
                ))
        }
        let asked = Set(spans.map(\.0))
        (actions, newcomers) = ([], [])
        guard !asked.isEmpty else { return touched }
        let limits = try DriverAlertStore.limits(of: asked.sorted(), partition: partition, on: connection)
        for (vehicle, known) in limits {
            guard let number = book.number(of: vehicle) else { continue }
            watch.watch(number, limits: known.limits, sinceMs: known.sinceMs)
        }
        for (vehicle, span) in spans {
            if let number = book.number(of: vehicle), watch.isWatched(number) { watch.ask(number, span) }
        }
        return touched
    }

    private func vehicle(_ number: Int, _ book: borrowing CarBook) -> VehicleID {
        VehicleID(String(decoding: book.vehicle(Int32(number)), as: UTF8.self))!
    }

    private func judge(
        _ number: Int, _ span: CarWatch.Span, _ book: inout CarBook, _ alerts: inout [ToldAlert],
        _ transitions: inout [AlertTransition], on connection: Connection
    ) throws {
        let vehicle = vehicle(number, book)
        let (borderMs, open) = (book.openBorderMs(number), book.openReadings(number))
        var atMs = min(
            span.fromMs, try DriverAlertStore.openSinceMs(of: vehicle, on: connection) ?? span.fromMs)
        while atMs <= span.toMs,
            let stretch = try DriverAlertStore.stretch(
                of: vehicle, fromMs: atMs, untilMs: span.toMs, open: open, borderMs: borderMs, on: connection)
        {
            try judge(number, vehicle, stretch, span, book.clockMs, &alerts, &transitions, on: connection)
            // Nothing within reach is left out.
            atMs = stretch.untilMs + 1
        }
    }

    private func judge(
        _ number: Int, _ vehicle: VehicleID, _ stretch: DriverAlertStore.Stretch, _ span: CarWatch.Span,
        _ clockMs: Int64, _ alerts: inout [ToldAlert], _ transitions: inout [AlertTransition],
        on connection: Connection
    ) throws {
        let (drivers, rules) = try DriverAlertStore.drivers(
            of: vehicle, fromMs: stretch.fromMs, toMs: stretch.toMs, partition: partition, on: connection)
        // What is open at a border is over there as by a silence; the next stretch opens it again.
        let silentMs = stretch.toMs + DriverWatch.reachMs
        let judgement = DriverJudgement(
            vehicle: vehicle, readings: stretch.readings, drivers: drivers, rules: rules,
            passedMs: stretch.isFollowed ? max(clockMs, silentMs) : clockMs)
        // A second stretch of the car goes on from what the first one told.
        if alerts.contains(where: { $0.episode.vehicle == vehicle }) {
            try DriverAlertStore.write(alerts, on: connection)
            alerts.removeAll()
        }
        let told = try DriverAlertStore.told(
            of: vehicle, fromMs: stretch.fromMs, toMs: stretch.untilMs, on: connection)
        tell(judgement.episodes, told, span.pushedMs, isLate: span.isLate, &alerts, &transitions) {
            $0.openedMs >= stretch.fromMs && $0.openedMs <= stretch.untilMs
        }
        if !stretch.isFollowed { watch.judged(number, judgement, lastMs: stretch.toMs) }
    }

    private func judgeCodes(
        _ vehicle: VehicleID, _ pushedMs: Int64, _ alerts: inout [ToldAlert],
        _ transitions: inout [AlertTransition], on connection: Connection
    ) throws {
        let scans = try DriverAlertStore.scans(of: vehicle, on: connection)
        guard let fromMs = scans.map(\.ts).min(), let toMs = scans.map(\.ts).max() else { return }
        let (drivers, rules) = try DriverAlertStore.drivers(
            of: vehicle, fromMs: fromMs, toMs: toMs, partition: partition, on: connection)
        let episodes = TroubleCodes.episodes(vehicle: vehicle, scans: scans, drivers: drivers, rules: rules)
        let told = try DriverAlertStore.toldCodes(of: vehicle, on: connection)
        tell(episodes, told, pushedMs, isLate: false, &alerts, &transitions) { _ in true }
    }

    private func tell(
        _ episodes: [Episode], _ told: ToldAlerts, _ pushedMs: Int64, isLate: Bool, _ alerts: inout [ToldAlert],
        _ transitions: inout [AlertTransition], isJudged: (Episode) -> Bool
    ) {
        var told = told
        // What was over and is not, or ended at another time, is a correction, whatever brought it.
        let isCorrection = told.all.contains { alert in
            !alert.isWithdrawn && alert.episode.resolvedMs != nil && isJudged(alert.episode)
                && !episodes.contains(alert.episode)
        }
        let cause = AlertCause(pushedMs: pushedMs, isLate: isLate || isCorrection)
        transitions += told.tell(episodes, cause: cause) { isJudged($0.episode) }
        alerts += told.changed
    }
}
