/// Decides which addresses we connect to when somebody other than the operator names them. The only such place: it checks the resolved
/// address right before connecting, so that no name leads elsewhere afterwards. Pure.
package struct AddressPolicy: Sendable {
    package enum Refusal: Error, Equatable, CustomStringConvertible, Sendable {
        /// No network can be named that holds it.
        case never(AddressKind)
        case ownPort(UInt16)
        /// The operator has not named its network.
        case unnamed(AddressKind)

        package var description: String {
            switch self {
            case .never(let kind): "\(kind.rawValue) addresses are nobody's to connect to"
            case .ownPort(let port): "port \(port) is one of our own servers'"
            case .unnamed(let kind): "its network (\(kind.rawValue)) is not one that the operator has named"
            }
        }
    }

    private let networks: [CIDR]
    private let takesPublic: Bool
    private let ownPorts: Set<UInt16>

    /// - Parameters:
    ///   - networks: that the operator has named.
    ///   - takesPublic: every address of the internet as well.
    ///   - ownPorts: of the servers that this installation consists of, wherever they are: a network that is named is
    ///     named for boxes.
    package init(networks: [CIDR], takesPublic: Bool, ownPorts: Set<UInt16>) {
        self.networks = networks
        self.takesPublic = takesPublic
        self.ownPorts = ownPorts
    }

    /// Adds networks to the named ones.
    package func with(_ more: [CIDR]) -> AddressPolicy {
        AddressPolicy(networks: networks + more, takesPublic: takesPublic, ownPorts: ownPorts)
    }

    /// Nil: it may be connected to.
    package func refusal(of address: IPAddress, port: UInt16) -> Refusal? {
        let kind = address.kind
        switch kind {
        case .unspecified, .multicast, .broadcast: return .never(kind)
        case _ where ownPorts.contains(port): return .ownPort(port)
        case .public where takesPublic: return nil
        case .public, .loopback, .reserved, .documentation, .benchmarking, .linkLocal, .privateUse, .shared,
            .translated:
            return networks.contains { $0.contains(address) && $0.names(kind) } ? nil : .unnamed(kind)
        }
    }
}

extension CIDR {
    /// A network that holds all kinds, such as `0.0.0.0/0`, names the internet's addresses and no others by it.
    fileprivate func names(_ kind: AddressKind) -> Bool { kind == .public || base.kind == kind }
}
