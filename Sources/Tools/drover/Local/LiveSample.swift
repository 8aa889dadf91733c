import App
import Foundation
import Settings
import Synchronization
import Telemetry
import Threads

/// What goes on while `drover up --sample` is up: boxes and adapters that are polled, cars that drive, a campus at work; and behind the
/// page that is up already, walks and a tour, drives of the last days and the recordings come in.
final class LiveSample {
    private let settings: Settings
    private let people: SamplePeople
    private let sample: Sample
    private let isNew: Bool
    private let startMs: Int64
    /// Its presence says that the drives of past days are in.
    private let drivesMarker: String
    private let serversFailure: @Sendable () -> String?
    private let log: Log
    private let boxes: SampleBoxes
    private let cars: SampleCars
    private let drives: SampleDrives
    private let nature: SampleNature
    private var threads: [WorkerThread] = []
    private let failed = Fault()
    private let areRecordingsIn = Atomic(false)

    /// The first that happened.
    private final class Fault: Sendable {
        private let text = Mutex<String?>(nil)
        func note(_ error: any Error) { text.withLock { $0 = $0 ?? "the sample: \(error)" } }
        var first: String? { text.withLock { $0 } }
    }

    /// Takes its parts up and says on the log who they are: the gateway reads there whom to poll.
    init(
        _ settings: Settings, _ people: SamplePeople, data: String, again: Bool,
        failure: @escaping @Sendable () -> String?, log: Log
    ) throws {
        (self.settings, self.people, self.log) = (settings, people, log)
        serversFailure = failure
        sample = try Sample(settings, data: data, again: again)
        isNew = sample.isNew
        drivesMarker = data + "/sample-drives"
        // The embedded broker lost something: all of it is said again.
        if again { try? FileManager.default.removeItem(atPath: drivesMarker) }  // Not there is what is wanted.
        startMs = try LiveSample.start(data)
        boxes = try SampleBoxes(startMs: startMs)
        cars = try SampleCars()
        drives = try SampleDrives(settings)
        nature = SampleNature(settings, data: data, startMs: startMs, again: again, log: log)
        if isNew {
            try people.join(
                fleet: SampleFleet(cars: SampleDrives.vehicles + SampleCars.vehicles, machines: SampleBoxes.machines),
                settings)
            try SampleDrives.register(settings)
        }
        // The boxes have other ports than in the last run.
        try boxes.register(settings, isNew: isNew)
        try cars.register(settings, isNew: isNew)
        threads = [
            thread("boxes") { [boxes, log] in boxes.run(log: log, shouldStop: $0) },
            thread("adapters") { [cars, log] in cars.run(log: log, shouldStop: $0) },
        ]
    }

    /// When the sample of this data folder began.
    private static func start(_ data: String) throws -> Int64 {
        let file = data + "/sample-start"
        if FileManager.default.fileExists(atPath: file),
            let ms = Int64(String(decoding: try Files.read(file), as: UTF8.self).filter(\.isNumber))
        {
            return ms
        }
        let now = Clock.nowMs()
        try Data("\(now)\n".utf8).write(to: URL(filePath: file), options: .atomic)
        return now
    }

    /// What somebody looks for first comes first.
    func begin() {
        threads += [
            thread("drives") { [drives] shouldStop in try drives.live(shouldStop: shouldStop) },
            thread("sample") { [self] in try bringIn($0) }, thread("past") { [self] in try past($0) },
        ]
    }

    /// The recordings and yesterday at the campus, then today there.
    private func bringIn(_ shouldStop: () -> Bool) throws {
        if isNew { try SampleBoxes.pushLast(settings, startMs: startMs) }
        try sample.run(isQuiet: true, failure: serversFailure)
        guard !shouldStop() else { return }
        try people.join(campus: SampleCampus.campus, settings)
        areRecordingsIn.store(true, ordering: .releasing)
        try SampleCampus(settings).live(isNew: isNew, failure: serversFailure, shouldStop: shouldStop)
    }

    private func past(_ shouldStop: () -> Bool) throws {
        try nature.bringIn(shouldStop: shouldStop)
        while !areRecordingsIn.load(ordering: .acquiring) {
            guard !shouldStop() else { return }
            _ = StopFlag.wait(timeoutMs: 100)
        }
        if !FileManager.default.fileExists(atPath: drivesMarker) {
            try drives.past(shouldStop: shouldStop)
            guard !shouldStop() else { return }
            _ = FileManager.default.createFile(atPath: drivesMarker, contents: nil)
        }
        Out.note("all of the sample is in")
    }

    private func thread(_ name: String, _ body: @escaping (_ shouldStop: () -> Bool) throws -> Void) -> WorkerThread {
        WorkerThread(name) { [failed] shouldStop in
            do { try body(shouldStop) } catch { failed.note(error) }
        }
    }

    /// Why it does not go on; nil: it does.
    func failure() -> String? { failed.first }

    func stop() { for thread in threads.reversed() { thread.stop() } }
}
