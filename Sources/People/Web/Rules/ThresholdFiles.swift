package import Alerts
package import Backtesting
internal import Fleet
internal import Foundation
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage

/// The folder of threshold files as pages change it: the files stay the source, and the publisher of `drover rules publish`
/// brings them to the log.
package struct ThresholdFiles: Sendable {
    struct Fault: Error { let text: String }

    let folder: String
    let read: @Sendable () throws -> RuleFolder
    /// Says all that is wrong with the files.
    let load: @Sendable (RuleFolder) throws -> RuleSet
    let tests: @Sendable () throws -> [(name: String, bytes: Result<[UInt8], RuleTestFault>)]
    let publish: @Sendable (RuleSet) throws -> Void

    package init(
        folder: String, read: @escaping @Sendable () throws -> RuleFolder,
        load: @escaping @Sendable (RuleFolder) throws -> RuleSet,
        tests: @escaping @Sendable () throws -> [(name: String, bytes: Result<[UInt8], RuleTestFault>)],
        publish: @escaping @Sendable (RuleSet) throws -> Void
    ) {
        self.folder = folder
        self.read = read
        self.load = load
        self.tests = tests
        self.publish = publish
    }

    /// The owner of thresholds: a model, or a machine that has its own.
    enum Subject: Equatable, Sendable {
        case model(String)
        case machine(VehicleID)

        /// Within the folder. Precondition: a model's name comes from the folder, so it holds no `/`.
        var file: String {
            switch self {
            case .model(let name): name + ThresholdFiles.suffix
            case .machine(let vehicle): RuleFolder.machines + vehicle.text + ThresholdFiles.suffix
            }
        }

        var title: String {
            switch self {
            case .model(let name): name
            case .machine(let vehicle): "machine \(vehicle)"
            }
        }

        /// As pages say it.
        var shown: String {
            switch self {
            case .model(let name): name
            case .machine(let vehicle): t("machine \(vehicle.text)")
            }
        }

        var address: String {
            switch self {
            case .model(let name): "/thresholds/models/" + URLText.escaped(name)
            case .machine(let vehicle): "/thresholds/machines/" + URLText.escaped(vehicle.text)
            }
        }

        /// As addresses and choices name it.
        var key: String {
            switch self {
            case .model(let name): "models/" + name
            case .machine(let vehicle): "machines/" + vehicle.text
            }
        }

        var vehicle: VehicleID? { if case .machine(let vehicle) = self { vehicle } else { nil } }
        var model: String? { if case .model(let name) = self { name } else { nil } }

        /// Whether it is the reader's to change: a model's belongs to developers and administrators, a machine's to who keeps it, too.
        func isEdited(on connection: Connection) throws -> Bool {
            try RuleEditStore.mayEdit(rulesOf: vehicle, on: connection)
        }
    }

    private static let suffix = "-thresholds.xml"

    /// Models of `tractors.xml` and those that have a file.
    static func models(_ folder: RuleFolder) -> [String] {
        let files = folder.files.keys.filter { !$0.hasPrefix(RuleFolder.machines) }.compactMap(ThresholdFile.model)
        return Set(files + folder.modelsWithoutThresholds).sorted()
    }

    /// All files or none, each whole. No bytes: the file is removed.
    /// - Parameter before: what stands there, to be put back.
    func write(_ files: [String: [UInt8]?], before: RuleFolder) throws(Fault) {
        var done: [String] = []
        var file = ""
        do {
            // First the steps that can fail for lack of space or rights.
            for (name, bytes) in files {
                file = name
                if let bytes { try prepare(bytes, name) }
            }
            for (name, bytes) in files {
                file = name
                try put(bytes, name)
                done.append(name)
            }
        } catch {
            // Mostly there is none.
            for name in files.keys { try? FileManager.default.removeItem(atPath: part(name)) }
            // The old content had room a moment before; if there is none now, the fault names the file to check.
            for name in done {
                if let old = before.files[name] { try? prepare(old, name) }
                try? put(before.files[name], name)
            }
            throw Fault(
                text:
                    "\(file) cannot be written (\((error as? Fault)?.text ?? error.localizedDescription)). Nothing was changed. "
                    + "drover serve must be allowed to write in its folder of thresholds (alerts.thresholds_dir).")
        }
    }

    /// Not `.xml`, so that readers of the folder do not see it.
    private func part(_ file: String) -> String { folder + "/" + file + ".part" }

    private func prepare(_ bytes: [UInt8], _ file: String) throws {
        let path = part(file)
        let place = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        if let handle = FileHandle(forWritingAtPath: path) {
            try handle.synchronize()
            try handle.close()
        }
    }

    /// Precondition: it is prepared.
    private func put(_ bytes: [UInt8]?, _ file: String) throws {
        let path = folder + "/" + file
        guard bytes != nil else {
            if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
            return
        }
        guard unsafe rename(part(file), path) == 0 else { throw Fault(text: unsafe String(cString: strerror(errno))) }
    }
}
