internal import Crypto
internal import Presentation
internal import Storage

/// The pages of second factors, as HTML.
enum SecondFactorView {
    private static let code = FormView.Field.input(
        name: "code", label: "Code that your phone shows now, or a recovery code", type: "text", value: "",
        autocomplete: "one-time-code")

    static func code(next: String, isKept: Bool, notice: FormView.Notice? = nil) -> HTML {
        FormView.page(
            "The code", notice,
            FormView.form(
                "/login/code",
                [.hidden(name: "next", value: next), .hidden(name: "keep", value: isKept ? "1" : ""), code], "Go on")
                + "<p>Phone lost? A recovery code lets you in once. Without one, ask who runs Drover.</p>\n<p><a href=\"/login\">Log in as somebody else</a></p>"
        )
    }

    static func own(
        _ holder: AccountHolder, _ state: SecondFactorStore.State, isAsked: Bool, mark: String,
        notice: FormView.Notice?
    ) -> HTML {
        let hidden = FormView.Field.hidden(name: CSRFGuard.field, value: mark)
        let password: [FormView.Field] =
            state.hasPassword
            ? [
                .input(
                    name: "old", label: "Your password", type: "password", value: "", autocomplete: "current-password")
            ] : []
        func form(_ action: String, _ button: String, _ fields: [FormView.Field]) -> HTML {
            FormView.form("/account/second-factor/\(action)", [hidden] + password + fields, button, id: action)
        }
        let forms: HTML =
            state.isOn
            ? "<p>It is on: each log-in asks for a code. Recovery codes left: \(state.codesLeft).</p>\n<h2>New recovery codes</h2>\n"
                + form("codes", "Make ten new ones", [code])
                + "<h2>Another phone</h2>\n" + form("begin", "Show a new secret", [code])
                + (isAsked ? "" : "<h2>No second factor any more</h2>\n" + form("remove", "Switch it off", [code]))
            : "<p>With it a log-in asks for a code of your phone beside the password, so that the password alone opens nothing. You need a program for such codes, as most phones have.</p>\n"
                + form("begin", "Set it up", [])
        return FormView.page(
            "Second factor", notice,
            (isAsked && !state.isOn
                ? "<p class=\"warning\">Your role needs a second factor. Set it up to go on.</p>\n" : "") + forms
                + (isAsked && !state.isOn ? "" : "<p><a href=\"/account\">Your account</a></p>\n")
                + "<form method=\"post\" action=\"/logout\">\(FormView.hidden(CSRFGuard.field, mark))<button>Log out</button></form>"
        )
    }

    /// To scan, type or follow; active once a code of it was entered.
    /// - Parameter script: the address of what draws the link as a picture, in the browser.
    static func secret(
        _ secret: [UInt8], account: String, mark: String, script: String, notice: FormView.Notice?
    ) -> HTML {
        let text = Array(Base32.text(secret))
        let groups = stride(from: 0, to: text.count, by: 4).map { String(text[$0..<min($0 + 4, text.count)]) }
        let address = OneTimeCode.address(secret, account: account, issuer: "Drover")
        return FormView.page(
            "Second factor: your secret", notice,
            """
            <div id="qr" hidden><p>Let your program for codes scan this:</p>
            <canvas role="img" aria-label="QR code of your secret"></canvas>
            <p>Where it cannot, give it the secret by hand.</p></div>
            <ol>
            <li>Give your program for codes this secret: <code>\(groups.joined(separator: " "))</code><br>
            On the phone itself: <a id="otpauth" href="\(address)">open it there</a>. Kind: by time, SHA-1, six digits, 30 s.</li>
            <li>Type the code that it shows.</li>
            </ol>

            """
                + FormView.form(
                    "/account/second-factor/confirm",
                    [
                        .hidden(name: CSRFGuard.field, value: mark),
                        .input(
                            name: "code", label: "Code that it shows now", type: "text", value: "",
                            autocomplete: "one-time-code"),
                    ], "Switch it on and log out everywhere else")
                + "<p><a href=\"/account/second-factor\">Not now</a></p>",
            head: "\n<script type=\"module\" src=\"\(script)\"></script>")
    }

    /// Shown once.
    static func codes(_ codes: [String], isNew: Bool) -> HTML {
        FormView.page(
            "Recovery codes", .done(isNew ? "The second factor is on." : "Those from before are no longer good."),
            "<p>Write these down and keep them away from the phone. Each lets you in once without it. They are not shown again.</p>\n<ul>\n"
                + codes.map { "<li><code>\($0)</code></li>" }.joined(separator: "\n")
                + "\n</ul>\n<p><a href=\"/\">Go on</a></p>")
    }
}
