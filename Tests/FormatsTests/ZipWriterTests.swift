import Formats
import SimKit
import Testing

struct ZipWriterTests {
    /// What python3's `zipfile`, which is not ours, reads of it: names, sizes and contents, after it has tested all sums.
    private static func read(_ archive: [UInt8]) throws -> String {
        let script = """
            import sys, zipfile, hashlib
            archive = zipfile.ZipFile(sys.argv[1])
            assert archive.testzip() is None
            for info in archive.infolist():
                data = archive.read(info)
                print(info.filename, len(data), hashlib.md5(data).hexdigest(), info.compress_size < len(data) or len(data) < 50)
            """
        return String(decoding: try output(of: "python3", ["-c", script], [archive]), as: UTF8.self)
    }

    @Test("An independent reader finds what was written, in parts of any size") func readBack() throws {
        let sink = Sink()
        var zip = ZipWriter { sink.bytes += $0 }
        try zip.begin("empty.txt")
        try zip.end()
        try zip.begin("größe.txt")
        for part in 0..<300 { try zip.add(Array(String(repeating: "row \(part)\n", count: part).utf8)) }
        try zip.end()
        try zip.finish()
        // md5sum of nothing, and of the rows as Python makes them.
        let said = try Self.read(sink.bytes).split(separator: "\n")
        #expect(
            said == [
                "empty.txt 0 d41d8cd98f00b204e9800998ecf8427e True",
                "größe.txt 353805 bef0073a4261ca82a447dfc4616305c9 True",
            ])
    }

    private final class Sink { var bytes: [UInt8] = [] }
}
