internal import HTTPServer
internal import Presentation

/// Pages for everybody: no log-in, and no word about who is logged in.
struct PublicShell {
    static let footer: HTML = """
        <footer class="site foot"><nav aria-label="For everybody"><ul><li><a href="/trail-tours">Trail tours</a></li>\
        <li><a href="/about">About</a></li></ul></nav></footer>
        """

    let assets: AssetFiles

    /// - Parameter link: what the navigation has.
    func page(
        _ title: String, styles: [String] = [], scripts: [String] = [],
        link: (path: String, name: String) = ("/login", "Log in"),
        main: HTML
    ) -> Response {
        let links: [HTML] = (styles + ["pages.css"]).map { "<link rel=\"stylesheet\" href=\"\(assets.address($0))\">" }
        let loads: [HTML] = scripts.map { "<script defer src=\"\(assets.address($0))\"></script>" }
        let body: HTML = """
            <a class="skip" href="#main">To the content</a>
            <header class="site"><a class="name" href="/">Drover</a>
            <nav aria-label="Pages"><ul><li><a href="\(link.path)">\(link.name)</a></li></ul></nav>
            </header>
            <main id="main" tabindex="-1">
            \(main)
            </main>
            \(PublicShell.footer)
            """
        return .page(
            HTML.page(title: "Drover: \(title)", head: "\n\((links + loads).joined(separator: "\n"))", body: body),
            hasScripts: !scripts.isEmpty)
    }
}
