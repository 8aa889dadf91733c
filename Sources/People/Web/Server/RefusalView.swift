package import HTTPServer
internal import Presentation
internal import Reports

/// Programs are refused with problem details. Whoever followed a link or sent a form gets a page that says the same.
package struct RefusalView: Sendable {
    private let assets: AssetFiles

    package init(assets: AssetFiles) { self.assets = assets }

    package func shown(_ response: Response, to request: Request) -> Response {
        // Only a browser that goes to an address asks for HTML; scripts of pages and programs do not.
        guard request.headers["accept"]?.lowercased().contains("text/html") == true else { return response }
        return response.then { response in
            guard let refusal = response.refusal else { return response }
            var page = PublicShell(assets: assets).page(
                refusal.title, link: ("/", "First page"),
                main: """
                    <h1>\(refusal.title)</h1>
                    <p>\(refusal.detail)</p>
                    <p>Go back to where you came from, or to the <a href="/">first page</a>.</p>
                    """)
            page.status = response.status
            // Its other headers stay, such as Retry-After and Allow.
            let own = Set(page.headers.map { $0.name.lowercased() })
            page.headers += response.headers.filter { !own.contains($0.name.lowercased()) }
            return page.with("Vary", "Accept")
        }
    }
}
