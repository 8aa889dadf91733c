/// RFC 8794 (EBML) and RFC 9559 (Matroska), as WebM limits them: elements within elements.
///
/// Removed elements become Void elements of the same length: cues point to offsets in the file.
enum WebMFile {
    static let signature: [UInt8] = [0x1A, 0x45, 0xDF, 0xA3]
    private static let segment = 0x1853_8067
    private static let cluster = 0x1F43_B675
    private static let void = 0xEC
    /// The elements of a segment (RFC 9559, 5.1).
    private static let tags = 0x1254_C367
    private static let checkSum = 0xBF
    private static let attachments = 0x1941_A469
    private static let tracks = 0x1654_AE6B
    private static let level1: Set<Int> = [
        0x114D_9B74, 0x1549_A966, tracks, cluster, 0x1C53_BB6B, tags, 0x1043_A770, void, checkSum,
    ]
    private static let elementsMax = 200_000

    private struct Element {
        let id: Int
        let start: Int
        /// The offset of its content.
        let content: Int
        /// Nil: its end is not said.
        let end: Int?
    }

    static func cleaned(_ bytes: [UInt8]) throws(TourMedium.Fault) -> [UInt8] {
        let head = try element(bytes, 0, within: bytes.count)
        guard let headEnd = head.end else { throw broken("a head without an end") }
        let docType = try children(bytes, head.content..<headEnd).first { $0.id == 0x4282 }
        guard let docType, let end = docType.end,
            String(decoding: bytes[docType.content..<end].prefix { $0 != 0 }, as: UTF8.self) == "webm"
        else { throw .refused("it is a Matroska file, which browsers do not play: export it as WebM") }
        let whole = try element(bytes, headEnd, within: bytes.count)
        guard whole.id == segment else { throw broken("no segment") }
        if let end = whole.end, end < bytes.count { throw .trailing(kind: "WebM", bytes: bytes.count - end) }
        return try cleanedSegment(bytes, from: whole.content)
    }

    private static func cleanedSegment(_ bytes: [UInt8], from start: Int) throws(TourMedium.Fault) -> [UInt8] {
        var (out, at, hasFilm, hasCluster, count) = (bytes, start, false, false, 0)
        while at < bytes.count {
            count += 1
            guard count <= elementsMax else { throw broken("more parts than any film has") }
            let part = try element(bytes, at, within: bytes.count)
            if part.id == attachments { throw .refused("it carries other files: export it without attachments") }
            guard level1.contains(part.id) else { throw broken("a part that does not belong there") }
            let end: Int
            if let known = part.end { end = known } else { end = try endOfCluster(bytes, part) }
            switch part.id {
            case tracks: hasFilm = try checkTracks(bytes, part.content..<end)
            case cluster: hasCluster = true
            // A changed file no longer matches its checksum; files without one play alike.
            case tags, void, checkSum: try blank(&out, part.start..<end)
            default: break
            }
            at = end
        }
        guard hasFilm else { throw .refused("it holds no film") }
        guard hasCluster else { throw broken("no cluster") }
        return out
    }

    /// Whether one of them is a film.
    private static func checkTracks(_ bytes: [UInt8], _ range: Range<Int>) throws(TourMedium.Fault) -> Bool {
        var hasFilm = false
        for track in try children(bytes, range) where track.id == 0xAE {
            guard let end = track.end else { throw broken("a track without an end") }
            for field in try children(bytes, track.content..<end) where field.id == 0x83 {
                guard let end = field.end, end - field.content == 1 else { throw broken("a track without a kind") }
                switch bytes[field.content] {
                case 1: hasFilm = true
                case 2, 17: break
                default: throw .refused("it holds a track that is neither film, sound nor subtitles: export it without")
                }
            }
        }
        return hasFilm
    }

    /// Live recordings do not say how long a cluster is: it ends where the next part begins (RFC 8794, 6.2).
    private static func endOfCluster(_ bytes: [UInt8], _ part: Element) throws(TourMedium.Fault) -> Int {
        guard part.id == cluster else { throw broken("a part without an end") }
        var (at, count) = (part.content, 0)
        while at < bytes.count {
            let inner = try element(bytes, at, within: bytes.count)
            if inner.id == cluster || inner.id > 0xFF_FFFF && level1.contains(inner.id) || inner.id == attachments {
                return at
            }
            count += 1
            guard let end = inner.end, count <= elementsMax else { throw broken("a block without an end") }
            at = end
        }
        return at
    }

    private static func children(_ bytes: [UInt8], _ range: Range<Int>) throws(TourMedium.Fault) -> [Element] {
        var (found, at) = ([Element](), range.lowerBound)
        while at < range.upperBound {
            let inner = try element(bytes, at, within: range.upperBound)
            guard let end = inner.end, found.count < elementsMax else { throw broken("a field without an end") }
            found.append(inner)
            at = end
        }
        return found
    }

    private static func element(_ bytes: [UInt8], _ at: Int, within end: Int) throws(TourMedium.Fault) -> Element {
        let (id, idBytes) = try number(bytes, at, within: end, most: 4, keepsMark: true)
        let (size, sizeBytes) = try number(bytes, at + idBytes, within: end, most: 8, keepsMark: false)
        let content = at + idBytes + sizeBytes
        // All ones: not known.
        let isUnknown = size == (1 << (7 * sizeBytes)) - 1
        guard isUnknown || size <= end - content else { throw broken("a part that is cut off") }
        return Element(id: id, start: at, content: content, end: isUnknown ? nil : content + size)
    }

    /// A number whose first byte says by its leading zeros how many bytes it has (RFC 8794, 4).
    private static func number(
        _ bytes: [UInt8], _ at: Int, within end: Int, most: Int, keepsMark: Bool
    ) throws(TourMedium.Fault) -> (Int, bytes: Int) {
        guard at < end, bytes[at] != 0 else { throw broken("a part that is cut off") }
        let count = bytes[at].leadingZeroBitCount + 1
        guard count <= most, at + count <= end else { throw broken("a part that is cut off") }
        let first = keepsMark ? Int(bytes[at]) : Int(bytes[at]) & ((1 << (8 - count)) - 1)
        return (bytes[(at + 1)..<(at + count)].reduce(first) { $0 << 8 | Int($1) }, count)
    }

    /// Makes a Void element of it.
    private static func blank(_ out: inout [UInt8], _ range: Range<Int>) throws(TourMedium.Fault) {
        guard range.count >= 2 else { throw broken("an empty part") }
        let sizeBytes = range.count >= 9 ? 8 : 1
        let size = range.count - 1 - sizeBytes
        var head: [UInt8] = [UInt8(void)]
        if sizeBytes == 8 {
            head.append(1)
            for shift in stride(from: 48, through: 0, by: -8) { head.append(UInt8(truncatingIfNeeded: size >> shift)) }
        } else {
            head.append(0x80 | UInt8(size))
        }
        out.replaceSubrange(range, with: head + [UInt8](repeating: 0, count: size))
    }

    private static func broken(_ why: String) -> TourMedium.Fault { .broken(kind: "WebM", why) }
}
