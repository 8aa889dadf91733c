import Clients
import Sockets
import Testing

/// Where a webhook's host leads is looked at when it is connected to. libcurl takes every name below `localhost` for this
/// machine, as a name's owner could by DNS.
@Suite struct HostsReachTests {
    private static func ask(_ url: String, _ reach: AddressPolicy) throws -> RequestError {
        let client = try HTTPSClient(isPlainAllowed: true)
        do throws(RequestError) {
            _ = try client.ask(url, reach: reach)
            throw RequestError.none
        } catch { return error }
    }

    private static let reach = AddressPolicy(networks: [], takesPublic: true, ownPorts: [9_092])

    @Test(arguments: ["http://hooks.localhost:1/x", "http://127.0.0.1:1/x", "http://[::1]:1/", "http://0.0.0.0:1/"])
    func aNameThatLeadsInsideIsNotConnectedTo(_ url: String) throws {
        let error = try Self.ask(url, Self.reach)
        #expect(error.refusal != nil && !error.description.contains("named"), "\(error)")
    }

    @Test func whatTheOperatorListsAsAnAddressIs() throws {
        let url = "http://127.0.0.1:1/"
        #expect(try Self.ask(url, Self.reach.with(AllowedHosts.networks(of: url))).refusal == nil)
        // A name names no network, whatever it leads to.
        let name = "http://hooks.localhost:1/"
        #expect(try Self.ask(name, Self.reach.with(AllowedHosts.networks(of: name))).refusal != nil)
        let own = "http://127.0.0.1:9092/"
        #expect(try Self.ask(own, Self.reach.with(AllowedHosts.networks(of: own))).refusal?.contains("9092") == true)
    }
}

extension RequestError {
    /// Nobody listens on these ports.
    fileprivate static var none: RequestError { preconditionFailure("something answered") }
}
