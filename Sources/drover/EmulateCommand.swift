import Emulate
import Observe
import Reports
import Sockets
import Wire

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
            let server = try BoxServer(
                (0..<Int(count)).map { EmulatedBox(scenario, seed: seed, index: $0) }, port: UInt16(port),
                tls: tls(arguments))
            Out.result(try list(server, certificate: tls(arguments)?.certificateSHA256, asJSON))
            try server.run { StopFlag.isSet }
            return .done
        })

    private static func tls(_ arguments: Arguments) throws -> TLSContext? {
        switch (arguments.text("--certificate"), arguments.text("--key")) {
        case (nil, nil): return nil
        case (let certificate?, let key?): return try TLSContext(certificate: certificate, key: key)
        default: throw UsageError("--certificate and --key belong together")
        }
    }

    private static func list(_ server: BoxServer, certificate: String?, _ asJSON: Bool) -> String {
        var table = Table(["box", "host", "port", "serial", "what"])
        var lines: [String] = []
        for (index, box) in server.boxes.enumerated() {
            let (port, what) = (server.port(ofBox: index), box.group.name)
            table.rows.append(["\(index)", "127.0.0.1", "\(port)", box.serial, what])
            let fields: [(String, JSONValue)] = [
                ("box", .integer(Int64(index))), ("host", .text("127.0.0.1")), ("port", .integer(Int64(port))),
                ("serial", .text(box.serial)), ("what", .text(what)), ("peer", .text(box.group.peer.rawValue)),
                ("certificate_sha256", .optional(certificate)), ("debug_log_key", .text(Hex.text(box.debugLogKey))),
            ]
            lines.append(JSONValue.object(fields).rendered())
        }
        return asJSON ? lines.joined(separator: "\n") : table.text()
    }
}
