/// An alert of a service interval before the first service is on record: it is told apart by how its advice begins, which is all that is
/// stored of it.
package enum MissingService {
    private static let words = "No service recorded."

    /// - Parameter own: what the rule advises.
    static func advice(_ own: String?) -> String { words + (own.map { " \($0)" } ?? "") }

    package static func isSaid(by advice: String?) -> Bool { advice?.hasPrefix(words) ?? false }
}
