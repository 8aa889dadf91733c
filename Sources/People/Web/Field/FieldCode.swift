internal import Fleet
internal import Reports

/// What somebody read from a sticker or typed.
enum FieldCode: Equatable {
    case nothing
    /// The address of another installation, or of something else.
    case foreign
    /// A serial number, a Machine ID or a name.
    case plain(String)

    /// - Parameter hosts: of this installation, as the request and its settings name it.
    init(_ text: String, hosts: [String]) {
        guard let code = FieldCode.trimmed(text) else {
            self = .nothing
            return
        }
        guard let parts = FieldCode.address(code) else {
            self = code.utf8.count <= MachineCode.bytesMax ? .plain(code) : .nothing
            return
        }
        guard parts.count == 3, hosts.contains(where: { $0.lowercased() == parts[0].lowercased() }),
            parts[1] == "field",
            let vehicle = VehicleID(parts[2])
        else {
            self = .foreign
            return
        }
        self = .plain(vehicle.text)
    }

    /// Of an address: `drover.example:8443`; nil: it is none.
    static func host(of address: String) -> String? { FieldCode.address(address)?.first }

    /// What stands between the slashes after `https://`; nil: it is no address.
    private static func address(_ text: String) -> [String]? {
        guard let scheme = ["https://", "http://"].first(where: { text.lowercased().hasPrefix($0) }) else { return nil }
        return text.dropFirst(scheme.count).split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
    }

    /// Nil: empty, or longer than what stands on a machine.
    static func plain(_ text: String?) -> String? {
        text.flatMap(trimmed).flatMap { $0.utf8.count <= MachineCode.bytesMax ? $0 : nil }
    }

    private static func trimmed(_ text: String) -> String? {
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.isEmpty || words.utf8.count > 300 || words.utf8.contains(0) ? nil : words
    }
}
