/// ISO/IEC 14496-12 (ISO base media file format): boxes within boxes, each with its length in front.
///
/// Removed boxes are blanked in place (`free`, zeros), because tables point to offsets in the file.
enum MP4File {
    /// Files for browsers and phones. QuickTime's own brand is none: few browsers play it.
    private static let brands: Set<String> = [
        "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "M4V ", "MSNV", "dash",
    ]
    private static let containers: Set<String> = [
        "moov", "trak", "mdia", "minf", "stbl", "dinf", "edts", "mvex", "moof", "traf",
    ]
    /// Top-level boxes; others are refused: no player needs them.
    private static let outer: Set<String> = [
        "ftyp", "moov", "mdat", "free", "skip", "wide", "moof", "sidx", "styp", "mfra", "uuid", "meta", "udta",
    ]
    /// Boxes with positions, names and notes, and boxes that no player needs.
    private static let blanked: Set<String> = ["udta", "meta", "uuid", "free", "skip", "wide"]
    /// Pictures, sound and subtitles. Others hold measurements: positions above all.
    private static let tracks: Set<String> = ["vide", "soun", "text", "sbtl", "subt"]
    private static let boxesMax = 100_000

    private struct Box {
        let type: String
        let content: Range<Int>
        /// The offset of the four letters of its type.
        let typeAt: Int
    }

    private struct Found {
        var boxes = 0
        var handlers: [String] = []
        var blanks: [Box] = []
    }

    static func cleaned(_ bytes: [UInt8]) throws(TourMedium.Fault) -> [UInt8] {
        let top = try boxes(bytes, 0..<bytes.count)
        guard let first = top.first, first.type == "ftyp", first.content.count >= 8 else { throw broken("no ftyp") }
        let brand = text(bytes, first.content.lowerBound)
        guard brands.contains(brand) else {
            throw .refused("its brand is `\(brand)`, which browsers do not play: export it as MP4 (H.264)")
        }
        guard let foreign = top.first(where: { !outer.contains($0.type) }) else {
            return try cleaned(bytes, top)
        }
        throw broken("a box `\(foreign.type)` does not belong there")
    }

    private static func cleaned(_ bytes: [UInt8], _ top: [Box]) throws(TourMedium.Fault) -> [UInt8] {
        guard top.count(where: { $0.type == "moov" }) == 1, top.contains(where: { $0.type == "mdat" }) else {
            throw broken("it needs one moov and an mdat")
        }
        var found = Found()
        for box in top { try look(bytes, box, &found, depth: 0) }
        guard found.handlers.contains("vide") else { throw .refused("it holds no film") }
        if let other = found.handlers.first(where: { !tracks.contains($0) }) {
            throw .refused(
                "it holds a track of the kind `\(other)`, which may say where it was taken: export it without")
        }
        var out = bytes
        for box in found.blanks {
            out.replaceSubrange(box.typeAt..<(box.typeAt + 4), with: "free".utf8)
            for at in box.content { out[at] = 0 }
        }
        return out
    }

    private static func look(
        _ bytes: [UInt8], _ box: Box, _ found: inout Found, depth: Int
    ) throws(TourMedium.Fault) {
        found.boxes += 1
        guard found.boxes <= boxesMax, depth <= 12 else { throw broken("more boxes than any film has") }
        if blanked.contains(box.type) { return found.blanks.append(box) }
        switch box.type {
        case "hdlr":
            // In `mdia`: the track's kind stands behind version, flags and a field that is not used.
            guard box.content.count >= 12 else { throw broken("a short hdlr") }
            found.handlers.append(text(bytes, box.content.lowerBound + 8))
        case "dref":
            guard box.content.count >= 8 else { throw broken("a short dref") }
            for entry in try boxes(bytes, (box.content.lowerBound + 8)..<box.content.upperBound) {
                guard entry.content.count >= 4, bytes[entry.content.lowerBound + 3] & 1 == 1 else {
                    throw .refused("its film lies in another file: export it whole")
                }
            }
        default:
            guard containers.contains(box.type) else { return }
            for inner in try boxes(bytes, box.content) { try look(bytes, inner, &found, depth: depth + 1) }
        }
    }

    /// The boxes that fill a range to its last byte.
    private static func boxes(_ bytes: [UInt8], _ range: Range<Int>) throws(TourMedium.Fault) -> [Box] {
        var (boxes, at) = ([Box](), range.lowerBound)
        while at < range.upperBound {
            guard range.upperBound - at >= 8, boxes.count < boxesMax else { throw broken("an incomplete box") }
            var (length, head) = (number(bytes, at, 4), 8)
            if length == 1 {
                guard range.upperBound - at >= 16 else { throw broken("an incomplete box") }
                length = number(bytes, at + 8, 8)
                head = 16
            } else if length == 0 {
                // To the end of the file; only the last one may.
                guard range.upperBound == bytes.count else { throw broken("a box without an end") }
                length = range.upperBound - at
            }
            guard length >= head, length <= range.upperBound - at else { throw broken("a box that is cut off") }
            boxes.append(Box(type: text(bytes, at + 4), content: (at + head)..<(at + length), typeAt: at + 4))
            at += length
        }
        return boxes
    }

    /// Precondition: so many bytes are there. A larger number exceeds any file.
    private static func number(_ bytes: [UInt8], _ at: Int, _ count: Int) -> Int {
        let value = bytes[at..<(at + count)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: value) ?? .max
    }

    private static func text(_ bytes: [UInt8], _ at: Int) -> String {
        String(decoding: bytes[at..<(at + 4)], as: UTF8.self)
    }

    private static func broken(_ why: String) -> TourMedium.Fault { .broken(kind: "MP4", why) }
}
