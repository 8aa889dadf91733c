internal import Basics

/// Parts of addresses that pages and mails link to.
package enum URLText {
    /// A segment of a path, or a name or value of its query.
    package static func escaped(_ text: String) -> String { PercentEncoding.text(text) }
}
