package import HTTPServer
internal import Presentation
internal import Reports

/// Programs are refused with problem details. Whoever followed a link or sent a form gets a page that says the same.
package struct RefusalView: Sendable {
    private let assets: AssetFiles

    package init(assets: AssetFiles) { self.assets = assets }

    private static func icon(_ status: Int) -> IconName {
        [401, 403].contains(status) ? .lock : [404, 410].contains(status) ? .find : .warn
    }

    /// What happened, in words; nil: the refusal's own title says it.
    private static func title(_ status: Int) -> String? {
        switch status {
        case 400, 422: t("That does not fit")
        case 401: t("Log in first")
        case 403: t("You can’t do this")
        case 404, 410: t("Nothing here")
        case 409: t("Something changed meanwhile")
        case 413: t("Too large")
        case 429: t("Too many tries")
        case 503: t("Not right now")
        case _: nil
        }
    }

    /// Who can help; nil: nobody need.
    private static func help(_ status: Int) -> String? {
        switch status {
        case 403: t("Is it your job? An administrator of your Drover can give you the role.")
        case 404:
            t(
                "Followed a link from somebody? It may be of a vehicle or page that only they see. An administrator can tell."
            )
        case 409: t("Go back, reload the page and try again.")
        case 503: t("If it stays so, tell whoever runs Drover.")
        case _: nil
        }
    }

    /// The page of ours where the link or form was.
    static func back(_ request: Request) -> String? {
        guard let from = request.headers["referer"], let host = request.headers["host"],
            let own = ["https://", "http://"].map({ $0 + host }).first(where: from.hasPrefix)
        else { return nil }
        let path = AccountRoutes.next(String(from.dropFirst(own.count)))
        // A form is often sent to the address of its own page.
        return path.isEmpty || (path == request.path && request.method != "POST") ? nil : path
    }

    package func shown(_ response: Response, to request: Request) -> Response {
        // Only a browser that goes to an address asks for HTML; scripts of pages and programs do not.
        guard request.headers["accept"]?.lowercased().contains("text/html") == true else { return response }
        return response.thenPage { response in
            guard let refusal = response.refusal else { return response }
            let title = RefusalView.title(response.status) ?? refusal.title
            let help: HTML? = RefusalView.help(response.status).map { "<p class=\"soft\">\($0)</p>" }
            let back: HTML? = RefusalView.back(request).map { "<a class=\"btn primary\" href=\"\($0)\">Go back</a>" }
            var page = PublicShell(assets: assets).page(
                title, link: ("/", t("Home")),
                main: """
                    <div class="empty"><span class="ic">\(HTML.icon(RefusalView.icon(response.status)))</span><h1>\(title)</h1>
                    <p>\(refusal.detail)</p>\(help)
                    <div class="row">\(back)<a class="btn\(" primary", if: back == nil)" href="/">Home</a></div></div>
                    """)
            page.status = response.status
            // Its other headers stay, such as Retry-After and Allow.
            let own = Set(page.headers.map { $0.name.lowercased() })
            page.headers += response.headers.filter { !own.contains($0.name.lowercased()) }
            return page.with("Vary", "Accept")
        }
    }
}
