internal import HTTPServer
package import Ingest
package import Reports
package import Settings
package import Telemetry
package import Web

/// The endpoints of riders' and ride drivers' apps, on a listener of their own that lets in apps with a certificate only.
package struct AppsRole {
    /// They do not wait for the broker or for decisions; what they wait for is PostgreSQL.
    private static let threads = 8
    /// A photo, and what is around it.
    private static let bodyBytesMax = 600_000

    private let settings: Settings
    private let log: Log
    private let server: Server

    /// Nil: `apps.port` is not set.
    package init?(_ settings: Settings, site: CampusRoutes, assets: AssetFiles, log: Log) throws {
        guard let port = try AppsRole.port(settings) else { return nil }
        self.settings = settings
        self.log = log
        let (certificate, clients) = try AppsRole.certificates(settings)
        let codeKey = try MailRole.codeKey(settings)
        var router = site.router()
        PersonCodeRoutes(site, key: codeKey, hasMail: MailRole.isSet(settings)).add(to: &router)
        assets.addDescription(to: &router)
        let routes = router
        let lines = Throttle(periodMs: 30_000)
        var limits = Limits()
        limits.receiveMs = Int(settings.integer("web.receive_s")) * 1_000
        limits.bodyBytesMax = AppsRole.bodyBytesMax
        limits.connectionsMax = 4_000
        // All of a campus may come through one address.
        limits.connectionsPerAddressMax = 2_000
        server = try Server(
            host: settings.text("apps.host"), port: port, threads: AppsRole.threads, limits: limits,
            certificate: certificate, clients: clients, admit: { site.admit($0) },
            refused: { why, address in
                guard let more = lines.pass(why) else { return }
                log.warning(
                    "an app's certificate was refused",
                    ["why": "\(why)", "address": "\(address)", "repeated": "\(more)"])
            }
        ) { routes.route($0) }
    }

    package var address: String { "https://\(settings.text("apps.host")):\(server.port)/v1/campuses/" }

    /// Reads the certificate, the authority and the revoked ones again; when that fails all stay as they are.
    func renewCertificates() {
        do {
            let (certificate, clients) = try AppsRole.certificates(settings)
            try server.renew(certificate, clients: clients)
            log.info("the certificates for apps were read again")
        } catch {
            log.error("the certificates for apps were not renewed; the old ones stay in use", ["error": "\(error)"])
        }
    }

    package func stop() { server.stop() }

    /// The routes of apps and pages of campuses, wired from settings.
    package static func campuses(
        _ settings: Settings, queries: ReportQueries, uploads: UploadSender, access: AccessControl, log: Log
    ) throws -> CampusRoutes {
        let conninfo = settings.readerConninfo
        return CampusRoutes(
            conninfo: conninfo, queries: queries, uploads: uploads,
            addresses: try settings.geocoder().map { AddressLookup($0, conninfo: conninfo, log: log) },
            ways: try settings.pickupMeasurer(conninfo: conninfo),
            answerWaitMs: settings.integer("apps.answer_wait_ms"),
            access: access, log: log)
    }

    /// Whether the settings hold together and their files can be read.
    package static func check(_ settings: Settings) throws -> String {
        guard try port(settings) != nil else { return "not served" }
        _ = try certificates(settings)
        let isRevoking = !settings.text("apps.client_revoked").isEmpty
        return "served to those of \(settings.text("apps.client_authority"))"
            + (isRevoking ? " that are not revoked" : "; none is revoked")
    }

    private static func port(_ settings: Settings) throws -> UInt16? {
        let text = settings.text("apps.port")
        guard !text.isEmpty else { return nil }
        guard let port = UInt16(text) else {
            throw Failure("apps.port: is `\(text)`, must be 0 to 65535 (0: any free one), or empty for none")
        }
        return port
    }

    private static func certificates(_ settings: Settings) throws -> (Certificate, ClientAuthority) {
        let (chain, key) = (settings.text("apps.certificate"), settings.text("apps.key"))
        guard !chain.isEmpty, !key.isEmpty else {
            throw Failure(
                "apps.certificate and apps.key: name both, or leave apps.port empty: apps are served over TLS only")
        }
        let (authority, revoked) = (settings.text("apps.client_authority"), settings.text("apps.client_revoked"))
        guard !authority.isEmpty else {
            throw Failure(
                "apps.client_authority: name the PEM file of the authority that signs apps' certificates, or leave apps.port "
                    + "empty: without it anybody could ask")
        }
        return (
            Certificate(chain: try Files.read(chain), key: try Files.read(key)),
            ClientAuthority(
                authorities: try Files.read(authority), revoked: revoked.isEmpty ? nil : try Files.read(revoked))
        )
    }
}
