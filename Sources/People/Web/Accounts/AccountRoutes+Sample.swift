internal import Crypto
internal import HTTPServer
internal import Storage

/// Log-ins of the sample's people, for who sits at the machine of `drover up --sample`.
extension AccountRoutes {
    func addSample(to router: inout Router) {
        router.add("GET", "/sample") { [self] request in
            guard let sample = sample(for: request) else { return AccountRoutes.nothingHere }
            return SampleView(assets: assets, accounts: sample).response
        }
        router.add("POST", "/sample") { [self] request in
            guard let sample = sample(for: request) else { return AccountRoutes.nothingHere }
            return form(request) { request, fields in
                guard let person = sample.person(fields["account"]) else { return AccountRoutes.nothingHere }
                return try enter(person, next: "", request) ?? AccountRoutes.nothingHere
            }
        }
    }

    /// Nil: for others there is no such address.
    func sample(for request: Request) -> SampleAccounts? { SampleAccounts.isAtHand(request) ? sample : nil }

    /// Nil: the account is disabled, or no longer the sample's.
    func enter(_ person: SampleAccounts.Person, next: String, _ request: Request) throws -> Response? {
        let session = Token.random()
        let isIn = try pool.withConnection {
            try PageSessionStore.logIn(
                issuer: SampleAccounts.issuer, subject: person.account, verifiedMail: nil, firstName: "", lastName: "",
                new: person.account, session: session.digest, agent: AccountRoutes.agent(request), on: $0)
        }
        guard isIn else { return nil }
        if try isHalf(session) { return toCode(session, next: next, isKept: false) }
        try noteLogIn(session, request, with: "sample")
        return Response.seeOther(next.isEmpty ? "/" : next).with("Set-Cookie", cookie.set(session, isKept: false))
            .with("Cache-Control", "no-store")
    }

    private static let nothingHere = Response.problem(
        404, type: "not-found", detail: "There is nothing at this address. Check its spelling.")
}
