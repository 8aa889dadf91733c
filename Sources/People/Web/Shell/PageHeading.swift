internal import Presentation

/// What the bar on top of a page says: its name, where it belongs, its state, and what can be done with it.
struct PageHeading {
    /// The page above this one.
    typealias Crumb = (name: String, path: String)

    let title: HTML
    var crumb: Crumb?
    /// After the title: a pill, a few words.
    var status: HTML = ""
    /// At the right end: buttons.
    var actions: HTML = ""
    /// The picker of what time is shown (`ShownTime.picker`).
    var range: HTML = ""

    init(_ title: HTML, crumb: Crumb? = nil, status: HTML = "", actions: HTML = "", range: HTML = "") {
        self.title = title
        self.crumb = crumb
        self.status = status
        self.actions = actions
        self.range = range
    }

    /// A plain name.
    init(_ title: String, crumb: Crumb? = nil, status: HTML = "", actions: HTML = "", range: HTML = "") {
        self.init(HTML(title), crumb: crumb, status: status, actions: actions, range: range)
    }
}
