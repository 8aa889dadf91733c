internal import Fleet

/// The content of a folder of threshold files by relative path: `tractors.xml`, one file per model and, for machines with their own rules,
/// `machines/<vehicle>-thresholds.xml`.
public struct RuleFolder: Equatable, Sendable {
    /// The folder of single machines' files.
    public static let machines = "machines/"
    private static let list = "tractors.xml"

    public var files: [String: [UInt8]]

    public init(_ files: [String: [UInt8]]) { self.files = files }

    /// Every mistake in every file is told. A file of another name is left out.
    public func load() throws(ThresholdError) -> RuleSet {
        var (models, machines): ([String: [Threshold]], [VehicleID: [Threshold]]) = ([:], [:])
        var problems: [ThresholdProblem] = []
        for (path, bytes) in files.sorted(by: { $0.key < $1.key }) {
            do throws(ThresholdError) {
                if path == RuleFolder.list {
                    _ = try ModelList.parse(fileName: path, bytes: bytes)
                } else if path.hasPrefix(RuleFolder.machines) {
                    let name = String(path.dropFirst(RuleFolder.machines.count))
                    guard let machine = ThresholdFile.model(of: name) else { continue }
                    let thresholds = try ThresholdFile.parse(fileName: path, bytes: bytes)
                    guard let vehicle = VehicleID(machine) else { throw RuleFolder.notMachine(path, machine) }
                    machines[vehicle] = thresholds
                } else if let model = ThresholdFile.model(of: path) {
                    models[model] = try ThresholdFile.parse(fileName: path, bytes: bytes)
                }
            } catch {
                problems += error.problems
            }
        }
        guard problems.isEmpty else { throw ThresholdError(problems: problems) }
        return RuleSet(models, machines: machines)
    }

    private static func notMachine(_ path: String, _ name: String) -> ThresholdError {
        ThresholdError(problems: [
            ThresholdProblem(
                file: path, line: 1, element: "root", value: name,
                reason: .contradicts(
                    "the file's name must begin with a machine's id: 1 to 64 letters, digits, -, _ or ."))
        ])
    }

    /// Models of `tractors.xml` without a file: their machines are shown and raise no alert.
    public var modelsWithoutThresholds: [String] {
        let listed = files[RuleFolder.list].flatMap { try? ModelList.parse(fileName: RuleFolder.list, bytes: $0) } ?? []
        let known = Set(files.keys.compactMap(ThresholdFile.model))
        return listed.map(\.name).filter { !known.contains($0) }
    }
}
