internal import Codecs
internal import Formats

/// The XML of threshold files and of the list of models.
enum RuleFile {
    static let bytesMax = 262_144

    /// The root element, or what is wrong as the only problem of that file.
    static func root(of bytes: [UInt8], fileName: String) throws(ThresholdError) -> XMLElement {
        do throws(XMLFault) {
            return try XMLReader.root(of: bytes, bytesMax: bytesMax)
        } catch {
            throw ThresholdError(problems: [
                ThresholdProblem(
                    file: fileName, line: error.line, element: "root", value: nil, reason: .notXML(error.reason))
            ])
        }
    }
}
