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

    package func shown(_ response: Response, to request: Request) -> Response {
        // Only a browser that goes to an address asks for HTML; scripts of pages and programs do not.
        guard request.headers["accept"]?.lowercased().contains("text/html") == true else { return response }
        return response.then { response in
            guard let refusal = response.refusal else { return response }
            var page = PublicShell(assets: assets).page(
                refusal.title, link: ("/", "Home"),
                main: """
                    <div class="empty"><span class="ic">\(HTML.icon(RefusalView.icon(response.status)))</span><h1>\(refusal.title)</h1>
                    <p>\(refusal.detail)</p>
                    <div class="row"><a class="btn primary" href="/">Home</a></div></div>
                    """)
            page.status = response.status
            // Its other headers stay, such as Retry-After and Allow.
            let own = Set(page.headers.map { $0.name.lowercased() })
            page.headers += response.headers.filter { !own.contains($0.name.lowercased()) }
            return page.with("Vary", "Accept")
        }
    }
}
