import App
import Codecs
import Foundation
import Reports

/// `drover obd …`: what cars' adapters say, without a server.
extension Command {
    static let obdDecode = Command(
        name: "obd decode", operands: "FILE… [options]",
        summary:
            "Readings and trouble codes of transcripts of ELM327 adapters; `-` is standard input. Needs no server.",
        options: [
            .init("--make", "MAKE", "the car's make, for codes that only it has"),
            .init("--bus", "BUS", "the car's bus, where the replies do not tell: can or older"),
            .init("--codes", "DIR", "folder with the meanings of codes (default Deploy/trouble-codes)"),
            .init("--format", "F", "table, csv or json (default table)"),
        ],
        example: "drover obd decode Tests/Fixtures/obd/session.txt",
        run: decode)

    static let obdPIDs = Command(
        name: "obd pids", operands: "[options]",
        summary: "The parameters that can be read: bytes, formula, unit, range, source.",
        options: [.init("--format", "F", "table, csv or json (default table)")],
        example: "drover obd pids --format csv",
        run: { arguments in
            let format = try arguments.one("--format", of: OBDTables.formats, standard: "table")
            guard arguments.operands.isEmpty else { throw UsageError("takes no operands") }
            Out.result(format(OBDTables.pids()))
            return .done
        })

    static let obdCode = Command(
        name: "obd code", operands: "CODE… [options]",
        summary: "What trouble codes mean.",
        options: [
            .init("--make", "MAKE", "the car's make, for codes that only it has"),
            .init("--codes", "DIR", "folder with the meanings of codes (default Deploy/trouble-codes)"),
            .init("--format", "F", "table, csv or json (default table)"),
        ],
        example: "drover obd code P0133 U0100",
        run: code)

    private static func decode(_ arguments: Arguments) throws -> ExitCode {
        let format = try arguments.one("--format", of: OBDRows.formats, standard: "table")
        let buses: [String: OBDBus] = ["can": .can, "older": .older]
        let bus = arguments.has("--bus") ? try arguments.one("--bus", of: buses, standard: "can") : nil
        var rows = OBDRows(meanings: try meanings(arguments))
        var failed = false
        for path in try arguments.files() {
            do {
                let exchanges = OBDTranscript.exchanges(try transcript(path))
                guard !exchanges.isEmpty else {
                    throw Failure("holds no request. Write `>010C` in front of each reply, or request, tab, reply")
                }
                rows.add(file: path, exchanges, bus: bus)
            } catch {
                // One bad file does not keep the others from being read; the exit code tells.
                Out.note("\(path): \(error)")
                failed = true
            }
        }
        Out.result(format(rows))
        if rows.faults > 0 { Out.note("\(rows.faults) of \(rows.count) rows are faults: see `fault`") }
        return failed ? .failed : .done
    }

    private static func transcript(_ path: String) throws -> [UInt8] {
        guard path == "-" else { return try Files.read(path) }
        let data = try FileHandle.standardInput.read(upToCount: Files.bytesMax + 1) ?? Data()
        guard data.count <= Files.bytesMax else { throw Failure("is larger than \(Files.bytesMax) bytes. Split it") }
        return [UInt8](data)
    }

    private static func code(_ arguments: Arguments) throws -> ExitCode {
        let format = try arguments.one("--format", of: OBDTables.formats, standard: "table")
        guard !arguments.operands.isEmpty else { throw UsageError("no CODE was named, such as P0133") }
        let meanings = try meanings(arguments)
        let codes = try arguments.operands.map { word in
            guard let code = TroubleCode(text: word.utf8) else {
                throw UsageError("\(word): a code is P, C, B or U, a digit 0 to 3 and three hexadecimal digits")
            }
            return code
        }
        Out.result(format(OBDTables.codes(codes, meanings)))
        return .done
    }

    private static func meanings(_ arguments: Arguments) throws -> TroubleCodeMeanings {
        let folder = try arguments.text("--codes") ?? Home.path("Deploy/trouble-codes")
        return try TroubleCodeFolder(folder).meanings(make: arguments.text("--make"))
    }
}
