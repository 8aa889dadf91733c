internal import Crypto
internal import HTTPServer

/// The fields of a form, the first of each name.
struct FormFields {
    let items: [(name: String, value: String)]
    private let values: [String: String]

    init?(_ request: Request) {
        guard let items = request.formItems else { return nil }
        self.items = items.map { ($0.name, $0.value) }
        values = Dictionary(items.map { ($0.name, $0.value) }) { first, _ in first }
    }
    subscript(_ name: String) -> String? { values[name] }
    /// All values of a name that may be given several times.
    func all(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }
    /// Nil: too long to be one.
    func password(_ name: String) -> String? {
        values[name].flatMap { (1...Password.length.upperBound).contains($0.utf8.count) ? $0 : nil }
    }
    /// Empty where none is given; nil: too long, or with line ends.
    func name(_ name: String) -> String? {
        let text = values[name] ?? ""
        return text.utf8.count <= 200 && text.unicodeScalars.allSatisfy { $0.value >= 0x20 } ? text : nil
    }

    static let missing = Response.problem(
        415, type: "content-type", detail: "This comes as a form: application/x-www-form-urlencoded.")
}
