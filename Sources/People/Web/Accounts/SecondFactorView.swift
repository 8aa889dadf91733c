internal import Crypto
internal import Presentation
internal import Storage

/// The pages of second factors, as HTML.
enum SecondFactorView {
    private static var code: FormView.Field {
        FormView.Field.input(
            name: "code", label: t("Code"), type: "text", value: "", autocomplete: "one-time-code"
        ).help(t("From your authenticator app, or a recovery code"))
    }

    static func code(next: String, isKept: Bool, notice: FormView.Notice? = nil) -> HTML {
        FormView.page(
            t("Check it’s you"), notice,
            FormView.form(
                "/login/code",
                [.hidden(name: "next", value: next), .hidden(name: "keep", value: isKept ? "1" : ""), code],
                t("Continue"))
                + "<p class=\"soft\">Lost your phone? A recovery code lets you in once. Without one, ask an administrator.</p>\n<p><a href=\"/login\">Log in as somebody else</a></p>",
            isEntrance: true
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
                    name: "old", label: t("Password"), type: "password", value: "", autocomplete: "current-password")
            ] : []
        func form(_ action: String, _ button: String, _ fields: [FormView.Field]) -> HTML {
            FormView.form("/account/second-factor/\(action)", [hidden] + password + fields, button, id: action)
        }
        let forms: HTML =
            state.isOn
            ? "<p>\(HTML.pill("ok", t("On"))) Each log-in asks for a code. Recovery codes left: \(state.codesLeft).</p>\n<h2>New recovery codes</h2>\n"
                + form("codes", t("Create ten codes"), [code])
                + "<h2>Another phone</h2>\n" + form("begin", t("Show a new secret"), [code])
                + (isAsked ? "" : "<h2>Switch off</h2>\n" + form("remove", t("Switch off"), [code]))
            : "<p>Each log-in then asks for your password and a code from your phone. You need an authenticator app.</p>\n"
                + form("begin", t("Set up"), [])
        return FormView.page(
            t("Two-step log-in"), notice,
            (isAsked && !state.isOn
                ? "<p class=\"strip warning\"><span>Your role needs two-step log-in. Set it up to continue.</span></p>\n"
                : "") + forms
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
            t("Set up your phone"), notice,
            """
            <div id="qr" hidden><p>Scan this with your authenticator app:</p>
            <canvas role="img" aria-label="QR code of your secret"></canvas>
            <p>Or type the secret by hand.</p></div>
            <ol>
            <li>Type this secret into your authenticator app: <code>\(groups.joined(separator: " "))</code><br>
            On your phone: <a id="otpauth" href="\(address)">open it there</a>. Time-based, SHA-1, 6 digits, 30 s.</li>
            <li>Type the code it shows.</li>
            </ol>

            """
                + FormView.form(
                    "/account/second-factor/confirm",
                    [
                        .hidden(name: CSRFGuard.field, value: mark),
                        .input(
                            name: "code", label: t("Code"), type: "text", value: "",
                            autocomplete: "one-time-code"),
                    ], t("Switch on and log out elsewhere"))
                + "<p><a href=\"/account/second-factor\">Not now</a></p>",
            // Its policy lets no picture be fetched.
            head: "\n<script type=\"module\" src=\"\(script)\"></script>", icon: "data:,")
    }

    /// Shown once.
    static func codes(_ codes: [String], isNew: Bool) -> HTML {
        FormView.page(
            t("Recovery codes"), .done(isNew ? t("Two-step log-in is on.") : t("The old codes no longer work.")),
            "<p>Keep these somewhere safe, away from your phone. Each lets you in once without it. They are not shown again.</p>\n<ul>\n"
                + codes.map { "<li><code>\($0)</code></li>" }.joined(separator: "\n")
                + "\n</ul>\n<p><a class=\"btn primary\" href=\"/\">Continue</a></p>")
    }
}
