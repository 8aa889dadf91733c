import Formats

/// Meanings of trouble codes: CSV with the columns `code` and `description`.
public struct TroubleCodeFile: Sendable {
    /// In the order of the file.
    public private(set) var codes: [TroubleCode] = []
    private var meanings: [TroubleCode: String] = [:]

    public static let descriptionBytesMax = 300

    public init() {}

    /// - Throws: `.line` with what is wrong in it and what to do.
    public init(_ bytes: [UInt8]) throws(TroubleCodeFileError) {
        var lines = CSVLines(bytes)
        var line = 1
        guard let heading = lines.next()?.fields, heading.count == 2,
            heading[0].elementsEqual("code".utf8), heading[1].elementsEqual("description".utf8)
        else { throw TroubleCodeFileError(line: 1, why: "the first line must be `code,description`") }
        while let (fields, _) = lines.next() {
            line += 1
            if fields.count == 1, fields[0].isEmpty { continue }
            guard fields.count == 2, let code = TroubleCode(text: fields[0]) else {
                throw TroubleCodeFileError(
                    line: line, why: "must be a code like P0133, a comma and what it means; quote texts with commas")
            }
            guard !fields[1].isEmpty, fields[1].count <= TroubleCodeFile.descriptionBytesMax,
                let text = String(validating: fields[1], as: UTF8.self)
            else {
                let most = TroubleCodeFile.descriptionBytesMax
                throw TroubleCodeFileError(line: line, why: "the description must be 1 to \(most) bytes of UTF-8")
            }
            guard meanings.updateValue(text.replacing("\"\"", with: "\""), forKey: code) == nil else {
                throw TroubleCodeFileError(line: line, why: "\(code.text) stands twice. Leave one out")
            }
            codes.append(code)
        }
    }

    public subscript(_ code: TroubleCode) -> String? { meanings[code] }
}

public struct TroubleCodeFileError: Error, Equatable, Sendable, CustomStringConvertible {
    public let line: Int
    public let why: String
    public var description: String { "line \(line): \(why)" }
}

/// Meanings of codes: the make's own table first, then the generic one.
public struct TroubleCodeMeanings: Sendable {
    private let generic: TroubleCodeFile
    private let make: TroubleCodeFile

    public init(generic: TroubleCodeFile, make: TroubleCodeFile = TroubleCodeFile()) {
        self.generic = generic
        self.make = make
    }

    /// Those that have a meaning, in the order of the files, the generic ones first.
    public var codes: [TroubleCode] { generic.codes + make.codes.filter { generic[$0] == nil } }

    /// Nil: nobody wrote it down. `origin` and `subsystem` of the code still tell where to look.
    public func meaning(of code: TroubleCode) -> String? { make[code] ?? generic[code] }

    /// For people: the meaning, or what to do without one.
    public func text(of code: TroubleCode) -> String {
        if let meaning = meaning(of: code) { return meaning }
        let about = code.subsystem.map { " (\($0))" } ?? ""
        return switch code.origin {
        case .generic: "not in the table\(about): look it up in SAE J2012"
        case .manufacturer: "the maker's own code\(about): look it up in the maker's manual"
        case .reserved: "a reserved code\(about): no standard gives it a meaning"
        }
    }

    /// The file's name of a make without its ending: small letters, digits and `-`. Nil where nothing is left.
    public static func fileName(make: String) -> String? {
        var name: [UInt8] = []
        for byte in make.utf8.prefix(64) {
            switch byte {
            case 0x30...0x39, 0x61...0x7A: name.append(byte)
            case 0x41...0x5A: name.append(byte + 0x20)
            default: if name.last != 0x2D, !name.isEmpty { name.append(0x2D) }
            }
        }
        while name.last == 0x2D { name.removeLast() }
        return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }
}
