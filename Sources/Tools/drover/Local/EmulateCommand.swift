import App
import Basics
import Codecs
import Emulators
import Fleet
import Formats
import Foundation
import Reports
import Sockets
import Telemetry

extension Command {
    static let emulateMTG = Command(
        name: "emulate mtg", operands: "--scenario FILE [options]",
        summary: "Serves boxes (MTG) without machines, for trying and for tests. Stops on SIGTERM.",
        options: [
            .init("--scenario", "FILE", "what happens to the boxes (Deploy/scenarios/*.yaml)"),
            .init("--boxes", "N", "how many (default 10)"),
            .init("--seed", "S", "another seed, other boxes (default 1)"),
            .init("--port", "P", "port of the first box on the loopback, the others follow (default: any free ones)"),
            .init("--certificate", "FILE", "serve TLS with this certificate (PEM)"),
            .init("--key", "FILE", "the certificate's key (PEM)"),
            .init("--format", "F", "text (default) or json: one object a box, with host, port and debug log key"),
        ],
        example: "drover emulate mtg --scenario Deploy/scenarios/overheating.yaml --boxes 3 --format json",
        run: { arguments in
            guard let path = arguments.text("--scenario") else { throw UsageError("--scenario is missing") }
            let asJSON = try arguments.one("--format", of: ["text": false, "json": true], standard: "text")
            let count = try arguments.integer("--boxes", in: 1...50_000) ?? 10
            let port = try arguments.integer("--port", in: 0...65_535) ?? 0
            guard port == 0 || port + count <= 65_536 else {
                throw UsageError("--port \(port): \(count) boxes do not fit before port 65536")
            }
            let seed = UInt64(try arguments.integer("--seed", in: 0...Int64.max) ?? 1)
            Signals.install()
            let scenario = try Scenario(yaml: Files.read(Home.path(path)), name: path)
            let server = try DeviceServer(
                (0..<Int(count)).map { EmulatedBox(scenario, seed: seed, index: $0) }, port: UInt16(port),
                tls: tls(arguments))
            Out.result(try list(server, certificate: tls(arguments)?.certificateSHA256, asJSON))
            try server.run { StopFlag.isSet }
            return .done
        })

    static let emulateOBD = Command(
        name: "emulate obd", operands: "--scenario FILE [options]",
        summary: "Serves cars' adapters (ELM327) without cars, for trying and for tests. Stops on SIGTERM.",
        options: [
            .init("--scenario", "FILE", "what happens to the cars (Deploy/scenarios/cars/*.yaml)"),
            .init("--adapters", "N", "how many (default 10)"),
            .init("--seed", "S", "another seed, other cars (default 1)"),
            .init("--port", "P", "port of the first one on the loopback, the others follow (default: any free ones)"),
            .init("--journal", "FILE", "write down each answer: epoch milliseconds, adapter, request, answer's bytes"),
            .init("--format", "F", "text (default) or json: one object an adapter, with host, port and VIN"),
        ],
        example: "drover emulate obd --scenario Deploy/scenarios/cars/town.yaml --adapters 3 --format json",
        run: { arguments in
            guard let path = arguments.text("--scenario") else { throw UsageError("--scenario is missing") }
            let asJSON = try arguments.one("--format", of: ["text": false, "json": true], standard: "text")
            let count = try arguments.integer("--adapters", in: 1...20_000) ?? 10
            let port = try arguments.integer("--port", in: 0...65_535) ?? 0
            guard port == 0 || port + count <= 65_536 else {
                throw UsageError("--port \(port): \(count) adapters do not fit before port 65536")
            }
            let seed = UInt64(try arguments.integer("--seed", in: 0...Int64.max) ?? 1)
            Signals.install()
            let scenario = try AdapterScenario(yaml: Files.read(Home.path(path)), name: path)
            let server = try DeviceServer(
                (0..<Int(count)).map { EmulatedAdapter(scenario, seed: seed, index: $0) }, port: UInt16(port), tls: nil)
            let journal = try arguments.text("--journal").map { try Journal(path: $0) }
            server.journal = journal.map { journal in { journal.add("\($1) \($0) \($2)") } }
            Out.result(list(server, asJSON))
            try server.run { StopFlag.isSet }
            journal?.close()
            return .done
        })

    private static func list(_ server: DeviceServer<EmulatedAdapter>, _ asJSON: Bool) -> String {
        var table = Table(["adapter", "host", "port", "vin", "what"])
        var lines: [String] = []
        for (index, adapter) in server.devices.enumerated() {
            let (port, what) = (server.port(of: index), adapter.group.name)
            table.rows.append(["\(index)", "127.0.0.1", "\(port)", adapter.vin, what])
            let fields: [JSONValue.Field] = [
                ("adapter", .integer(Int64(index))), ("host", .text("127.0.0.1")), ("port", .integer(Int64(port))),
                ("vin", .text(adapter.vin)), ("what", .text(what)), ("peer", .text(adapter.group.peer.rawValue)),
            ]
            lines.append(JSONValue.object(fields).rendered())
        }
        return asJSON ? lines.joined(separator: "\n") : table.text()
    }

    private static func tls(_ arguments: Arguments) throws -> TLSContext? {
        switch (arguments.text("--certificate"), arguments.text("--key")) {
        case (nil, nil): return nil
        case (let certificate?, let key?): return try TLSContext(certificate: certificate, key: key)
        default: throw UsageError("--certificate and --key belong together")
        }
    }

    private static func list(_ server: DeviceServer<EmulatedBox>, certificate: String?, _ asJSON: Bool) -> String {
        var table = Table(["box", "host", "port", "serial", "what"])
        var lines: [String] = []
        for (index, box) in server.devices.enumerated() {
            let (port, what) = (server.port(of: index), box.group.name)
            table.rows.append(["\(index)", "127.0.0.1", "\(port)", box.serial, what])
            let fields: [JSONValue.Field] = [
                ("box", .integer(Int64(index))), ("host", .text("127.0.0.1")), ("port", .integer(Int64(port))),
                ("serial", .text(box.serial)), ("what", .text(what)), ("peer", .text(box.group.peer.rawValue)),
                ("certificate_sha256", .optional(certificate)), ("debug_log_key", .text(Hex.text(box.debugLogKey))),
            ]
            lines.append(JSONValue.object(fields).rendered())
        }
        return asJSON ? lines.joined(separator: "\n") : table.text()
    }
}

/// Lines of a file, written a block at a time: thousands a second may come.
private final class Journal {
    private let file: FileHandle
    private var waiting: [UInt8] = []
    private static let blockBytes = 65_536

    init(path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
        else { throw Failure("\(path): cannot be written. Check the folder and its rights") }
        self.file = file
    }

    func add(_ line: String) {
        waiting += Array(line.utf8) + [0x0A]
        if waiting.count >= Journal.blockBytes { write() }
    }

    func close() { write() }

    private func write() {
        do { try file.write(contentsOf: Data(waiting)) } catch { Out.note("the journal cannot be written: \(error)") }
        waiting.removeAll(keepingCapacity: true)
    }
}
