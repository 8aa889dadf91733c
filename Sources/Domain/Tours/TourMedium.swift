internal import Formats

/// A picture or film, verified by its content and stripped of metadata: above all of the place where it was taken. The type follows from
/// the content, never from the name.
package struct TourMedium: Equatable, Sendable {
    package enum Fault: Error, Equatable, CustomStringConvertible {
        case unknown
        case tooLarge(bytes: Int, most: Int)
        case image(String)
        /// Cut off, or not built as its kind is.
        case broken(kind: String, String)
        /// Something else is hidden behind its end.
        case trailing(kind: String, bytes: Int)
        case refused(String)

        package var description: String {
            switch self {
            case .unknown: "by its content it is no JPEG, PNG, WebP, MP4 or WebM file"
            case .tooLarge(let bytes, let most): "it has \(bytes) bytes, at most \(most) are taken"
            case .image(let why): why
            case .broken(let kind, let why): "it is cut off, or not built as a \(kind) file is: \(why)"
            case .trailing(let kind, let bytes):
                "\(bytes) bytes follow the end of the \(kind) file: save it again in a program for pictures or films"
            case .refused(let why): why
            }
        }
    }

    package static let imageBytesMax = PhotoFile.bytesMax
    package static let videoBytesMax = 32 << 20

    package let mediaType: String
    package let content: [UInt8]

    /// - Throws: `Fault`; nothing of the file is kept then.
    package init(_ bytes: [UInt8]) throws(Fault) {
        if bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) {
            try TourMedium.check(bytes, most: TourMedium.videoBytesMax)
            mediaType = "video/mp4"
            content = try MP4File.cleaned(bytes)
        } else if bytes.starts(with: WebMFile.signature) {
            try TourMedium.check(bytes, most: TourMedium.videoBytesMax)
            mediaType = "video/webm"
            content = try WebMFile.cleaned(bytes)
        } else {
            let photo: PhotoFile
            do throws(PhotoFile.Fault) { photo = try PhotoFile(bytes) } catch {
                switch error {
                case .unknown: throw .unknown
                case .tooLarge(let bytes): throw .tooLarge(bytes: bytes, most: TourMedium.imageBytesMax)
                case .broken, .tooManyPixels: throw .image("\(error)")
                }
            }
            guard TourMedium.isHarmless(photo.trailing) else {
                throw .trailing(kind: photo.mediaType, bytes: photo.trailing.count)
            }
            mediaType = photo.mediaType
            content = photo.content
        }
    }

    private static func check(_ bytes: [UInt8], most: Int) throws(Fault) {
        guard bytes.count <= most else { throw .tooLarge(bytes: bytes.count, most: most) }
    }

    /// Cameras write previews (CIPA DC-007) and padding behind a picture; both are left out. Anything else is no picture's.
    private static func isHarmless(_ trailing: [UInt8]) -> Bool {
        trailing.allSatisfy { $0 == 0 } || trailing.starts(with: [0xFF, 0xD8, 0xFF])
    }

    static let types = [
        "image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "video/mp4": "mp4", "video/webm": "webm",
    ]

    /// Precondition: it is the type of a medium.
    static func fileExtension(_ mediaType: String) -> String {
        guard let known = types[mediaType] else { preconditionFailure("\(mediaType) is no medium's type") }
        return known
    }
}
