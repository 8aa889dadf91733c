package import Codecs
internal import Foundation

/// The folder with what trouble codes mean: `generic.csv`, and a file a make.
package struct TroubleCodeFolder: Sendable {
    private static let bytesMax = 8 << 20

    package let path: String
    package init(_ path: String) { self.path = path }

    package enum Fault: Error, CustomStringConvertible {
        case unreadable(String)
        case wrong(String, TroubleCodeFileError)

        package var description: String {
            switch self {
            case .unreadable(let file): "\(file): cannot be read, or is larger than \(bytesMax >> 20) MiB"
            case .wrong(let file, let error): "\(file): \(error)"
            }
        }
    }

    /// - Parameter make: as registered; nil or without a file of its own: generic meanings only.
    package func meanings(make: String? = nil) throws -> TroubleCodeMeanings {
        guard let generic = try file("generic") else { throw Fault.unreadable(path + "/generic.csv") }
        var own: TroubleCodeFile?
        if let make, let name = TroubleCodeMeanings.fileName(make: make), name != "generic" { own = try file(name) }
        return TroubleCodeMeanings(generic: generic, make: own ?? TroubleCodeFile())
    }

    /// The makes that have a file, in order.
    package func makes() throws -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw Fault.unreadable(path)
        }
        return names.filter { $0.hasSuffix(".csv") && $0 != "generic.csv" }.map { String($0.dropLast(4)) }
            .filter { TroubleCodeMeanings.fileName(make: $0) == $0 }.sorted()
    }

    /// Nil: there is no such file.
    private func file(_ name: String) throws -> TroubleCodeFile? {
        let file = path + "/" + name + ".csv"
        guard let handle = FileHandle(forReadingAtPath: file) else { return nil }
        defer { try? handle.close() }  // Read only: nothing can be lost by a failing close.
        guard let data = try? handle.read(upToCount: TroubleCodeFolder.bytesMax + 1),
            data.count <= TroubleCodeFolder.bytesMax
        else { throw Fault.unreadable(file) }
        do throws(TroubleCodeFileError) {
            return try TroubleCodeFile([UInt8](data))
        } catch { throw Fault.wrong(file, error) }
    }
}
