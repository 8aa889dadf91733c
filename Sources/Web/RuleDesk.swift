public import Alerts
internal import Fleet
internal import Foundation
public import Trials

/// The folder of threshold files as pages change it: the files stay the source, and the publisher of `drover rules publish`
/// brings them to the log.
public struct RuleDesk: Sendable {
    struct Fault: Error { let text: String }

    let folder: String
    let read: @Sendable () throws -> RuleFolder
    /// Says all that is wrong with the files.
    let load: @Sendable (RuleFolder) throws -> RuleSet
    let tests: @Sendable () throws -> [(name: String, bytes: Result<[UInt8], RuleTestFault>)]
    let publish: @Sendable (RuleSet) throws -> Void

    public init(
        folder: String, read: @escaping @Sendable () throws -> RuleFolder,
        load: @escaping @Sendable (RuleFolder) throws -> RuleSet,
        tests: @escaping @Sendable () throws -> [(name: String, bytes: Result<[UInt8], RuleTestFault>)],
        publish: @escaping @Sendable (RuleSet) throws -> Void
    ) {
        (self.folder, self.read, self.load) = (folder, read, load)
        (self.tests, self.publish) = (tests, publish)
    }

    /// Whose thresholds: a model's, or a machine's own.
    enum Of: Equatable, Sendable {
        case model(String)
        case machine(VehicleID)

        /// Within the folder. Precondition: a model's name comes from the folder, so it holds no `/`.
        var file: String {
            switch self {
            case .model(let name): name + RuleDesk.suffix
            case .machine(let vehicle): RuleFolder.machines + vehicle.text + RuleDesk.suffix
            }
        }

        var title: String {
            switch self {
            case .model(let name): name
            case .machine(let vehicle): "machine \(vehicle)"
            }
        }

        var address: String {
            switch self {
            case .model(let name): "/thresholds/models/" + Address.escaped(name)
            case .machine(let vehicle): "/thresholds/machines/" + Address.escaped(vehicle.text)
            }
        }

        var vehicle: VehicleID? { if case .machine(let vehicle) = self { vehicle } else { nil } }
        var model: String? { if case .model(let name) = self { name } else { nil } }
    }

    private static let suffix = "-thresholds.xml"

    /// Models of `tractors.xml` and those that have a file.
    static func models(_ folder: RuleFolder) -> [String] {
        let files = folder.files.keys.filter { !$0.hasPrefix(RuleFolder.machines) }.compactMap(ThresholdFile.model)
        return Set(files + folder.modelsWithoutThresholds).sorted()
    }

    /// In whole or not at all; nil: the file is taken away.
    func write(_ bytes: [UInt8]?, to file: String) throws(Fault) {
        let path = folder + "/" + file
        do {
            guard let bytes else { return try FileManager.default.removeItem(atPath: path) }
            let place = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            // Not `.xml`: who reads the folder meanwhile does not see it.
            let part = path + ".part"
            try Data(bytes).write(to: URL(fileURLWithPath: part))
            if let handle = FileHandle(forWritingAtPath: part) {
                try handle.synchronize()
                try handle.close()
            }
            guard unsafe rename(part, path) == 0 else { throw Fault(text: unsafe String(cString: strerror(errno))) }
        } catch {
            throw Fault(
                text:
                    "\(file) cannot be written (\((error as? Fault)?.text ?? error.localizedDescription)). Nothing was changed. "
                    + "drover serve must be allowed to write in its folder of thresholds (alerts.thresholds_dir).")
        }
    }
}
