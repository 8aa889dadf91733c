internal import Codecs
internal import Fleet
internal import Foundation
package import Ingest
package import Kafka
package import Telemetry
internal import Threads

/// A maker's ISO 15143-3 service, and how often it may be asked.
package struct ISOFleetSettings: Sendable {
    /// Address of the first page of the fleet snapshot.
    package var endpoint: String
    /// The token endpoint (OAuth 2.0, client credentials); empty: the service needs none.
    package var tokenURL: String
    package var clientID: String
    package var clientSecret: String
    package var caFile: String?
    package var intervalMs: Int64
    package var requestsPerHourMax: Int
    /// The hours of time series read with each pull; 0: only snapshots.
    package var seriesHours: Int64

    package init(
        endpoint: String, tokenURL: String, clientID: String, clientSecret: String, caFile: String?, intervalMs: Int64,
        requestsPerHourMax: Int, seriesHours: Int64
    ) {
        self.endpoint = endpoint
        self.tokenURL = tokenURL
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.caFile = caFile
        self.intervalMs = intervalMs
        self.requestsPerHourMax = requestsPerHourMax
        self.seriesHours = seriesHours
    }
}

/// Pulls a mixed fleet's snapshots and time series, page by page, and pushes what they say as machines' readings. The
/// same page pulled twice gives the same records, so that any request may be repeated. One thread.
package final class ISOFleetPuller {
    package struct Counts: Equatable, Sendable {
        package var pages = 0
        package var readings = 0
        /// Pages that were given up.
        package var failed = 0
    }

    /// A page that is still to be asked for.
    private enum Page {
        case snapshot(URL)
        case series(URL, ISOMachine)

        var url: URL {
            switch self {
            case .snapshot(let url), .series(let url, _): url
            }
        }
    }

    private struct Moment: Hashable {
        let vehicle: VehicleID
        let ts: Int64
    }

    /// The series whose values have a place in a reading, as the paths name them.
    private static let series = ["Locations", "CumulativeOperatingHours", "FuelRemainingRatio"]
    /// The most pages of one pull: a service whose pages lead in a circle of new names would never end.
    private static let pagesMax = 10_000
    private static let triesMax = 5
    private static let firstRetryMs: Int64 = 1_000
    private static let hourMs: Int64 = 3_600_000

    private let settings: ISOFleetSettings
    private let endpoint: URL
    private let service: ISOService
    private let kafka: KafkaSettings
    private let shape: TopicShape
    private var producer: Producer?
    private let log: Log
    private let pushed: Counter
    /// The readings of this pull and of the one before: pages about one time make one reading.
    private var (said, saidBefore): ([Moment: MachineReading], [Moment: MachineReading]) = ([:], [:])
    /// When the requests of the last hour were sent, by the steady clock.
    private var sentMs: [Int64] = []

    /// - Parameter shape: of a topic that is not there yet.
    /// - Throws: when the settings cannot work, before anybody is asked.
    package init(
        _ settings: ISOFleetSettings, kafka: KafkaSettings, shape: TopicShape, metrics: Metrics, log: Log
    ) throws {
        self.settings = settings
        self.kafka = kafka
        self.shape = shape
        self.log = log
        endpoint = try ISOService.url(settings.endpoint, "iso.endpoint")
        service = try ISOService(settings)
        pushed = metrics.counter("drover_iso_readings_total", "Readings pulled from ISO 15143-3 services.")
    }

    /// Pulls again and again until it shall stop.
    package func run(shouldStop: () -> Bool) {
        while !shouldStop() {
            let startMs = Clock.steadyMs()
            let counts = pull(shouldStop: shouldStop)
            log.info(
                "fleet pulled",
                ["pages": "\(counts.pages)", "readings": "\(counts.readings)", "failed": "\(counts.failed)"])
            BackOff.pause(startMs + settings.intervalMs - Clock.steadyMs(), shouldStop)
        }
    }

    /// One snapshot of the fleet, and the series that belong to it.
    package func pull(shouldStop: () -> Bool) -> Counts {
        var counts = Counts()
        (said, saidBefore) = ([:], said)
        var (waiting, seen, pins): ([Page], Set<URL>, [VehicleID: String?]) = ([.snapshot(endpoint)], [endpoint], [:])
        let (fromMs, toMs) = (Clock.nowMs() - settings.seriesHours * ISOFleetPuller.hourMs, Clock.nowMs())
        while let page = waiting.popLast(), !shouldStop() {
            guard counts.pages + counts.failed < ISOFleetPuller.pagesMax else {
                log.error("a pull has too many pages; the rest is left out", ["most": "\(ISOFleetPuller.pagesMax)"])
                counts.failed += 1
                break
            }
            guard
                let found = patiently(page, shouldStop, { try fetchAndPush(page, fromMs, toMs, &pins) })
            else {
                counts.failed += 1
                continue
            }
            counts.pages += 1
            counts.readings += found.readings
            // The next pages of the same list are requested first: the list may have changed in an hour.
            for next in found.next.reversed() where seen.insert(next.url).inserted { waiting.append(next) }
        }
        return counts
    }

    /// Tries a page again when that may help. Nil: it is given up, or time to stop.
    private func patiently(
        _ page: Page, _ shouldStop: () -> Bool, _ body: () throws -> (readings: Int, next: [Page])
    ) -> (readings: Int, next: [Page])? {
        var retryMs = ISOFleetPuller.firstRetryMs
        for attempt in 1...ISOFleetPuller.triesMax {
            waitForBudget(shouldStop)
            if shouldStop() { return nil }
            do {
                return try body()
            } catch {
                let asked = (error as? ISOServiceError)?.retryAfterMs
                let isHopeless = (error as? ISOServiceError)?.isHopeless ?? false
                guard attempt < ISOFleetPuller.triesMax, !isHopeless else {
                    log.error("a page of the fleet was given up", ["error": "\(error)"])
                    return nil
                }
                log.warning(
                    "a page of the fleet is asked for again",
                    ["error": "\(error)", "retry_in_ms": "\(asked ?? retryMs)"])
                BackOff.pause(asked ?? retryMs, shouldStop)
                if asked == nil { retryMs *= 4 }
            }
        }
        return nil
    }

    /// Asks for a page, pushes its readings, and returns when the broker has them.
    private func fetchAndPush(
        _ page: Page, _ fromMs: Int64, _ toMs: Int64, _ pins: inout [VehicleID: String?]
    ) throws -> (readings: Int, next: [Page]) {
        sentMs.append(Clock.steadyMs())
        let body = try service.page(page.url)
        var (readings, next): ([MachineReading], [Page]) = ([], [])
        switch page {
        case .snapshot(let url):
            let found = try ISOFleet.snapshot(body)
            if found.unnamed > 0 { log.warning("machines without a name are left out", ["count": "\(found.unnamed)"]) }
            if let url = try found.next.flatMap({ try service.follow($0, from: url) }) { next.append(.snapshot(url)) }
            for machine in found.machines {
                // Two machines of one name would become one.
                guard pins[machine.vehicle, default: machine.pin] == machine.pin else {
                    log.warning("two machines have one name; one is left out", ["vehicle": "\(machine.vehicle)"])
                    continue
                }
                pins[machine.vehicle] = .some(machine.pin)
                readings += machine.readings
                guard settings.seriesHours > 0, let pin = machine.pin else { continue }
                next += ISOFleetPuller.series.map {
                    .series(ISOService.series($0, of: pin, fromMs, toMs, endpoint: endpoint), machine)
                }
            }
        case .series(let url, let machine):
            let found = try ISOFleet.series(body, of: machine)
            readings = found.readings
            if let url = try found.next.flatMap({ try service.follow($0, from: url) }) {
                next.append(.series(url, machine))
            }
        }
        try push(readings.map(united))
        return (readings.count, next)
    }

    private func united(_ reading: MachineReading) -> MachineReading {
        let moment = Moment(vehicle: reading.vehicle, ts: reading.ts)
        let united = (said[moment] ?? saidBefore[moment]).map { ISOFleet.merged($0, reading) } ?? reading
        said[moment] = united
        return united
    }

    private func push(_ readings: [MachineReading]) throws {
        guard !readings.isEmpty else { return }
        do {
            if producer == nil {
                _ = try Topics.ensure(kafka, shape)
                producer = try Producer(kafka)
            }
            for reading in readings {
                try producer!.produce(
                    topic: Topic.machines, partition: nil, key: Array(reading.vehicle.text.utf8),
                    value: RecordWriter.machine(reading), timestampMs: nil)
            }
            try producer!.flush(timeoutMs: 30_000)
        } catch {
            // One that has failed goes on saying so.
            producer = nil
            throw error
        }
        pushed.add(readings.count)
    }

    private func waitForBudget(_ shouldStop: () -> Bool) {
        var isTold = false
        while !shouldStop() {
            let now = Clock.steadyMs()
            sentMs.removeAll { now - $0 >= ISOFleetPuller.hourMs }
            guard sentMs.count >= settings.requestsPerHourMax, let oldest = sentMs.first else { return }
            if !isTold {
                log.info("the requests of this hour are spent", ["most": "\(settings.requestsPerHourMax)"])
                isTold = true
            }
            BackOff.pause(oldest + ISOFleetPuller.hourMs - now, shouldStop)
        }
    }
}
