/// A photo, verified by its content and stripped of metadata: above all of the place where it was taken.
public struct PhotoFile: Equatable, Sendable {
    public enum Fault: Error, Equatable, CustomStringConvertible {
        case unknown
        case tooLarge(bytes: Int)
        /// Cut off, or not built as its kind is.
        case broken(kind: String)
        /// By its headers; nothing was decoded.
        case tooManyPixels(width: Int, height: Int)

        public var description: String {
            switch self {
            case .unknown: "by its content it is no JPEG, PNG or WebP file"
            case .tooLarge(let bytes): "it has \(bytes) bytes, at most \(PhotoFile.bytesMax) are taken"
            case .broken(let kind): "it is cut off, or not built as a \(kind) file is"
            case .tooManyPixels(let width, let height):
                "it is \(width) by \(height) pixels, at most \(PixelSize.pixelsMax / 1_000_000) million are taken in all: make it smaller"
            }
        }
    }

    public static let bytesMax = 5 << 20

    public let mediaType: String
    public let content: [UInt8]
    /// Bytes that followed the end of the picture and were dropped.
    public let trailing: [UInt8]

    /// - Throws: `Fault`; what is kept holds the picture, its colours and how it is turned.
    public init(_ bytes: [UInt8]) throws(Fault) {
        guard bytes.count <= PhotoFile.bytesMax else { throw .tooLarge(bytes: bytes.count) }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            (mediaType, (content, trailing)) = ("image/jpeg", try JPEGFile.cleaned(bytes))
        } else if bytes.starts(with: PNGFile.signature) {
            (mediaType, (content, trailing)) = ("image/png", try PNGFile.cleaned(bytes))
        } else if bytes.count >= 12, bytes.starts(with: "RIFF".utf8), bytes[8..<12].elementsEqual("WEBP".utf8) {
            (mediaType, (content, trailing)) = ("image/webp", try WebPFile.cleaned(bytes))
        } else {
            throw .unknown
        }
    }
}

/// ITU-T T.81, annex B: segments behind markers.
enum JPEGFile {
    static func cleaned(_ bytes: [UInt8]) throws(PhotoFile.Fault) -> (content: [UInt8], trailing: [UInt8]) {
        var (out, at): ([UInt8], Int) = ([0xFF, 0xD8], 2)
        var (hasFrame, hasScan, orientation): (Bool, Bool, UInt8?) = (false, false, nil)
        while true {
            guard at + 1 < bytes.count, bytes[at] == 0xFF else { throw .broken(kind: "JPEG") }
            let marker = bytes[at + 1]
            // Any marker may have more of these in front.
            if marker == 0xFF {
                at += 1
                continue
            }
            // Data after the end of the picture (previews, films) is dropped.
            if marker == 0xD9 { break }
            guard at + 3 < bytes.count, marker >= 0xC0, !(0xD0...0xD8).contains(marker) else {
                throw .broken(kind: "JPEG")
            }
            let end = at + 2 + Int(bytes[at + 2]) << 8 + Int(bytes[at + 3])
            guard end <= bytes.count, end >= at + 4 else { throw .broken(kind: "JPEG") }
            let content = bytes[(at + 4)..<end]
            if marker == 0xE1 { orientation = orientation ?? self.orientation(content) }
            if isKept(marker, content) { out += bytes[at..<end] }
            if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
                hasFrame = true
                try PixelSize.ofJPEGFrame(content)?.check()
            }
            at = end
            guard marker == 0xDA else { continue }
            hasScan = true
            let scanEnd = self.scanEnd(bytes, from: at)
            out += bytes[at..<scanEnd]
            at = scanEnd
        }
        guard hasFrame, hasScan else { throw .broken(kind: "JPEG") }
        if let orientation, orientation != 1 { out.insert(contentsOf: turned(orientation), at: 2) }
        return (out + [0xFF, 0xD9], Array(bytes[(at + 2)...]))
    }

    /// The next marker that is not a restart.
    private static func scanEnd(_ bytes: [UInt8], from start: Int) -> Int {
        var at = start
        while at + 1 < bytes.count {
            if bytes[at] == 0xFF, bytes[at + 1] != 0, !(0xD0...0xD7).contains(bytes[at + 1]) { return at }
            at += 1
        }
        return bytes.count
    }

    /// JFIF, colour profiles and Adobe's colour transform belong to the picture; all other application data and comments go.
    private static func isKept(_ marker: UInt8, _ content: ArraySlice<UInt8>) -> Bool {
        switch marker {
        case 0xE0: content.starts(with: "JFIF\0".utf8)
        case 0xE2: content.starts(with: "ICC_PROFILE\0".utf8)
        case 0xEE: content.starts(with: "Adobe".utf8)
        case 0xE1...0xEF, 0xFE: false
        default: true
        }
    }

    /// Tag 0x0112 of the first directory (Exif 2.32, 4.6.4).
    private static func orientation(_ segment: ArraySlice<UInt8>) -> UInt8? {
        guard segment.starts(with: "Exif\0\0".utf8) else { return nil }
        let tiff = Array(segment.dropFirst(6))
        guard tiff.count >= 8 else { return nil }
        let isLittle = tiff[0] == UInt8(ascii: "I")
        func number(_ at: Int, _ size: Int) -> Int? {
            guard at >= 0, at + size <= tiff.count else { return nil }
            let part = isLittle ? Array(tiff[at..<(at + size)].reversed()) : Array(tiff[at..<(at + size)])
            return part.reduce(0) { $0 << 8 | Int($1) }
        }
        guard let directory = number(4, 4), let count = number(directory, 2) else { return nil }
        for entry in 0..<min(count, 200) {
            let at = directory + 2 + 12 * entry
            if number(at, 2) == 0x0112, let value = number(at + 8, 2), (1...8).contains(value) { return UInt8(value) }
        }
        return nil
    }

    /// An Exif segment that says how the picture is turned and nothing else.
    private static func turned(_ orientation: UInt8) -> [UInt8] {
        let tiff: [UInt8] =
            Array("MM".utf8) + [
                0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0,
            ]
        let content = Array("Exif\0\0".utf8) + tiff
        return [0xFF, 0xE1, 0, UInt8(content.count + 2)] + content
    }
}

/// PNG specification, 5: chunks with check sums.
enum PNGFile {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// Colours, transparency and animation; the picture's own are in capitals.
    private static let kept: Set<String> = [
        "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "bKGD", "pHYs", "acTL", "fcTL", "fdAT",
    ]

    static func cleaned(_ bytes: [UInt8]) throws(PhotoFile.Fault) -> (content: [UInt8], trailing: [UInt8]) {
        var (out, at, names) = (signature, signature.count, [String]())
        while names.last != "IEND" {
            guard at + 12 <= bytes.count else { throw .broken(kind: "PNG") }
            let length = bytes[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) }
            let end = at + 12 + length
            guard end <= bytes.count else { throw .broken(kind: "PNG") }
            let sum = bytes[(end - 4)..<end].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard CRC32.of(bytes[(at + 4)..<(end - 4)]) == sum else { throw .broken(kind: "PNG") }
            let name = String(decoding: bytes[(at + 4)..<(at + 8)], as: UTF8.self)
            try PixelSize.ofPNGChunk(name, bytes[(at + 8)..<(end - 4)])?.check()
            if (bytes[at + 4] & 0x20) == 0 || kept.contains(name) { out += bytes[at..<end] }
            names.append(name)
            at = end
        }
        guard names.first == "IHDR", names.contains("IDAT") else { throw .broken(kind: "PNG") }
        return (out, Array(bytes[at...]))
    }
}

/// RFC 9649: a RIFF file of chunks.
enum WebPFile {
    static func cleaned(_ bytes: [UInt8]) throws(PhotoFile.Fault) -> (content: [UInt8], trailing: [UInt8]) {
        func size(_ at: Int) -> Int { bytes[at..<(at + 4)].reversed().reduce(0) { $0 << 8 | Int($1) } }
        let riffEnd = 8 + size(4)
        guard riffEnd <= bytes.count, riffEnd >= 12 else { throw .broken(kind: "WebP") }
        var (out, at, hasPicture): ([UInt8], Int, Bool) = ([], 12, false)
        while at < riffEnd {
            guard at + 8 <= riffEnd else { throw .broken(kind: "WebP") }
            let end = at + 8 + size(at + 4) + size(at + 4) % 2
            guard end <= riffEnd else { throw .broken(kind: "WebP") }
            var chunk = bytes[at..<end]
            let name = String(decoding: bytes[at..<(at + 4)], as: UTF8.self)
            try PixelSize.ofWebPChunk(name, chunk.dropFirst(8))?.check()
            switch name {
            case "VP8 ", "VP8L", "ANMF": hasPicture = true
            case "EXIF", "XMP ": chunk = []
            case "VP8X" where chunk.count >= 18:
                // The flags that say that Exif and XMP follow (2.7).
                chunk[chunk.startIndex + 8] &= ~0x0C
            case "ALPH", "ANIM", "ICCP": break
            default: chunk = []
            }
            out += chunk
            at = end
        }
        guard hasPicture else { throw .broken(kind: "WebP") }
        let length = out.count + 4
        let head = (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
        return (Array("RIFF".utf8) + head + Array("WEBP".utf8) + out, Array(bytes[riffEnd...]))
    }
}
