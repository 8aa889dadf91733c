import Codecs
import Formats
import Testing
import Tours

/// Films as small as they can be, box by box and element by element. Real ones come from a browser in Tests/System/surveys/test_tours.py.
@Suite struct TourMediumTests {
    // MARK: MP4

    private static func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
        let all = Array(content.joined())
        return big(all.count + 8, 4) + Array(type.utf8) + all
    }

    private static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func handler(_ kind: String) -> [UInt8] {
        box("mdia", box("hdlr", big(0, 8), Array(kind.utf8), big(0, 12)))
    }

    private static func dataReference(_ flags: Int) -> [UInt8] {
        box("mdia", box("minf", box("dinf", box("dref", big(0, 4), big(1, 4), box("url ", big(flags, 4))))))
    }

    private static let ftyp = box("ftyp", Array("isom".utf8), big(0, 4), Array("mp42".utf8))
    private static let place = Array("+47.9+8.0/ in the clear".utf8)
    private static let film = box("mdat", [1, 2, 3, 4])
    private static func mp4(_ inMovie: [UInt8]..., tail: [UInt8] = []) -> [UInt8] {
        ftyp + box("moov", box("mvhd", big(0, 100)), box("trak", handler("vide")), Array(inMovie.joined())) + film
            + tail
    }

    // MARK: WebM

    private static func element(_ id: Int, _ content: [UInt8]...) -> [UInt8] {
        let all = Array(content.joined())
        let bytes = id > 0xFF_FFFF ? 4 : id > 0xFFFF ? 3 : id > 0xFF ? 2 : 1
        return big(id, bytes) + [0x08] + big(all.count, 4) + all
    }

    private static let head = element(0x1A45_DFA3, element(0x4282, Array("webm".utf8)))
    private static func tracks(_ kind: UInt8) -> [UInt8] { element(0x1654_AE6B, element(0xAE, element(0x83, [kind]))) }
    private static let cluster = element(0x1F43_B675, element(0xE7, [0]), element(0xA3, [0x81, 0, 0, 0, 9, 9]))
    private static func webm(_ more: [UInt8]..., tail: [UInt8] = []) -> [UInt8] {
        head + element(0x1853_8067, tracks(1), cluster, Array(more.joined())) + tail
    }

    private func holds(_ bytes: [UInt8], _ part: [UInt8]) -> Bool { bytes.firstRange(of: part) != nil }

    // MARK: What is taken

    @Test func filmsAreTakenAsTheyAre() throws {
        for (bytes, type) in [(TourMediumTests.mp4(), "video/mp4"), (TourMediumTests.webm(), "video/webm")] {
            let medium = try TourMedium(bytes)
            #expect(medium.mediaType == type && medium.content == bytes && medium.isVideo)
        }
    }

    @Test func whereItWasTakenIsBlankedAndNothingMoves() throws {
        typealias T = TourMediumTests
        let cases = [
            T.mp4(T.box("udta", T.box("loci", T.place))),
            T.mp4(T.box("meta", T.place)), T.mp4(T.box("uuid", T.place)), T.mp4(tail: T.box("free", T.place)),
            T.mp4(T.box("trak", T.handler("soun"), T.box("udta", T.place)), tail: T.box("uuid", T.place)),
            T.webm(T.element(0x1254_C367, T.place)), T.webm(T.element(0xEC, T.place)),
        ]
        for bytes in cases {
            #expect(holds(bytes, T.place))
            let medium = try TourMedium(bytes)
            #expect(!holds(medium.content, T.place) && medium.content.count == bytes.count)
            #expect(try TourMedium(medium.content) == medium, "what is kept is taken again")
            // The film itself is where it was.
            let part: [UInt8] = medium.mediaType == "video/mp4" ? T.film : T.cluster
            #expect(medium.content.firstRange(of: part) == bytes.firstRange(of: part))
        }
    }

    @Test func recordingsThatDoNotSayTheirLength() throws {
        typealias T = TourMediumTests
        let unknown: [UInt8] = [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
        let cluster = T.big(0x1F43_B675, 4) + unknown + T.element(0xE7, [0]) + T.element(0xA3, [0x81, 0, 0, 0, 9, 9])
        let live = T.head + T.big(0x1853_8067, 4) + unknown + T.tracks(1) + cluster + cluster
        #expect(try TourMedium(live).content == live)
        #expect(throws: TourMedium.Fault.self) { try TourMedium(live + Array("PK\u{3}\u{4}".utf8)) }
        #expect(throws: TourMedium.Fault.self) { try TourMedium(Array(live.dropLast())) }
    }

    // MARK: What is refused

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        init(_ name: String, _ bytes: [UInt8]) { (testDescription, self.bytes) = (name, bytes) }
    }

    private static let zip = Array("PK\u{3}\u{4} and what else an archive has".utf8)

    @Test(arguments: [
        Case("nothing", []), Case("text", Array("<script>alert(1)</script>".utf8)),
        Case("a drawing with a script", Array("<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>".utf8)),
        Case("an archive", zip), Case("a GIF", Array("GIF89a".utf8) + [UInt8](repeating: 0, count: 20)),
        Case("MP4 with an archive behind", mp4(tail: zip)), Case("WebM with an archive behind", webm(tail: zip)),
        Case("MP4 with a page behind", mp4(tail: Array("<html><script>1</script></html>".utf8))),
        Case("MP4 with a box of its own", mp4(tail: box("evil", [1, 2, 3]))),
        Case(
            "QuickTime", box("ftyp", Array("qt  ".utf8), big(0, 4)) + box("moov", box("trak", handler("vide"))) + film),
        Case("MP4 without a film", ftyp + box("moov", box("trak", handler("soun"))) + film),
        Case("MP4 without data", ftyp + box("moov", box("trak", handler("vide")))),
        Case("MP4 with a track of positions", mp4(box("trak", handler("meta")))),
        Case("MP4 with two heads", mp4(tail: box("moov", box("trak", handler("vide"))))),
        Case("MP4 whose film lies elsewhere", mp4(box("trak", handler("vide"), dataReference(0)))),
        Case("MP4 whose box is longer than the file", Array(mp4().dropLast())),
        Case("MP4 whose box is shorter than its head", ftyp + big(4, 4) + Array("moov".utf8)),
        Case(
            "Matroska",
            element(0x1A45_DFA3, element(0x4282, Array("matroska".utf8))) + element(0x1853_8067, tracks(1), cluster)),
        Case("WebM with files", webm(element(0x1941_A469, element(0x61A7, zip)))),
        Case("WebM with an unknown part", webm(element(0x1941_A400, zip))),
        Case("WebM without a film", head + element(0x1853_8067, tracks(2), cluster)),
        Case("WebM with buttons", head + element(0x1853_8067, tracks(1), tracks(18), cluster)),
        Case("WebM without a cluster", head + element(0x1853_8067, tracks(1))),
        Case("WebM cut off", Array(webm().dropLast())),
    ])
    func whatIsNoMediumIsRefused(_ c: Case) {
        #expect(throws: TourMedium.Fault.self) { try TourMedium(c.bytes) }
    }

    @Test func everyPrefixIsRefusedAndNoneIsReadPastItsEnd() {
        for bytes in [TourMediumTests.mp4(), TourMediumTests.webm()] {
            for count in 0..<bytes.count {
                #expect(throws: TourMedium.Fault.self) { try TourMedium(Array(bytes.prefix(count))) }
            }
        }
    }

    @Test func lengthsThatNoNumberHolds() {
        typealias T = TourMediumTests
        let huge = T.ftyp + T.big(1, 4) + Array("mdat".utf8) + [UInt8](repeating: 0xFF, count: 8)
        #expect(throws: TourMedium.Fault.self) { try TourMedium(huge) }
        #expect(throws: TourMedium.Fault.self) {
            try TourMedium(T.head + T.big(0x1853_8067, 4) + [0x01] + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE])
        }
    }

    // MARK: Pictures

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + content
        return big(content.count, 4) + body + big(Int(CRC32.of(body)), 4)
    }

    private static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", big(1, 4) + big(1, 4) + [8, 0, 0, 0, 0])
        + chunk("IDAT", [1]) + chunk("IEND", [])

    @Test func picturesWithSomethingBehindAreRefused() throws {
        let png = TourMediumTests.png
        #expect(try TourMedium(png).mediaType == "image/png")
        #expect(throws: TourMedium.Fault.trailing(kind: "image/png", bytes: TourMediumTests.zip.count)) {
            try TourMedium(png + TourMediumTests.zip)
        }
        // Padding is left out.
        #expect(try TourMedium(png + [0, 0, 0]).content == png)
        #expect(throws: TourMedium.Fault.tooLarge(bytes: 6 << 20, most: 5 << 20)) {
            try TourMedium(png + [UInt8](repeating: 0, count: (6 << 20) - png.count))
        }
    }
}

extension TourMedium {
    fileprivate var isVideo: Bool { mediaType.hasPrefix("video/") }
}
