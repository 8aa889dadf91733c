internal import Alerts
internal import Fleet
internal import Kafka
internal import Pipeline
internal import Postgres
internal import Storage
internal import Trips
internal import Wire

/// Cars: records to the book, the book's rows to the tables.
final class CarStage: Stage {
    private let partition: TopicPartition
    private let decoder: RecordDecoder
    private let rejects: Rejects
    private var book: CarBook
    private var actions: [Action] = []

    private let place: KeyPlace
    private let kept: KeptSpan
    private let ticks: PartitionTicks
    private let drivers: DriverJudge
    /// Cars whose running trip somebody looks at, with what was written of it.
    private var watched: [Int: CarBook.LiveMark?] = [:]
    /// At which nobody looks any more: what was written since they were forgotten goes, too.
    private var unwatched: Set<Int> = []
    private(set) var hasMore = false

    init(
        _ partition: TopicPartition, place: KeyPlace, book: CarBook, drivers: DriverJudge, decoder: RecordDecoder,
        kept: KeptSpan, rejects: Rejects, ticks: PartitionTicks
    ) {
        (self.kept, self.ticks) = (kept, ticks)
        (self.partition, self.place, self.book, self.drivers) = (partition, place, book, drivers)
        (self.decoder, self.rejects) = (decoder, rejects)
    }

    func take(_ batch: MessageBatch, _ messages: Range<Int>, _ counts: inout RecordCounts) -> Int {
        // Reached through this object, each access to them is checked: once a run, not once a record.
        take(batch, messages, &book, &drivers.watch, &counts)
        return messages.count
    }

    private func take(
        _ batch: MessageBatch, _ messages: Range<Int>, _ book: inout CarBook, _ watch: inout CarWatch,
        _ counts: inout RecordCounts
    ) {
        var reading = CarReading(ts: 0)
        for index in messages {
            do throws(DecodeError) {
                try take(batch, index, &reading, &book, &watch, &counts)
            } catch {
                rejects.add(batch, index, error, &counts)
            }
        }
    }

    @inline(__always)
    private func take(
        _ batch: MessageBatch, _ index: Int, _ reading: inout CarReading, _ book: inout CarBook,
        _ watch: inout CarWatch, _ counts: inout RecordCounts
    ) throws(DecodeError) {
        let offset = batch.offset(index)
        let result = unsafe batch.withBytes(index) { key, value in
            Result { () throws(DecodeError) in
                guard let value = unsafe value else { throw .tombstone }
                let pushedMs = batch.timestampMs(index)
                switch try unsafe decoder.decodeCar(value, key: key, into: &reading) {
                case .tick(let ts):
                    take(try decoder.tick(ts), offset, pushedMs, &book, &watch, &counts)
                case .reading(let dropped):
                    if Ahead.isReadingTooFar(reading.ts, pushedMs) { throw .timeAhead(ms: reading.ts - pushedMs) }
                    try kept.check(reading.ts, pushedMs)
                    counts.droppedFields += dropped
                    let number = try unsafe book.take(key: key, reading, offset: offset, pushedMs: pushedMs)
                    watch.look(number, reading, pushedMs: pushedMs)
                case .other:
                    try unsafe takeOther(value, key: key, offset, pushedMs, &book, &watch, &counts)
                    watch.lastPushedMs = pushedMs
                }
            }
        }
        try result.get()
    }

    private func take(
        _ tick: Tick, _ offset: Int64, _ pushedMs: Int64, _ book: inout CarBook, _ watch: inout CarWatch,
        _ counts: inout RecordCounts
    ) {
        switch ticks.take(tick, offset: offset, pushedMs: pushedMs, &counts) {
        case .counts(let ms):
            book.tick(ms, offset: offset)
            watch.tick(clockMs: book.clockMs, pushedMs: pushedMs)
        case .setBack(let ms):
            book.setBack(ms, offset: offset)
            watch.setBack(clockMs: ms, pushedMs: pushedMs)
        case .waits, .dropped: break
        }
    }

    /// What people say: rare beside readings.
    private func takeOther(
        _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, _ offset: Int64, _ pushedMs: Int64,
        _ book: inout CarBook, _ watch: inout CarWatch, _ counts: inout RecordCounts
    ) throws(DecodeError) {
        let action: Action
        switch try unsafe decoder.decode(value, key: key, isMachine: false) {
        case .action(let said): action = said
        case .tick(let tick): return take(tick, offset, pushedMs, &book, &watch, &counts)
        case .car, .machine, .rules: throw .kindUnknown
        }
        if Ahead.isReadingTooFar(action.ts, pushedMs) { throw .timeAhead(ms: action.ts - pushedMs) }
        if action.vehicle != nil { try unsafe place.check(key) }
        switch action.kind {
        case .tripStart, .tripStop:
            try kept.check(action.ts, pushedMs)
            let cut = TripCuts.time(isStart: action.kind == .tripStart, at: action.ts)
            try unsafe book.take(key: key, cut: cut, offset: offset, pushedMs: pushedMs)
        case .settings(_, let text):
            try kept.check(action.ts, pushedMs)
            do throws(DriverSettings.Fault) { _ = try DriverSettings(text: text) } catch {
                throw .settings(error.description)
            }
        default: break
        }
        actions.append(action)
        drivers.take(action, pushedMs: pushedMs)
    }

    func watch(_ vehicles: Set<String>) {
        guard !vehicles.isEmpty || !watched.isEmpty else { return }
        let numbers = Set(vehicles.compactMap { VehicleID($0).flatMap { book.number(of: $0) } })
        unwatched.formUnion(watched.keys)
        unwatched.subtract(numbers)
        watched = Dictionary(uniqueKeysWithValues: numbers.map { ($0, watched[$0] ?? nil) })
    }

    private func liveRows() -> TableRows? {
        var trips: [(vehicle: String, live: LiveTrip)] = []
        for (number, mark) in watched where book.liveMark(number) != mark {
            watched[number] = book.liveMark(number)
            if let live = book.live(number) { trips.append((text(Int32(number)), live)) }
        }
        return LiveTripStore.rows(trips)
    }

    var waitingRows: Int { book.rows.count + actions.count }
    var needsHistory: Bool { book.hasLate || drivers.hasWork }
    var replayFrom: (offset: Int64, clockMs: Int64)? { book.replayFrom }

    func rows() -> StageRows {
        var rows = StageRows()
        rows.tables = CarStore.encode(book)
        if !watched.isEmpty, let live = liveRows() { rows.tables.append(live) }
        rows.count = book.rows.count + actions.count
        rows.vehicles = book.rows.vehicles.map {
            VehicleStore.Row(vehicle: text($0), kind: "car", model: nil, partition: partition.partition, lastMs: nil)
        }
        drivers.wrote(book.rows)
        rows.droppedTrips = book.rows.droppedTrips.map { (text($0.car), $0.startMs) }
        rows.droppedMinutes = book.rows.droppedMinutes.map { (text($0.car), $0.startMs) }
        let starts = book.rows.minutes.filter { $0.startPlace != nil }.map { (text($0.car), $0.tripStartMs) }
        if !starts.isEmpty { rows.others = [{ connection in try TripWeatherStore.settle(starts, on: connection) }] }
        if !unwatched.isEmpty {
            let vehicles = unwatched.map { text(Int32($0)) }
            rows.others.append { connection in try LiveTripStore.forget(vehicles, on: connection) }
            unwatched.removeAll()
        }
        book.clearRows()
        if !actions.isEmpty {
            let (actions, number) = (self.actions, partition.partition)
            rows.others.append { connection in try ActionStore.write(actions, partition: number, on: connection) }
            self.actions.removeAll(keepingCapacity: true)
        }
        return rows
    }

    private func text(_ car: Int32) -> String { String(decoding: book.vehicle(car), as: UTF8.self) }

    func resolve(nextOffset: Int64, on connection: Connection) throws -> StageRows {
        if !hasMore { drivers.late(book) }
        if book.hasLate {
            book.resolve(try CarStore.history(book.lateQueries, on: connection), nextOffset: nextOffset)
        }
        hasMore = book.hasLate
        var rows = rows()
        guard !hasMore else { return rows }
        // The lane waits for the whole commit.
        rows.tells = [{ [self] connection in try drivers.judge(&book, on: connection) }]
        return rows
    }
}
