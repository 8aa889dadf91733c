internal import Storage

/// The mail that brings a report: HTML in the mail itself, everything else beside it. Pure.
struct ReportMail {
    /// The limits of `drover.mail` and `drover.mail_file` (Queries/schema.sql).
    private static let (textMax, htmlMax, fileMax) = (900_000, 4_000_000, 25_000_000)
    private static let keptMs: Int64 = 7 * 86_400_000

    let title: String
    /// The report as text for readers without HTML, or the list of changes.
    let text: String
    let name, mediaType: String
    let bytes: [UInt8]
    let isHTML: Bool
    /// The address of the page; empty: there is none.
    let address: String

    func mail(to recipient: ReportRunStore.Recipient, nowMs: Int64) -> NewMail {
        let fits = bytes.count <= ReportMail.fileMax
        let inside = isHTML && bytes.count <= ReportMail.htmlMax
        let words = [
            inside && text.utf8.count <= ReportMail.textMax ? text : "\(title)\n",
            inside ? "" : fits ? "It is in the file \(name) beside this mail." : "It is too large for a mail.",
            address.isEmpty ? "" : "All runs, and how to end this: \(address)/reports/schedules",
        ]
        var mail = NewMail(
            id: recipient.mailID, recipient: recipient.mail, subject: title,
            body: Array((words.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n").utf8),
            expiresMs: nowMs + ReportMail.keptMs)
        mail.refersTo = recipient.before
        if inside {
            mail.html = bytes
        } else if fits {
            let type = mediaType.split(separator: ";").first.map(String.init) ?? mediaType
            mail.files = [MailFile(name: String(name.prefix(120)), mediaType: type, content: bytes)]
        }
        return mail
    }
}
