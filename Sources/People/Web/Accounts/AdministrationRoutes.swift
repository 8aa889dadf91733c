internal import Fleet
package import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage
internal import Telemetry

/// Administrators' pages: people and fleets.
package struct AdministrationRoutes: Sendable {
    private let access: AccessControl
    private let assets: AssetFiles
    let accountMail: AccountRoutes.AccountMail?

    /// - Parameter accountMail: nil: no mail can be sent; administrators hand over the links of those they invite.
    package init(access: AccessControl, assets: AssetFiles, accountMail: AccountRoutes.AccountMail?) {
        (self.access, self.assets, self.accountMail) = (access, assets, accountMail)
    }

    package func add(to router: inout Router) {
        router.add("GET", "/administration") { request in
            access.page(request, for: [.administrator]) { caller, connection in
                try overview(
                    caller, nil, asked: String((request.query["q"] ?? "").prefix(100)),
                    inviting: request.query["invite"].map { _ in Invitation() }, connection)
            }
        }
        router.add("POST", "/administration/invite") { form($0, invite) }
        router.add("GET", "/administration/people/{account}") { request in
            access.page(request, for: [.administrator]) { caller, connection in
                try person(request.parameters["account"]!, caller, nil, connection)
            }
        }
        router.add("POST", "/administration/people/{account}/fleets") { form($0, changeFleets) }
        router.add("POST", "/administration/account") { form($0, changeAccount) }
        router.add("GET", "/administration/fleets/{fleet}") { request in
            access.page(request, for: [.administrator]) { caller, connection in
                try fleet(request.parameters["fleet"]!, caller, nil, asked: FleetAsked(request), connection)
            }
        }
        router.add("POST", "/administration/fleet") { form($0, putFleet) }
        router.add("POST", "/administration/fleets/{fleet}/vehicles") { form($0, changeVehicles) }
        router.add("POST", "/administration/fleets/{fleet}/people") { form($0, changeMembers) }
    }

    private func form(
        _ request: Request, _ body: (Request, PageCaller, FormFields, Connection) throws -> Response
    ) -> Response {
        access.form(request, for: [.administrator]) { try body(request, $0, $1, $2) }
    }

    // MARK: Pages

    /// - Parameters:
    ///   - asked: whom to list.
    ///   - inviting: the form of an invitation, as it was typed.
    ///   - handed: a link to hand over.
    func overview(
        _ caller: PageCaller, _ notice: FormView.Notice?, asked: String = "", inviting: Invitation? = nil,
        handed: String? = nil, _ connection: Connection, status: Int = 200
    ) throws -> Response {
        let fleets = try AdministrationStore.fleets(on: connection)
        let link: HTML = handed.map(InvitationView.link) ?? ""
        let form: HTML =
            inviting.map { InvitationView.html($0, fleets, mark: caller.mark, hasMail: accountMail != nil) } ?? ""
        return shown(
            t("People"), heading: AdministrationView.heading, caller,
            AdministrationView.html(
                try AdministrationStore.accounts(on: connection), fleets, asked, caller, nowMs: Clock.nowMs(),
                notice: notice, top: link + form), scripts: handed == nil ? [] : ["copy.js"], status: status)
    }

    func shown(
        _ title: String, heading: PageHeading, _ caller: PageCaller, _ main: HTML, scripts: [String] = [], status: Int
    ) -> Response {
        var response = PageShell(caller: caller, assets: assets).page(
            title, at: "/administration", heading: heading, scripts: scripts, main: main)
        response.status = status
        return response
    }
}
