import App
import Basics
import Fleet
import Foundation
import Postgres
import Reports
import Settings
import Telemetry

/// The recordings that ship with Drover: brought in once a data folder, then shown.
struct Sample {
    /// The recordings by car. The loggers' clocks of the Seat have no zone: they are read as UTC.
    private static let cars: [(vehicle: String, files: [String])] = [
        (
            "seat-leon",
            [
                "2017-07-10_Seat_Leon_KA_KA_Stau", "2018-02-20_Seat_Leon_KA_KA_Frei",
                "2018-02-23_Seat_Leon_RT_RT_Frei_Beschleunigung",
                "2018-02-23_Seat_Leon_S_RT_Normal", "2018-02-26_Seat_Leon_RT_RT_Frei", "2018-03-26_Seat_Leon_S_RT_Stau",
            ].map { "kit-seat-leon/\($0).1hz.csv" }
        ),
        ("dodge-caliber", ["envirocar/dodge-caliber-2007-a.csv"]),
        ("car-51ee5e9c", ["envirocar/sensor-51ee5e9c-long.csv"]),
        ("car-52430807", ["envirocar/sensor-52430807-track10.csv"]),
    ]

    private let settings: Settings
    /// Its presence says that this data folder has the recordings.
    private let marker: String
    private let folder: String

    init(_ settings: Settings, data: String, again: Bool) throws {
        self.settings = settings
        marker = data + "/sample-imported"
        folder = try Home.directory() + "/Tests/Fixtures/"
        if again { try? FileManager.default.removeItem(atPath: marker) }  // Not there is what is wanted.
    }

    /// Whether nothing of it is in this data folder yet.
    var isNew: Bool { !FileManager.default.fileExists(atPath: marker) }

    /// The recordings and yesterday at the campus.
    /// - Parameters:
    ///   - isQuiet: says nothing of how it goes.
    ///   - failure: says when a server ended by itself: then there is nothing to wait for.
    func run(isQuiet: Bool = false, failure: () -> String?) throws {
        let startMs = Clock.steadyMs()
        func say(_ text: String) { if !isQuiet { Out.note(text) } }
        if isNew {
            try bringIn(isQuiet: isQuiet)
            try waitUntilWritten(failure)
            guard !StopFlag.isSet else { return }
            try SampleCampus(settings).play(isQuiet: isQuiet, failure: failure)
            guard !StopFlag.isSet else { return }
            // Without the marker the next start brings the recordings in again, which changes nothing.
            _ = FileManager.default.createFile(atPath: marker, contents: nil)
            say("brought in and written in \(Clock.steadyMs() - startMs) ms")
        } else {
            say("the recordings are in this data folder already")
        }
        if !isQuiet { try show() }
    }

    private func bringIn(isQuiet: Bool) throws {
        let plain = try Arguments([], for: .importCars)
        let cars = Sample.cars.flatMap { car in
            car.files.map { (path: folder + "cars/" + $0, vehicle: VehicleID(car.vehicle)) }
        }
        let vehicles = Dictionary(uniqueKeysWithValues: cars.map { ($0.path, $0.vehicle) })
        // One job: each waits a second for its own acknowledgements.
        let carsOk = try ImportJob(settings, topic: Topic.cars, isQuiet: isQuiet).run(cars.map(\.path)) {
            path, importer in
            try Command.importCar(path, vehicles[path] ?? nil, plain, importer)
        }
        guard carsOk else { throw Failure("a recording that ships with Drover could not be imported; see above") }
        let ok = try ImportJob(settings, topic: Topic.machines, isQuiet: isQuiet).run(
            [folder + "machines/readings.jsonl"], Command.importMachines)
        guard ok else { throw Failure("the machine readings that ship with Drover could not be imported; see above") }
    }

    /// Everything on the topics is written when each partition's stored offset has reached its end.
    private func waitUntilWritten(_ failure: () -> String?) throws {
        let offsets = try Offsets(settings)
        let deadlineMs = Clock.steadyMs() + 120_000
        while !StopFlag.isSet, try offsets.lag() > 0 {
            if let failure = failure() { throw Failure(failure) }
            guard Clock.steadyMs() < deadlineMs else {
                throw Failure("the worker has not written everything after 2 minutes; its log says why")
            }
            _ = StopFlag.wait(timeoutMs: 50)
        }
    }

    private func show() throws {
        let queries = try Home.reportQueries()
        let connection = try Connection(conninfo: settings.text("postgres.reader_url"))
        let trips = TripsOutput(
            try connection.query(queries["page_trips"], [.int4(50)]).map { try TripRead($0, price: settings.fuelPrice) }
        )
        Out.result("\nTrips (times UTC)\n" + trips.shortTable().text())
        let (boxes, cars) = (Set(SampleBoxes.machines), Set(SampleDrives.vehicles + SampleCars.vehicles))
        let alerts = try connection.query(
            queries["fleet_day_alerts"],
            [
                .timestampMs(0), .timestampMs(UTC.plausible.upperBound), .text(""), .text(""), .int8(Report.rowsMax),
            ]
        ).map(AlertRow.init).filter { !boxes.contains($0.vehicle) && !cars.contains($0.vehicle) }
        Out.result("\nAlerts (times UTC)\n" + AlertRow.shortTable(alerts).text() + "\n")
        try SampleCampus(settings).show()
    }
}
