internal import Codecs
internal import Formats

/// One model of `tractors.xml`.
public struct MachineModel: Equatable, Sendable {
    public let name: String
    /// The picture's file name.
    public let image: String?
    public let fuelCapacityGal: Int64?

    public init(name: String, image: String?, fuelCapacityGal: Int64?) {
        self.name = name
        self.image = image
        self.fuelCapacityGal = fuelCapacityGal
    }
}

/// The list of models (`tractors.xml`):
/// `<root><model><name>…</name><image>…</image><fuelCapacity>…</fuelCapacity></model>…</root>`.
public enum ModelList {
    private static let accepted = "<model> with a <name>"
    private static let capacityMost: Int64 = 100_000

    public static func parse(fileName: String, bytes: [UInt8]) throws(ThresholdError) -> [MachineModel] {
        let root = try RuleFile.root(of: bytes, fileName: fileName)
        var (models, problems): ([MachineModel], [ThresholdProblem]) = ([], [])
        func note(_ element: XMLElement, _ value: String?, _ reason: ThresholdProblem.Reason) {
            problems.append(
                ThresholdProblem(
                    file: fileName, line: element.line, element: element.name, value: value, reason: reason))
        }
        for element in root.children {
            func text(_ name: String) -> (element: XMLElement, text: String)? {
                guard let child = element.children.first(where: { $0.name == name }) else { return nil }
                let text = child.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                return text.isEmpty ? nil : (child, text)
            }
            guard element.name == "model", let (named, name) = text("name") else {
                note(element, nil, .missing(accepted: accepted))
                continue
            }
            if name.contains("/") { note(named, name, .contradicts("a model's name is part of file names: no `/`")) }
            let (image, capacity) = (text("image"), text("fuelCapacity"))
            if let image, image.text.contains("/") || image.text.hasPrefix(".") {
                note(image.element, image.text, .contradicts("a picture's name is a file name without a folder"))
            }
            let gallons = capacity.flatMap { Int64($0.text) }
            if let capacity, !(gallons.map { (1...capacityMost).contains($0) } ?? false) {
                note(capacity.element, capacity.text, .outOfRange(least: 1, most: capacityMost))
            }
            models.append(MachineModel(name: name, image: image?.text, fuelCapacityGal: gallons))
        }
        guard problems.isEmpty else { throw ThresholdError(problems: problems) }
        return models
    }
}
