import Codecs
import Formats
import Testing

struct PhotoFileTests {
    /// Big-endian Exif with an orientation and a directory of positions.
    static let exif: [UInt8] =
        Array("Exif\0\0MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 2, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0]
        + [0x88, 0x25, 0, 4, 0, 0, 0, 1, 0, 0, 0, 38, 0, 0, 0, 0]

    static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)] + content
    }

    static let frame = segment(0xC0, [8, 0, 1, 0, 1, 1, 1, 0x11, 0])
    static let scan = segment(0xDA, [1, 1, 0, 0, 63, 0]) + [0x12, 0xFF, 0x00, 0x34, 0xFF, 0xD3, 0x56]

    @Test("A JPEG keeps its picture and how it is turned, and loses where it was taken") func jpeg() throws {
        let colours = Self.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1])
        let bytes =
            [0xFF, 0xD8] + Self.segment(0xE1, Self.exif) + colours + Self.segment(0xFE, Array("home".utf8)) + Self.frame
            + Self.scan + [0xFF, 0xD9] + Array("a preview with a place".utf8)
        let photo = try PhotoFile(bytes)
        let turned: [UInt8] =
            Array("Exif\0\0MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
        #expect(photo.mediaType == "image/jpeg")
        #expect(
            photo.content == [0xFF, 0xD8] + Self.segment(0xE1, turned) + colours + Self.frame
                + Self.scan + [0xFF, 0xD9])
        #expect(try PhotoFile(photo.content).content == photo.content)
    }

    static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        func four(_ value: UInt32) -> [UInt8] {
            (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let named = Array(name.utf8) + content
        return four(UInt32(content.count)) + named + four(CRC32.of(named))
    }

    static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    static let parts = (chunk("IHDR", Array(repeating: 0, count: 13)), chunk("IDAT", [1, 2]), chunk("IEND", []))

    @Test("A PNG loses its texts and Exif") func png() throws {
        // The check sum of an empty IEND is known: AE 42 60 82.
        #expect(Self.parts.2.suffix(4) == [0xAE, 0x42, 0x60, 0x82])
        let (head, data, end) = Self.parts
        let bytes = Self.png + head + Self.chunk("eXIf", [1]) + Self.chunk("tEXt", [2]) + data + end
        #expect(try PhotoFile(bytes + [7]).content == Self.png + head + data + end)
        var broken = bytes
        broken[20] ^= 1
        #expect(throws: PhotoFile.Fault.broken(kind: "PNG")) { try PhotoFile(broken) }
    }

    static func riff(_ chunks: [(String, [UInt8])]) -> [UInt8] {
        func four(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var inner: [UInt8] = []
        for (name, content) in chunks {
            inner += Array(name.utf8) + four(content.count) + content
            if content.count % 2 == 1 { inner.append(0) }
        }
        return Array("RIFF".utf8) + four(inner.count + 4) + Array("WEBP".utf8) + inner
    }

    @Test("A WebP loses Exif and XMP, and the flags that tell of them") func webp() throws {
        let head: [UInt8] = [0x1C, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let bytes = Self.riff([("VP8X", head), ("VP8 ", [1, 2, 3]), ("EXIF", [9]), ("XMP ", [8])])
        #expect(try PhotoFile(bytes).content == Self.riff([("VP8X", [0x10] + head.dropFirst()), ("VP8 ", [1, 2, 3])]))
    }

    /// A picture of each kind whose header says so many pixels a side.
    static func pictures(_ side: Int) -> [[UInt8]] {
        func big(_ count: Int) -> [UInt8] { (0..<count).reversed().map { UInt8(truncatingIfNeeded: side >> (8 * $0)) } }
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let frame = segment(0xC2, [8] + big(2) + big(2) + [1, 1, 0x11, 0])
        let (head, control) = (
            chunk("IHDR", big(4) + big(4) + [8, 0, 0, 0, 0]), chunk("fcTL", [0, 0, 0, 0] + big(4) + big(4))
        )
        let lossless: [UInt8] = [0x2F] + little((side - 1) | (side - 1) << 14, 4)
        let canvas = little(side - 1, 3) + little(side - 1, 3)
        return [
            [0xFF, 0xD8] + frame + scan + [0xFF, 0xD9], png + head + parts.1 + parts.2,
            png + parts.0 + control + parts.1 + parts.2,
            riff([("VP8 ", [0, 0, 0, 0x9D, 0x01, 0x2A] + little(side, 2) + little(side, 2))]),
            riff([("VP8L", lossless)]),
            riff([("VP8X", [0, 0, 0, 0] + canvas), ("VP8 ", [1])]), riff([("ANMF", [0, 0, 0, 0, 0, 0] + canvas)]),
        ]
    }

    @Test("A picture that unpacks to gigabytes is refused by its header, of every kind") func pixels() throws {
        for (small, large) in zip(Self.pictures(8_000), Self.pictures(8_001)) {
            #expect(throws: Never.self) { try PhotoFile(small) }
            #expect(throws: PhotoFile.Fault.tooManyPixels(width: 8_001, height: 8_001)) { try PhotoFile(large) }
        }
        // Its lines are counted behind the picture.
        let endless = Self.segment(0xC0, [8, 0, 0, 0x40, 0, 1, 1, 0x11, 0])
        #expect(throws: PhotoFile.Fault.tooManyPixels(width: 16_384, height: 65_535)) {
            try PhotoFile([0xFF, 0xD8] + endless + Self.scan + [0xFF, 0xD9])
        }
        let most = Self.png + Self.chunk("IHDR", [UInt8](repeating: 0xFF, count: 13))
        #expect(throws: PhotoFile.Fault.self) { try PhotoFile(most + Self.parts.1 + Self.parts.2) }
    }

    @Test("Cut off anywhere, a photo is refused") func cut() {
        let (head, data, end) = Self.parts
        let whole = [
            [0xFF, 0xD8] + Self.frame + Self.scan + [0xFF, 0xD9],
            Self.png + head + data + end, Self.riff([("VP8 ", [1, 2, 3])]),
        ]
        for bytes in whole {
            #expect(throws: Never.self) { try PhotoFile(bytes) }
            for count in 0..<bytes.count {
                #expect(throws: PhotoFile.Fault.self) { try PhotoFile(Array(bytes.prefix(count))) }
            }
        }
        #expect(throws: PhotoFile.Fault.unknown) { try PhotoFile(Array("<svg onload=alert(1)>".utf8)) }
        #expect(throws: PhotoFile.Fault.tooLarge(bytes: PhotoFile.bytesMax + 1)) {
            try PhotoFile([UInt8](repeating: 0xFF, count: PhotoFile.bytesMax + 1))
        }
    }
}
