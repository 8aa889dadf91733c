package import Codecs
internal import Foundation
internal import HTTPServer
package import Settings
package import Telemetry
internal import Tiles
package import Web

/// The page and the API, with what stands behind them.
package struct PageRole {
    /// Uploads hold a thread each while they wait for the broker: there are more of these than of uploads.
    private static let threads = 12

    private let settings: Settings
    private let log: Log
    private let server: Server
    private let apps: AppsRole?
    /// The parts behind both, in the order in which they are stopped.
    private let behind: [() -> Void]

    /// - Parameter sample: who is let in by one click, where nobody but this machine is listened to.
    package init(_ settings: Settings, sample: SampleAccounts? = nil, log: Log) throws {
        (self.settings, self.log) = (settings, log)
        _ = try PageRole.listens(settings)
        let certificate = try PageRole.certificate(settings)
        let sample = SampleAccounts.isLoopback(settings.text("web.host")) ? sample : nil
        let parts = try WebDependencies(settings, isSecure: certificate != nil, sample: sample, log: log)
        let (routes, refusals) = (try parts.routes(), RefusalView(assets: parts.assets))
        behind = parts.stops
        do {
            apps = try AppsRole(settings, site: parts.campuses, assets: parts.assets, log: log)
        } catch {
            for stop in behind { stop() }
            throw error
        }
        do {
            server = try Server(
                host: settings.text("web.host"), port: UInt16(settings.integer("web.port")), threads: PageRole.threads,
                limits: PageRole.limits(settings), certificate: certificate,
                admit: { [gate = parts.gate] in gate.admit($0) }
            ) { [languages = parts.assets.languages] request in
                languages.answer(request) { PackedPage.packed(refusals.shown(routes.route($0), to: $0), to: $0) }
            }
        } catch {
            apps?.stop()
            for stop in behind { stop() }
            throw error
        }
    }

    private static func limits(_ settings: Settings) -> Limits {
        var limits = Limits()
        limits.receiveMs = Int(settings.integer("web.receive_s")) * 1_000
        for larger in [
            SurveyAppRoutes.bodyBytesMaxByPath, SurveyRoutes.bodyBytesMaxByPath, TourRoutes.bodyBytesMaxByPath,
            TourAppRoutes.bodyBytesMaxByPath,
        ] {
            limits.bodyBytesMaxByPath.merge(larger) { first, _ in first }
        }
        limits.strangersBytesMaxByPath = BodyAdmission.strangersBytesMaxByPath
        limits.trustedProxies = Set(settings.words(of: "web.trusted_proxies"))
        return limits
    }

    /// Nil: they are not served.
    var appsAddress: String? { apps?.address }

    package var port: UInt16 { server.port }

    package var address: String {
        "\(settings.text("web.certificate").isEmpty ? "http" : "https")://\(settings.text("web.host")):\(server.port)/"
    }

    /// Connections that are open keep the old one, and so do all when the new one cannot be used.
    func renewCertificates() {
        apps?.renewCertificates()
        do {
            guard let certificate = try PageRole.certificate(settings) else { return }
            try server.renew(certificate)
            log.info("the certificate was read again")
        } catch {
            log.error("the certificate was not renewed; the old one stays in use", ["error": "\(error)"])
        }
    }

    package func stop() {
        server.stop()
        apps?.stop()
        for stop in behind { stop() }
    }

    /// Where the page would be; refused where what is said would go over the net in the clear.
    package static func listens(_ settings: Settings) throws -> String {
        let host = settings.text("web.host")
        let isInside = host == "localhost" || host == "::1" || host.hasPrefix("127.")
        let isEncrypted = try certificate(settings) != nil
        guard isEncrypted || isInside || settings.integer("web.plain_http_outside") == 1 else {
            throw Failure(
                "web.host is \(host): tokens and readings would go over the net in the clear. Set web.certificate and "
                    + "web.certificate_key, or web.plain_http_outside to 1 where a proxy in front speaks HTTPS")
        }
        return "\(isEncrypted ? "https" : "http")://\(host):\(settings.text("web.port"))/"
    }

    package static func baseMap(_ settings: Settings, _ assets: AssetFiles, log: Log) throws -> BaseMap {
        let (file, address) = (settings.text("map.tiles_file"), settings.text("map.tiles_url"))
        guard file.isEmpty || address.isEmpty else { throw Failure("set map.tiles_file or map.tiles_url, not both") }
        let told = settings.text("map.attribution")
        guard address.isEmpty else {
            guard !told.isEmpty else {
                throw Failure("map.attribution: is empty. Say who makes the tiles of map.tiles_url: maps must show it")
            }
            let proxy = try settings.tileProxy(log: log)
            return BaseMap(
                tiles: nil, server: (proxy, Int(settings.integer("map.tiles_zoom_max"))), attribution: told,
                assets: assets)
        }
        let tiles = try file.isEmpty ? nil : TileFile.open(path: file)
        let sample = try file.isEmpty ? TileFile.open(path: assets.streets) : nil
        let map = BaseMap(tiles: tiles, sample: sample, attribution: told, assets: assets)
        guard !map.attribution.isEmpty else {
            throw Failure("map.attribution: is empty, and \(file) does not say who made it. Set it: maps must show it")
        }
        return map
    }

    /// Nil: no mail of accounts is sent.
    package static func accountMail(_ settings: Settings) throws -> AccountRoutes.AccountMail? {
        let address = settings.text("web.public_url")
        guard !address.isEmpty else { return nil }
        guard
            address.hasPrefix("https://") || address.hasPrefix("http://127.0.0.1")
                || address.hasPrefix("http://localhost")
        else { throw Failure("web.public_url: is `\(address)`, must begin with https:// (or be http on the loopback)") }
        guard let key = try MailRole.codeKey(settings) else {
            throw Failure(
                "people.code_key_file: links in mails need it (web.public_url is set): make it with `openssl rand -out FILE 32`"
            )
        }
        return AccountRoutes.AccountMail(address: address, key: key)
    }

    /// Nil: none is set.
    package static func nodes(_ settings: Settings) throws -> SurveyNodeMap? {
        let file = settings.text("surveys.node_map_file")
        guard !file.isEmpty else { return nil }
        do { return try SurveyNodeMap(try Files.read(file)) } catch let fault as SurveyNodeMap.Fault {
            throw Failure("\(file), \(fault)")
        }
    }

    private static func certificate(_ settings: Settings) throws -> Certificate? {
        let (chain, key) = (settings.text("web.certificate"), settings.text("web.certificate_key"))
        guard chain.isEmpty == key.isEmpty else {
            throw Failure("web.certificate and web.certificate_key go together: set both or none")
        }
        return chain.isEmpty ? nil : Certificate(chain: try Files.read(chain), key: try Files.read(key))
    }
}
