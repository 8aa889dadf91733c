internal import Presentation

extension HTML {
    /// An icon of `Assets/icons.svg`, in the ink of the text beside it. It is decoration: a word stands beside it or in an `aria-label`.
    static func icon(_ name: IconName) -> HTML {
        "<svg class=\"i\" aria-hidden=\"true\"><use href=\"/assets/icons.svg#\(name.rawValue)\"/></svg>"
    }
}
