internal import Basics
internal import Codecs
package import Crypto
internal import Fleet
internal import Formats
package import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage

/// Codes and tokens of people: a code is mailed to the address on the roster, and handed in once for a token. Nothing
/// that is answered says who is on the roster. docs/campus-people.md.
package struct PersonCodeRoutes: Sendable {
    private static let bodyBytesMax = 10_000
    private static let deviceBytesMax = 100
    private static let codeDigits = 8

    private let site: CampusRoutes
    /// Nil: codes cannot be mailed.
    private let key: CodeKey?
    /// Settings without which no code is mailed, and which are not set.
    private let missing: [String]

    /// - Parameters:
    ///   - key: what codes are kept under; second factors need it, too, also where no mail goes out.
    ///   - hasMail: there is a mail server, which brings codes.
    package init(_ site: CampusRoutes, key: CodeKey?, hasMail: Bool) {
        missing = [key == nil ? "people.code_key_file" : nil, hasMail ? nil : "mail.server"].compactMap(\.self)
        self.site = site
        self.key = missing.isEmpty ? key : nil
    }

    /// Why there are none. Precondition: something is missing.
    var off: String {
        "This server mails no codes: \(missing.joined(separator: " and ")) \(missing.count == 1 ? "is" : "are") not set."
    }

    /// The same on pages.
    var offText: String {
        let names = missing.joined(separator: ", ")
        return t(
            missing.count, one: "This server mails no codes: \(names) is not set.",
            many: "This server mails no codes: \(names) are not set.")
    }

    package func add(to router: inout Router) {
        router.add("POST", "/v1/campuses/{campus}/codes") { self.askCode($0) }
        router.add("POST", "/v1/campuses/{campus}/tokens") { self.redeemCode($0) }
        router.add("DELETE", "/v1/campuses/{campus}/tokens/current") { self.endToken($0) }
    }

    private func askCode(_ request: Request) -> Response {
        withFields(request) { campus, person, fields, key in
            guard try mail(campus, person, key, for: .address(request.remote)) else { return tooMany }
            return .json(
                JSONValue.object([
                    ("detail", .text("If this id is on the roster, a code is on its way to its mail address.")),
                    ("code_expires_in_s", .integer(900)),
                ]).rendered(), status: 202)
        }
    }

    /// Mails a code, if there is such a person. False: too many were asked for.
    private func mail(_ campus: String, _ person: String, _ key: CodeKey, for asker: PersonStore.Asker) throws -> Bool {
        // Made and sealed for everybody, so that the time reveals nothing.
        let code = CodeKey.randomCode()
        return try site.pool.withConnection { connection in
            try PersonStore.askCode(
                campus: campus, person: person, digest: key.digest(code: code, campus: campus, person: person),
                mailID: "code-" + Hex.text(Secrets.random(16)), subject: "Your code",
                sealedBody: key.seal(Array(PersonCodeRoutes.text(code, campus).utf8)), asker: asker, on: connection)
        }
    }

    // MARK: For pages

    var isMailing: Bool { key != nil }

    /// The same for who is logged in. Precondition: codes are mailed.
    func mail(campus: String, person: String, for account: String) throws -> Bool {
        try mail(campus, person, key!, for: .account(account))
    }

    /// Binds the account that the connection reads as. Precondition: codes are mailed.
    func bind(
        campus: String, person: String, code: String, on connection: Connection
    ) throws -> PersonStore.Outcome {
        try PersonCodeRoutes.byEitherKey(key!, code, campus, person) { digest in
            try BoundPersonStore.bind(campus: campus, person: person, digest: digest, on: connection)
        }
    }

    /// A code that was mailed before the keys were changed is good, too. While there are two keys, a wrong one is two tries.
    private static func byEitherKey(
        _ key: CodeKey, _ code: String, _ campus: String, _ person: String,
        _ taken: ([UInt8]) throws -> PersonStore.Outcome
    ) throws -> PersonStore.Outcome {
        let outcome = try taken(key.digest(code: code, campus: campus, person: person))
        guard outcome == .wrong, let old = key.digestBefore(code: code, campus: campus, person: person) else {
            return outcome
        }
        return try taken(old)
    }

    private func redeemCode(_ request: Request) -> Response {
        withFields(request) { campus, person, fields, key in
            guard let code = fields["code"], PersonCodeRoutes.isCode(code) else {
                return .problem(422, type: "code", detail: "`code` must be the \(PersonCodeRoutes.codeDigits) digits.")
            }
            guard let device = fields["device"], (1...PersonCodeRoutes.deviceBytesMax).contains(device.utf8.count),
                device.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
            else {
                return .problem(
                    422, type: "device",
                    detail: "`device` must be what its owner calls it, 1 to \(PersonCodeRoutes.deviceBytesMax) bytes.")
            }
            let token = Token.random()
            let outcome = try site.pool.withConnection { connection in
                try PersonCodeRoutes.byEitherKey(key, code, campus, person) { digest in
                    try PersonStore.redeemCode(
                        campus: campus, person: person, digest: digest, token: token.digest, device: device,
                        asker: .address(request.remote), on: connection)
                }
            }
            switch outcome {
            case .taken: return .json(JSONValue.object([("token", .text(token.text))]).rendered(), status: 201)
            case .wrong:
                return .problem(
                    401, type: "code-wrong",
                    detail: "The code is wrong, was used, or is no longer good. Ask for a new one.")
            case .tooMany: return tooMany
            }
        }
    }

    static func isCode(_ text: String) -> Bool {
        text.utf8.count == codeDigits && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private func endToken(_ request: Request) -> Response {
        let token: Token
        switch Bearer.token(request) {
        case .success(let shown): token = shown
        case .failure(let refusal): return refusal.response
        }
        do {
            try site.pool.withConnection { try PersonStore.endToken(digest: token.digest, on: $0) }
            return Response(204, headers: [("Cache-Control", "no-store")])
        } catch {
            return site.databaseAway(error)
        }
    }

    /// Runs `body` with the fields that both requests need; else says which are missing.
    private func withFields(
        _ request: Request,
        _ body: (_ campus: String, _ person: String, _ fields: [String: String], _ key: CodeKey) throws -> Response
    ) -> Response {
        guard let key else {
            return .problem(503, type: "codes-off", detail: off)
        }
        guard let campus = request.parameters["campus"], VehicleID.isValid(campus.utf8) else {
            return .problem(404, type: "campus", detail: "A campus's id is 1 to 64 letters, digits, -, _ or .")
        }
        guard request.contentType == "application/json" else {
            return .problem(415, type: "content-type", detail: "This comes as application/json.")
        }
        var fields: [String: String] = [:]
        do throws(FlatJSON.Fault) {
            for (key, value) in try FlatJSON.fields(request.body, bytesMax: PersonCodeRoutes.bodyBytesMax) {
                if case .text(let text) = value { fields[key] = text }
            }
        } catch {
            return .problem(400, type: "json", detail: "\(error.description).")
        }
        guard let person = fields["id"], VehicleID.isValid(person.utf8) else {
            return .problem(422, type: "id", detail: "`id` must be 1 to 64 letters, digits, -, _ or .")
        }
        do {
            return try body(campus, person, fields, key).with("Cache-Control", "no-store")
        } catch {
            return site.databaseAway(error)
        }
    }

    private var tooMany: Response {
        .problem(429, type: "too-many", detail: "Too many codes were asked for or handed in. Try again later.")
            .with("Retry-After", "900")
    }

    private static func text(_ code: String, _ campus: String) -> String {
        """
        Your code for rides on \(campus): \(code)

        It is good once and for 15 minutes. If you did not ask for it, forget it: without it nobody gets in.

        """
    }
}
