internal import Crypto
package import Fleet
internal import HTTPServer
internal import Presentation

/// The people of `drover up --sample`. In the database their accounts have no password: only the program that made them lets them in,
/// and only who sits at its machine. Whoever serves a copy of that database lets nobody in as one of them.
package struct SampleAccounts: Sendable {
    /// An account that this program lets in.
    package struct Person: Sendable {
        package let account: String
        package let firstName, lastName: String
        package let role: Role
        /// What they have to do with the rest.
        package var line: String { SampleAccounts.cast.first { $0.account == account }?.line ?? "" }
        let face: SampleFace
        package let mail: String
        /// Of the password, which has 100 bits of chance: a fast digest is enough.
        let digest: [UInt8]

        package var name: String { "\(firstName) \(lastName)" }
    }

    /// Names the identities of these accounts (`drover.account_identity`); no provider of log-ins has such an address.
    package static let issuer = "urn:drover:sample"
    package static let mailHost = "sample.example"

    package let people: [Person]

    /// - Parameter passwords: by account; who has none is left out.
    package init(passwords: [String: String]) {
        people = SampleAccounts.cast.compactMap { one in
            passwords[one.account].map { password in
                Person(
                    account: one.account, firstName: one.firstName, lastName: one.lastName, role: one.role,
                    face: one.face, mail: SampleAccounts.mail(one.account),
                    digest: Secrets.digest(Array(password.utf8)))
            }
        }
    }

    package static func mail(_ account: String) -> String {
        String(account.dropFirst(prefix.count)) + "@" + mailHost
    }

    package static func randomPassword() -> String {
        // Without letters and digits that look alike.
        let letters = Array("abcdefghijkmnpqrstuvwxyz23456789")
        return (0..<4).map { _ in
            String((0..<5).map { _ in letters[Int(Secrets.random(below: UInt32(letters.count)))] })
        }.joined(separator: "-")
    }

    func person(_ account: String?) -> Person? { people.first { $0.account == account } }

    func person(mail: String, password: String) -> Person? {
        let digest = Secrets.digest(Array(password.utf8))
        // How long it takes tells of digests only, and these tell nothing of what is looked for.
        return people.first { $0.mail == mail.lowercased() && $0.digest == digest }
    }

    /// Asked for at this machine under its own name. What a proxy passes on comes from the loopback, too, but names another host or
    /// says for whom it asks; a page that has its name lead to the loopback names its own.
    static func isAtHand(_ request: Request) -> Bool {
        isLoopback(request.remote) && request.headers["host"].map { isLoopback(host($0)) } == true
            // A browser that came by another name says so with each form.
            && request.headers["origin"].map { isLoopback(host(withoutScheme($0))) } != false
            && !proxyHeaders.contains { request.headers[$0] != nil }
            // As nginx asks by itself, which names the loopback as host and says nothing of others. Browsers keep their connections.
            && request.headers["connection"]?.lowercased().contains("close") != true
    }

    private static func withoutScheme(_ origin: String) -> String {
        for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
            return String(origin.dropFirst(scheme.count))
        }
        return origin
    }

    private static let proxyHeaders = [
        "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-server",
        "x-real-ip",
        "cf-connecting-ip", "true-client-ip",
    ]

    package static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Without the port.
    private static func host(_ text: String) -> String {
        if text.hasPrefix("[") { return String(text.dropFirst().prefix { $0 != "]" }) }
        return String(text.prefix { $0 != ":" }).lowercased()
    }
}

extension SampleAccounts {
    package struct Part: Sendable {
        package let account, firstName, lastName: String
        package let role: Role
        let line: String
        let face: SampleFace
    }

    package static let prefix = "sample-"

    /// Everybody who can be logged in as, in the order of the page.
    package static var cast: [Part] {
        [
            part(
                "mia", "Mia", "Korhonen", .fleetManager, t("All vehicles, alerts, reports"),
                .init(true, "#5a3a26", "#f3d2b8", "#1d56c9", "#dbe7fb")),
            part(
                "jari", "Jari", "Virta", .driver, t("Post van 7, own trips"),
                .init(false, "#1f1b1c", "#c98f68", "#3f6fd0", "#dbe7fb")),
            part(
                "ana", "Ana", "Lind", .analyst, t("Queries and reports"),
                .init(true, "#1f1b1c", "#e8bd9c", "#c2683a", "#fae6d8")),
            part(
                "fred", "Fred", "Farmer", .farmer, t("The farm’s machines"),
                .init(false, "#8a8f96", "#f0c9ab", "#5f7a3c", "#e6efdc")),
            part(
                "dealer", "Green", "Dealer", .dealer, t("Machines of its customers"),
                .init(false, "#3a2a20", "#e8bd9c", "#2f8f78", "#dcf1ea")),
            part(
                "aino", "Aino", "Lehtinen", .rider, t("Ask for a ride"),
                .init(true, "#5a3a26", "#f0c9ab", "#8b5cc7", "#ece3f8")),
            part(
                "nea", "Nea", "Koski", .rideDriver, t("Shuttle 2, next stop"),
                .init(true, "#d8b06a", "#f3d2b8", "#2f8f78", "#dcf1ea")),
            part(
                "henrik", "Henrik", "Dahl", .dispatcher, t("Who takes whom, and why"),
                .init(false, "#c79a52", "#f3d2b8", "#4c5a6e", "#e6eaf0")),
            part(
                "sanna", "Sanna", "Vuori", .surveyor, t("Walk and count"),
                .init(true, "#7a5230", "#f3d2b8", "#2f8f78", "#dcf1ea")),
            part(
                "elina", "Elina", "Berg", .researcher, t("Surveys and sightings"),
                .init(true, "#c79a52", "#f3d2b8", "#8b5cc7", "#ece3f8")),
            part(
                "petri", "Petri", "Hill", .ranger, t("Make a trail tour"),
                .init(false, "#7a5230", "#f0c9ab", "#5f7a3c", "#e6efdc")),
            part(
                "riikka", "Riikka", "Salmi", .administrator, t("People, rules, settings"),
                .init(true, "#a35a34", "#f0c9ab", "#4c5a6e", "#e6eaf0")),
        ]
    }

    private static func part(
        _ id: String, _ first: String, _ last: String, _ role: Role, _ line: String, _ face: SampleFace
    ) -> Part {
        Part(account: prefix + id, firstName: first, lastName: last, role: role, line: line, face: face)
    }
}
