internal import Basics
internal import Clients
internal import Codecs
internal import Crypto
internal import Fleet
internal import Formats
internal import Foundation
package import Ingest
package import Postgres
internal import Synchronization
internal import Telemetry
internal import Threads

/// Riders who ask for rides at a steady rate, over mutual TLS, and cancel them a moment later: how long from when a request
/// was due until its committed decision is answered.
package struct CampusBench {
    private let rate: Int
    private let seconds: Int
    private let stand: BenchEnvironment

    package init(rate: Int, seconds: Int, on stand: BenchEnvironment) {
        self.rate = rate
        self.seconds = seconds
        self.stand = stand
    }

    private static let campus = "bench"
    private static let vehicles = 20
    /// Each has one ride at a time, and none for some seconds after it.
    private var riders: Int { rate * 8 + CampusBench.clients * CampusBench.keptRides * 4 }
    private static let clients = 24
    /// Rides of one client that are outstanding before the oldest is cancelled.
    private static let keptRides = 3
    /// The first ones find cold caches.
    private var warmUp: Int { min(100, rate * seconds / 5) }

    /// - Parameters:
    ///   - address: of the apps' server, whose certificates `makeCertificates` made.
    ///   - owner: may write people.
    package func run(_ uploads: UploadSender, owner: Connection, address: String, folder: String) throws -> [Figure] {
        try fill(uploads, owner)
        return try ask(address, folder, try people(owner))
    }

    /// `server` and `app`, each with its own authority, as `NAME.pem` and `NAME.key`.
    package static func makeCertificates(_ folder: String) throws {
        for name in ["server", "app"] { try makeCertificate(folder + "/" + name) }
    }

    /// A certificate that is its own authority, as `NAME.pem` and `NAME.key`.
    private static func makeCertificate(_ name: String) throws {
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments =
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-days", "2", "-subj", "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1"]
            + ["-keyout", name + ".key", "-out", name + ".pem"]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        guard openssl.terminationStatus == 0 else {
            throw BenchFailure("openssl made no certificate: is it installed?")
        }
    }

    // MARK: The campus

    /// Three kilometres by three, with its vehicles spread over it.
    private func fill(_ uploads: UploadSender, _ owner: Connection) throws {
        let corners = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)].map { CampusBench.place($0.0, $0.1) }
        let settings = CampusSettings(name: "Bench", boundary: corners)
        var kinds: [RideRecord.Kind] = [.campus(settings)]
        for number in 0..<CampusBench.vehicles {
            kinds.append(
                .inService(
                    RideRecord.InService(
                        vehicle: "bus-\(number)", driver: "driver-\(number)",
                        person: RideRecord.Person(name: "Driver \(number)", photo: nil), capacity: 6,
                        place: CampusBench.spot(number))))
        }
        let upload = try Upload(
            rides: kinds.enumerated().map { number, kind in
                RideRecord(
                    id: "bench-\(number)", campus: CampusBench.campus, ts: Clock.nowMs(), by: "bench", kind: kind)
            })
        uploads.send(rides: upload) { _, _ in }
        let (patience, taken) = (Stopwatch(), try stand.query("campus_vehicles"))
        while try owner.query(taken)[0].int("n")! < CampusBench.vehicles {
            guard patience.seconds < 60 else { throw BenchFailure("the worker did not take the campus in a minute") }
            _ = StopFlag.wait(timeoutMs: 100)
        }
    }

    /// Riders of the roster with a token each, as mailed codes would have given them.
    private func people(_ owner: Connection) throws -> [String] {
        let (tokens, rider) = ((0..<riders).map { _ in Token.random() }, try stand.query("rider"))
        for (number, token) in tokens.enumerated() {
            try owner.query(
                rider, [.bytes(token.digest), .text(CampusBench.campus), .text("rider-\(number)")])
        }
        return tokens.map(\.text)
    }

    /// 0 to 1 from south to north and from west to east.
    private static func place(_ north: Double, _ east: Double) -> Position {
        Position(degrees: 38.89 + north * 0.027, -77.06 + east * 0.0347)!
    }

    private static func spot(_ number: Int) -> Position {
        // Fractions of multiples of the golden ratio and of √2: evenly spread, and the same in each run.
        let (a, b) = (Double(number) * 0.618_033_988_75, Double(number) * 0.414_213_562_37)
        return place(a - a.rounded(.down), b - b.rounded(.down))
    }

    // MARK: The riders

    private struct Told {
        var latenciesMs: [Double] = []
        var cancelMs: [Double] = []
        var failures: [Int: Int] = [:]
    }

    private func ask(_ address: String, _ folder: String, _ tokens: [String]) throws -> [Figure] {
        let told = Mutex(Told())
        let startMs = Clock.steadyMs() + 500
        let identity = HTTPSClient.Identity(certificate: folder + "/app.pem", key: folder + "/app.key")
        let threads = (0..<CampusBench.clients).map { _ in WorkerThread() }
        for (client, thread) in threads.enumerated() {
            thread.start("bench-\(client)") { [self] _ in
                do {
                    let https = try HTTPSClient(caFile: folder + "/server.pem", identity: identity)
                    let rider = BenchRider(https, address + CampusBench.campus)
                    try ride(rider, client, startMs, tokens, told)
                } catch {
                    stand.note("a client gave up: \(error)")
                    told.withLock { $0.failures[0, default: 0] += 1 }
                }
            }
        }
        for thread in threads { thread.stop() }
        let all = told.withLock { $0 }
        for (status, count) in all.failures.sorted(by: { $0.key < $1.key }) {
            stand.note("\(count) answers with status \(status)")
        }
        let latencies = all.latenciesMs.sorted()
        guard !latencies.isEmpty, !all.cancelMs.isEmpty else { throw BenchFailure("no request was answered") }
        func figure(_ name: String, _ value: Double, _ unit: String = "ms") -> Figure {
            Figure(name: name, value: value, unit: unit, baseline: nil)
        }
        let cancels = all.cancelMs.sorted()
        return [
            figure("campus_answers", Double(latencies.count), "answers"),
            figure("campus_failures", Double(all.failures.values.reduce(0, +)), "answers"),
            figure("campus_answer_p50", latencies[latencies.count / 2]),
            figure("campus_answer_p99", latencies[latencies.count * 99 / 100]),
            figure("campus_answer_max", latencies.last!),
            figure("campus_cancel_p50", cancels[cancels.count / 2]),
            figure("campus_cancel_p99", cancels[cancels.count * 99 / 100]),
        ]
    }

    /// Each request when it is due, and its time from then on: a client that is late makes it longer.
    private func ride(
        _ rider: BenchRider, _ client: Int, _ startMs: Int64, _ tokens: [String], _ told: borrowing Mutex<Told>
    ) throws {
        var kept: [(request: String, token: String)] = []
        for number in stride(from: client, to: rate * seconds, by: CampusBench.clients) where !StopFlag.isSet {
            let dueMs = startMs + Int64(number * 1_000 / rate)
            let waitMs = dueMs - Clock.steadyMs()
            if waitMs > 0 { Thread.sleep(forTimeInterval: Double(waitMs) / 1_000) }
            let token = tokens[number % tokens.count]
            let begun = ContinuousClock.now
            let late = Double(max(0, Clock.steadyMs() - dueMs))
            let answer = try rider.pickup(
                number, from: CampusBench.spot(number), to: CampusBench.spot(number + 7), token)
            let ms = (ContinuousClock.now - begun) / .milliseconds(1) + late
            told.withLock { told in
                if answer.status != 200 {
                    told.failures[answer.status, default: 0] += 1
                } else if number >= warmUp {
                    told.latenciesMs.append(ms)
                }
            }
            if let request = answer.request { kept.append((request, token)) }
            guard kept.count > CampusBench.keptRides else { continue }
            let oldest = kept.removeFirst()
            let cancelling = ContinuousClock.now
            let status = try rider.cancel(oldest.request, oldest.token)
            let cancelMs = (ContinuousClock.now - cancelling) / .milliseconds(1)
            told.withLock { told in
                if status == 200 { told.cancelMs.append(cancelMs) } else { told.failures[status, default: 0] += 1 }
            }
        }
    }
}

/// One app that many riders share, as far as the connection goes.
private struct BenchRider {
    private let https: HTTPSClient
    private let base: String

    init(_ https: HTTPSClient, _ base: String) { (self.https, self.base) = (https, base) }

    func pickup(
        _ number: Int, from: Position, to: Position, _ token: String
    ) throws -> (status: Int, request: String?) {
        func ends(_ place: Position, _ prefix: String) -> [JSONValue.Field] {
            [
                (prefix + "latitude_deg", .number(Decimal.text(Int64(place.latitude), decimals: 7))),
                (prefix + "longitude_deg", .number(Decimal.text(Int64(place.longitude), decimals: 7))),
            ]
        }
        let body = JSONValue.object(
            [("passengers", .integer(1)), ("request", .text("bench-\(number)"))] + ends(from, "from_") + ends(to, "to_")
        )
        let reply = try ask("/pickups", body.rendered(), token)
        return (reply.status, reply.status == 200 ? try JSONValue(reply.body)["request"]?.text : nil)
    }

    func cancel(_ request: String, _ token: String) throws -> Int {
        try ask("/rides/\(request)/cancel", "{}", token).status
    }

    private func ask(_ path: String, _ body: String, _ token: String) throws -> Reply {
        try https.ask(
            base + path, headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
            body: Array(body.utf8))
    }
}
