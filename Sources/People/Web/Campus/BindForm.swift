internal import Fleet
internal import HTTPServer
internal import Presentation
internal import Storage

/// The form that binds an account to a person on a campus's roster.
struct BindForm {
    let role: PersonRole
    var campus = ""
    var id = ""
    var notice: FormView.Notice?

    init(_ role: PersonRole) { self.role = role }

    /// Nil: the form is none of ours.
    init?(_ fields: FormFields) {
        guard let role = fields["role"].flatMap(PersonRole.init) else { return nil }
        self.role = role
        campus = String((fields["campus"] ?? "").filter { !$0.isWhitespace }.prefix(64))
        id = String((fields["id"] ?? "").filter { !$0.isWhitespace }.prefix(64))
    }

    var isWhole: Bool { VehicleID.isValid(campus.utf8) && VehicleID.isValid(id.utf8) }
}

/// An account is bound to a person of the roster once, by a code that is mailed to the roster's address: docs/campus-people.md.
extension CampusPageRoutes {
    func addBinding(to router: inout Router) {
        router.add("POST", "/campus-code") { request in
            access.form(request, for: CampusPageRoutes.people) { caller, fields, _ in
                guard var typed = BindForm(fields) else { return CampusPageRoutes.oldForm }
                guard typed.isWhole else { return again(caller, typed, CampusPageRoutes.idRule) }
                guard codes.isMailing else { return binding(caller, typed, status: 503) }
                guard try codes.mail(campus: typed.campus, person: typed.id, for: caller.account) else {
                    return again(caller, typed, CampusPageRoutes.tooMany, status: 429)
                }
                typed.notice = .done(
                    t(
                        "If this id is on the roster, a code is on its way to its mail address. It is good for 15 minutes."
                    ))
                return binding(caller, typed)
            }
        }
        router.add("POST", "/campus-bind") { request in
            access.form(request, for: CampusPageRoutes.people) { caller, fields, connection in
                guard let typed = BindForm(fields) else { return CampusPageRoutes.oldForm }
                guard typed.isWhole else { return again(caller, typed, CampusPageRoutes.idRule) }
                guard codes.isMailing else { return binding(caller, typed, status: 503) }
                let code = (fields["code"] ?? "").filter { !$0.isWhitespace }
                guard PersonCodeRoutes.isCode(code) else {
                    return again(caller, typed, t("The code has eight digits."))
                }
                switch try codes.bind(campus: typed.campus, person: typed.id, code: code, on: connection) {
                case .taken: break
                case .wrong:
                    return again(
                        caller, typed, t("The code is wrong, was used, or is no longer good. Ask for a new one."))
                case .tooMany: return again(caller, typed, CampusPageRoutes.tooMany, status: 429)
                }
                let bound = try BoundPersonStore.read(caller.account, key: caller.key, on: connection)
                    .first { ($0.campus, $0.id) == (typed.campus, typed.id) }
                // The roster has them as something that the account is not.
                guard let bound else {
                    return again(
                        caller, typed,
                        t(
                            "The code was right, but the roster does not have this id in the role \(typed.role.role.title), and this account lacks the role that it has there. Ask an administrator for that role."
                        ), status: 409)
                }
                return .seeOther(bound.role.page)
            }
        }
    }

    static let oldForm = Response.problem(
        422, type: "form", detail: "This form is not whole. Open the page again and send it from there.")
    private static var idRule: String { t("The campus and your id are 1 to 64 letters, digits, -, _ or . each.") }
    private static var tooMany: String { t("Too many codes. Wait 15 minutes, then try again.") }

    private func again(_ caller: PageCaller, _ typed: BindForm, _ why: String, status: Int = 422) -> Response {
        var typed = typed
        typed.notice = .fault(why)
        return binding(caller, typed, status: status)
    }

    /// Binds an account to its person.
    func binding(_ caller: PageCaller, _ typed: BindForm, status: Int = 200) -> Response {
        let role = typed.role.role.title
        var body: HTML =
            codes.isMailing
            ? "<p>Connect this account to you once, in the role <b>\(role)</b>. Your campus has your id and email on its roster; we mail a code there, and you type it here.</p>\n"
            : HTML.emptyState(
                .ride, t("Your campus has not added you yet"),
                .t("Ask its dispatcher to add you, then open this page again."),
                action: "<a class=\"btn\" href=\"\(typed.role.page)\">Try again</a>")
        if codes.isMailing {
            let hidden: [FormView.Field] = [
                .hidden(name: CSRFGuard.field, value: caller.mark), .hidden(name: "role", value: typed.role.rawValue),
            ]
            let who: [FormView.Field] = [
                .input(name: "campus", label: t("Campus"), type: "text", value: typed.campus, autocomplete: "off")
                    .help(t("Its short name, as your dispatcher calls it")),
                .input(name: "id", label: t("Your id"), type: "text", value: typed.id, autocomplete: "off"),
            ]
            body +=
                "<div class=\"grid\"><section class=\"card w6\"><header><h2>1. Get a code</h2></header><div class=\"body\">"
            body += FormView.form("/campus-code", hidden + who, t("Send code"), id: "ask")
            body +=
                "</div></section><section class=\"card w6\"><header><h2>2. Type the code</h2></header><div class=\"body\">"
            body += FormView.form(
                "/campus-bind",
                hidden + who + [
                    .input(
                        name: "code", label: t("Code"), type: "text", value: "", autocomplete: "one-time-code"
                    )
                    .help(t("The eight digits from the mail"))
                ],
                t("Join"), id: "bind")
            body += "</div></section></div>"
        } else {
            body +=
                "<details class=\"soft\"><summary>Details</summary><p>\(codes.offText)</p></details>"
        }
        var response = PageShell(caller: caller, assets: assets).page(
            t("Join your campus"), at: typed.role.page, heading: PageHeading(t("Join your campus")),
            main: FormView.said(typed.notice, body))
        response.status = status
        return response
    }
}
