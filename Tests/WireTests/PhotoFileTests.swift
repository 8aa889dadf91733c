import Testing
import Wire

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

    @Test("A JPEG keeps its picture and how it is turned, and loses where it was taken")
    func jpeg() throws {
        let colours = PhotoFileTests.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1])
        let bytes =
            [0xFF, 0xD8] + PhotoFileTests.segment(0xE1, PhotoFileTests.exif) + colours
            + PhotoFileTests.segment(0xFE, Array("home".utf8)) + PhotoFileTests.frame + PhotoFileTests.scan
            + [0xFF, 0xD9] + Array("a preview with a place".utf8)
        let photo = try PhotoFile(bytes)
        let turned: [UInt8] =
            Array("Exif\0\0MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
        #expect(photo.mediaType == "image/jpeg")
        #expect(
            photo.content == [0xFF, 0xD8] + PhotoFileTests.segment(0xE1, turned) + colours + PhotoFileTests.frame
                + PhotoFileTests.scan + [0xFF, 0xD9])
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

    @Test("A PNG loses its texts and Exif")
    func png() throws {
        // The check sum of an empty IEND is known: AE 42 60 82.
        #expect(PhotoFileTests.parts.2.suffix(4) == [0xAE, 0x42, 0x60, 0x82])
        let (head, data, end) = PhotoFileTests.parts
        let bytes =
            PhotoFileTests.png + head + PhotoFileTests.chunk("eXIf", [1]) + PhotoFileTests.chunk("tEXt", [2]) + data
            + end
        #expect(try PhotoFile(bytes + [7]).content == PhotoFileTests.png + head + data + end)
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

    @Test("A WebP loses Exif and XMP, and the flags that tell of them")
    func webp() throws {
        let head: [UInt8] = [0x1C, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let bytes = PhotoFileTests.riff([("VP8X", head), ("VP8 ", [1, 2, 3]), ("EXIF", [9]), ("XMP ", [8])])
        #expect(
            try PhotoFile(bytes).content
                == PhotoFileTests.riff([("VP8X", [0x10] + head.dropFirst()), ("VP8 ", [1, 2, 3])]))
    }

    @Test("Cut off anywhere, a photo is refused")
    func cut() {
        let (head, data, end) = PhotoFileTests.parts
        let whole = [
            [0xFF, 0xD8] + PhotoFileTests.frame + PhotoFileTests.scan + [0xFF, 0xD9],
            PhotoFileTests.png + head + data + end, PhotoFileTests.riff([("VP8 ", [1, 2, 3])]),
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
