/// The ports of the servers that an installation consists of: nobody is led to them by an address that a person said.
extension Settings {
    package var ownPorts: Set<UInt16> {
        let single = ["web.port", "apps.port", "metrics.port"].compactMap { UInt16(text($0)) }
        let brokers = text("kafka.brokers").split(separator: ",").map { Settings.port(of: $0) ?? 9_092 }
        let databases = SettingRow.table.filter { if case .connection = $0.kind { true } else { false } }
            .map { text($0.key) }.filter { !$0.isEmpty }.flatMap(Settings.databasePorts)
        let mail = text("mail.server").isEmpty ? [] : [Settings.port(of: text("mail.server")[...])].compactMap(\.self)
        return Set(single + brokers + databases + mail).subtracting([0])
    }

    /// Behind the last colon.
    private static func port(of address: Substring) -> UInt16? {
        address.lastIndex(of: ":").flatMap { UInt16(address[address.index(after: $0)...].prefix { $0.isNumber }) }
    }

    /// The ports in a libpq connection string: `port=5433,5434`, or the URL form `postgresql://user@one:5433,two/drover`. The standard
    /// port is always included: most servers listen there, whatever socket we use.
    static func databasePorts(_ conninfo: String) -> [UInt16] {
        let standard: [UInt16] = [5_432]
        guard let scheme = conninfo.firstRange(of: "://") else {
            let words = conninfo.split { $0 == " " || $0 == "\t" || $0 == "\n" }
            let ports = words.filter { $0.hasPrefix("port=") }.flatMap { $0.dropFirst(5).split(separator: ",") }
            return standard + ports.compactMap { UInt16($0.filter { $0 != "'" }) }
        }
        let authority = conninfo[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
        let hosts = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        return standard + hosts.split(separator: ",").compactMap { port(of: $0) }
    }
}
