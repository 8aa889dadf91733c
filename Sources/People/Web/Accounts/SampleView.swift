internal import Fleet
internal import HTTPServer
internal import Presentation

/// A drawn face.
package struct SampleFace: Sendable {
    let isLong: Bool
    let hair, skin, top, ground: String

    init(_ isLong: Bool, _ hair: String, _ skin: String, _ top: String, _ ground: String) {
        (self.isLong, self.hair, self.skin, self.top, self.ground) = (isLong, hair, skin, top, ground)
    }

    /// - Parameter id: of the page's own.
    func html(_ id: String) -> HTML {
        let back: HTML = isLong ? "<path d=\"M12 40Q9 8 24 8T36 40Z\" fill=\"\(hair)\"/>" : ""
        let fringe =
            isLong
            ? "M15 22Q15 10 24 11T33 22Q30 15 23 16T15 22Z" : "M15 20Q14 9 24 9T33 20Q32 14 26 14.5T15 20Z"
        return """
            <svg class="face" width="48" height="48" viewBox="0 0 48 48" aria-hidden="true"><clipPath id="\(id)"><circle cx="24" cy="24" r="24"/></clipPath>\
            <g clip-path="url(#\(id))"><rect width="48" height="48" fill="\(ground)"/>\(back)<path d="M6 52Q8 36 24 36T42 52Z" fill="\(top)"/>\
            <rect x="20" y="28" width="8" height="11" rx="4" fill="\(skin)"/><ellipse cx="24" cy="22" rx="8.5" ry="10" fill="\(skin)"/>\
            <path d="\(fringe)" fill="\(hair)"/><circle cx="20.8" cy="22.5" r="1" fill="#2b211d"/><circle cx="27.2" cy="22.5" r="1" fill="#2b211d"/>\
            <path d="M21 27q3 2.4 6 0" fill="none" stroke="#8a4a3c" stroke-width="1.2" stroke-linecap="round"/></g></svg>
            """
    }
}

/// The page at `/sample`: everybody of the sample, one click each.
struct SampleView {
    let assets: AssetFiles
    let accounts: SampleAccounts

    private static var groups: [(name: String, roles: [Role])] {
        [
            (t("Fleet"), [.fleetManager, .driver, .analyst]), (t("Farm"), [.farmer, .dealer]),
            (t("Campus"), [.rider, .rideDriver, .dispatcher]), (t("Nature"), [.surveyor, .researcher, .ranger]),
            (t("Set up"), [.administrator]),
        ]
    }

    var response: Response {
        let sections: [HTML] = SampleView.groups.map { group in
            let people: [HTML] = accounts.people.filter { group.roles.contains($0.role) }.map(button)
            return """
                <section><h2>\(group.name)</h2><div class="roles">\(people.joined())</div></section>
                """
        }
        return PublicShell(assets: assets).page(
            t("Be anyone. One click."), link: ("/login", t("Sign in with your own account")),
            main: """
                <div class="demo">
                <h1>Be anyone. One click.</h1>
                <p class="lead">This is the sample: a post fleet, a farm and a campus in Helsinki. What you change stays in its own folder.</p>
                \(sections.joined(separator: "\n"))
                </div>
                """
        ).with("Cache-Control", "no-store")
    }

    private func button(_ person: SampleAccounts.Person) -> HTML {
        """
        <form method="post" action="/sample"><button class="role" name="account" value="\(person.account)">\(person.face.html("face-\(person.account)"))\
        <span class="grow"><b>\(person.role.title)</b><small>\(person.name) · \(person.line)</small></span>\
        \(HTML.icon(.right))</button></form>
        """
    }
}
