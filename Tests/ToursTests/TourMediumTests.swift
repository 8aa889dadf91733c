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
        for (bytes, type) in [(Self.mp4(), "video/mp4"), (Self.webm(), "video/webm")] {
            let medium = try TourMedium(bytes)
            #expect(medium.mediaType == type && medium.content == bytes && medium.isVideo)
        }
    }

    @Test func whereItWasTakenIsBlankedAndNothingMoves() throws {
        let cases = [
            Self.mp4(Self.box("udta", Self.box("loci", Self.place))), Self.mp4(Self.box("meta", Self.place)),
            Self.mp4(Self.box("uuid", Self.place)), Self.mp4(tail: Self.box("free", Self.place)),
            Self.mp4(
                Self.box("trak", Self.handler("soun"), Self.box("udta", Self.place)), tail: Self.box("uuid", Self.place)
            ),
            Self.webm(Self.element(0x1254_C367, Self.place)), Self.webm(Self.element(0xEC, Self.place)),
        ]
        for bytes in cases {
            #expect(holds(bytes, Self.place))
            let medium = try TourMedium(bytes)
            #expect(!holds(medium.content, Self.place) && medium.content.count == bytes.count)
            #expect(try TourMedium(medium.content) == medium, "what is kept is taken again")
            // The film itself is where it was.
            let part: [UInt8] = medium.mediaType == "video/mp4" ? Self.film : Self.cluster
            #expect(medium.content.firstRange(of: part) == bytes.firstRange(of: part))
        }
    }

    @Test func recordingsThatDoNotSayTheirLength() throws {
        let unknown: [UInt8] = [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
        let cluster =
            Self.big(0x1F43_B675, 4) + unknown + Self.element(0xE7, [0]) + Self.element(0xA3, [0x81, 0, 0, 0, 9, 9])
        let live = Self.head + Self.big(0x1853_8067, 4) + unknown + Self.tracks(1) + cluster + cluster
        #expect(try TourMedium(live).content == live)
        #expect(throws: TourMedium.Fault.self) { try TourMedium(live + Array("PK\u{3}\u{4}".utf8)) }
        #expect(throws: TourMedium.Fault.self) { try TourMedium(Array(live.dropLast())) }
    }

    // MARK: What is refused

    private static let zip = Array("PK\u{3}\u{4} and what else an archive has".utf8)

    @Test(
        arguments: [
            ("nothing", []), ("text", Array("<script>alert(1)</script>".utf8)),
            ("a drawing with a script", Array(#"<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>"#.utf8)),
            ("an archive", zip), ("a GIF", Array("GIF89a".utf8) + [UInt8](repeating: 0, count: 20)),
            ("MP4 with an archive behind", mp4(tail: zip)), ("WebM with an archive behind", webm(tail: zip)),
            ("MP4 with a page behind", mp4(tail: Array("<html><script>1</script></html>".utf8))),
            ("MP4 with a box of its own", mp4(tail: box("evil", [1, 2, 3]))),
            (
                "QuickTime",
                box("ftyp", Array("qt  ".utf8), big(0, 4)) + box("moov", box("trak", handler("vide"))) + film
            ),
            ("MP4 without a film", ftyp + box("moov", box("trak", handler("soun"))) + film),
            ("MP4 without data", ftyp + box("moov", box("trak", handler("vide")))),
            ("MP4 with a track of positions", mp4(box("trak", handler("meta")))),
            ("MP4 with two heads", mp4(tail: box("moov", box("trak", handler("vide"))))),
            ("MP4 whose film lies elsewhere", mp4(box("trak", handler("vide"), dataReference(0)))),
            ("MP4 whose box is longer than the file", Array(mp4().dropLast())),
            ("MP4 whose box is shorter than its head", ftyp + big(4, 4) + Array("moov".utf8)),
            (
                "Matroska",
                element(0x1A45_DFA3, element(0x4282, Array("matroska".utf8))) + element(0x1853_8067, tracks(1), cluster)
            ),
            ("WebM with files", webm(element(0x1941_A469, element(0x61A7, zip)))),
            ("WebM with an unknown part", webm(element(0x1941_A400, zip))),
            ("WebM without a film", head + element(0x1853_8067, tracks(2), cluster)),
            ("WebM with buttons", head + element(0x1853_8067, tracks(1), tracks(18), cluster)),
            ("WebM without a cluster", head + element(0x1853_8067, tracks(1))),
            ("WebM cut off", Array(webm().dropLast())),
        ] as [(String, [UInt8])])
    func whatIsNoMediumIsRefused(_ name: String, _ bytes: [UInt8]) {
        #expect(throws: TourMedium.Fault.self, "\(name)") { try TourMedium(bytes) }
    }

    @Test func everyPrefixIsRefusedAndNoneIsReadPastItsEnd() {
        for bytes in [Self.mp4(), Self.webm()] {
            for count in 0..<bytes.count {
                #expect(throws: TourMedium.Fault.self) { try TourMedium(Array(bytes.prefix(count))) }
            }
        }
    }

    @Test func lengthsThatNoNumberHolds() {
        let huge = Self.ftyp + Self.big(1, 4) + Array("mdat".utf8) + [UInt8](repeating: 0xFF, count: 8)
        #expect(throws: TourMedium.Fault.self) { try TourMedium(huge) }
        #expect(throws: TourMedium.Fault.self) {
            try TourMedium(Self.head + Self.big(0x1853_8067, 4) + [0x01] + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE])
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
        let png = Self.png
        #expect(try TourMedium(png).mediaType == "image/png")
        #expect(throws: TourMedium.Fault.trailing(kind: "image/png", bytes: Self.zip.count)) {
            try TourMedium(png + Self.zip)
        }
        // Padding is left out.
        #expect(try TourMedium(png + [0, 0, 0]).content == png)
        #expect(throws: TourMedium.Fault.tooLarge(bytes: 6 << 20, most: 5 << 20)) {
            try TourMedium(png + [UInt8](repeating: 0, count: (6 << 20) - png.count))
        }
    }
}

extension TourMedium { fileprivate var isVideo: Bool { mediaType.hasPrefix("video/") } }
