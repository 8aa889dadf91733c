/// Why a file of a static set cannot be read: file, line, what, and what to do.
public struct ProblemFault: Error, Equatable, CustomStringConvertible {
    public let description: String
    init(_ name: String, line: Int, _ text: String) { description = "\(name):\(line): \(text)" }
}
