/// The dimensions of a picture by its headers, before anything is decoded: few kilobytes may be gigabytes of one colour.
struct PixelSize: Equatable {
    let width, height: Int

    /// 256 MB as browsers and phones hold them. Cameras make 12 to 50 million.
    static let pixelsMax = 64_000_000

    func check() throws(PhotoFile.Fault) {
        guard width * height <= PixelSize.pixelsMax else { throw .tooManyPixels(width: width, height: height) }
    }

    /// Content of a frame header (ITU-T T.81, B.2.2). Without lines it says their number later, at most 65,535 (B.2.5).
    static func ofJPEGFrame(_ content: ArraySlice<UInt8>) -> PixelSize? {
        guard content.count >= 5 else { return nil }
        let bytes = Array(content.prefix(5))
        let height = Int(bytes[1]) << 8 | Int(bytes[2])
        return PixelSize(width: Int(bytes[3]) << 8 | Int(bytes[4]), height: height == 0 ? 65_535 : height)
    }

    /// Content of a chunk: IHDR, or fcTL of an animation (PNG specification, 11.2.1 and 11.3.6.2).
    static func ofPNGChunk(_ name: String, _ content: ArraySlice<UInt8>) -> PixelSize? {
        guard name == "IHDR" || name == "fcTL" else { return nil }
        let bytes = Array(content.dropFirst(name == "fcTL" ? 4 : 0).prefix(8))
        guard bytes.count == 8 else { return nil }
        // Not more than 31 bits each; what has more is too large with the rest cut.
        func number(_ part: ArraySlice<UInt8>) -> Int { min(part.reduce(0) { $0 << 8 | Int($1) }, 1 << 31) }
        return PixelSize(width: number(bytes[..<4]), height: number(bytes[4...]))
    }

    /// Content of a chunk of WebP (RFC 9649, 2.5 to 2.7; RFC 6386, 9.1). Nil: it says no size, and nothing is unpacked by it.
    static func ofWebPChunk(_ name: String, _ content: ArraySlice<UInt8>) -> PixelSize? {
        let bytes = Array(content.prefix(12))
        func number(_ at: Int, _ count: Int) -> Int {
            bytes[at..<(at + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        switch name {
        case "VP8X" where bytes.count >= 10: return PixelSize(width: number(4, 3) + 1, height: number(7, 3) + 1)
        case "ANMF" where bytes.count >= 12: return PixelSize(width: number(6, 3) + 1, height: number(9, 3) + 1)
        case "VP8L" where bytes.count >= 5 && bytes[0] == 0x2F:
            return PixelSize(width: (number(1, 4) & 0x3FFF) + 1, height: (number(1, 4) >> 14 & 0x3FFF) + 1)
        case "VP8 " where bytes.count >= 10 && bytes[3..<6].elementsEqual([0x9D, 0x01, 0x2A]):
            return PixelSize(width: number(6, 2) & 0x3FFF, height: number(8, 2) & 0x3FFF)
        default: return nil
        }
    }
}
