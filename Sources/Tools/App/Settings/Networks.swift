package import Gateways
internal import Kafka
package import Settings
package import Sockets
internal import Storage

extension Settings {
    package func pollSchedule() throws -> PollSchedule {
        do throws(PollScheduleFault) { return try PollSchedule(text("gateway.obd_schedule")) } catch {
            throw Failure("gateway.obd_schedule: \(error)")
        }
    }

    /// Networks in which boxes and adapters may be reached without TLS.
    package func plainNetworks() throws -> [CIDR] {
        try networks("gateway.plain_tcp_cidrs", words(of: "gateway.plain_tcp_cidrs"))
    }

    /// Where boxes and adapters may be, whoever registers them.
    package func deviceReach(pagePort: UInt16? = nil) throws -> AddressPolicy {
        let words = words(of: "gateway.device_cidrs")
        let named = try networks("gateway.device_cidrs", words.filter { $0 != "public" })
        return AddressPolicy(
            networks: try plainNetworks() + named, takesPublic: words.contains("public"),
            ownPorts: ownPorts.union([pagePort].compactMap(\.self)))
    }

    /// A check of addresses as they are typed on pages. A private network may be one that only the gateway's own settings name.
    func mayBeAt() throws -> @Sendable (_ host: String, _ port: Int32) -> Bool {
        let reach = try deviceReach()
        return { host, port in
            guard let address = IPAddress(host), let port = UInt16(exactly: port),
                let refusal = reach.refusal(of: address, port: port)
            else { return true }
            return refusal == .unnamed(.privateUse)
        }
    }

    /// Where people's webhooks and browsers' push services may be.
    func noticeReach() throws -> AddressPolicy {
        AddressPolicy(
            networks: try networks("notices.webhook_cidrs", words(of: "notices.webhook_cidrs")), takesPublic: true,
            ownPorts: ownPorts)
    }

    /// The words of a list with commas.
    func words(of key: String) -> [String] {
        text(key).split(separator: ",").map { String($0.filter { $0 != " " }) }
    }

    private func networks(_ key: String, _ words: [String]) throws -> [CIDR] {
        try words.map { text in
            guard let network = CIDR(text) else {
                throw Failure(
                    "\(key): `\(text)` is no network: write addresses like 192.168.40.0/24 or fd00::/8, "
                        + "without bits beyond the length")
            }
            return network
        }
    }
}
