internal import Fleet
internal import Foundation

/// A mail as it goes to the server: header and text (RFC 5322, 2045, 2047). Pure.
struct MailMessage {
    /// Of the Message-ID's left side: the same each time the mail is sent, so that a mail that came twice can be told.
    let id: String
    /// Plain addresses.
    let from, to: String
    let subject: String
    let text: String
    let madeMs: Int64

    /// Longest line of text that goes as it is (RFC 5322, 2.1.1: 998 without the line end).
    private static let lineBytesMax = 900

    /// Nil: something in it would end a header. Nothing that is checked when it comes in gets this far.
    func bytes() -> [UInt8]? {
        guard MailAddress.isValid(from), MailAddress.isValid(to), VehicleID.isValid(id.utf8),
            !subject.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { return nil }
        let domain = from[from.index(after: from.firstIndex(of: "@")!)...]
        let lines = text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
        let isPlain = lines.allSatisfy { line in
            line.utf8.count <= MailMessage.lineBytesMax
                && line.utf8.allSatisfy { $0 == 0x09 || (0x20...0x7E).contains($0) }
        }
        let header = [
            "Date: \(MailMessage.date(madeMs))", "From: \(from)", "To: \(to)", "Subject: \(MailMessage.word(subject))",
            "Message-ID: <\(id)@\(domain)>", "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: \(isPlain ? "7bit" : "base64")",
            // No answers of absence to a machine (RFC 3834, 5).
            "Auto-Submitted: auto-generated",
        ]
        let body =
            isPlain
            ? lines.joined(separator: "\r\n")
            : Data(lines.joined(separator: "\r\n").utf8).base64EncodedString(
                options: [.lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed])
        return Array((header.joined(separator: "\r\n") + "\r\n\r\n" + body + "\r\n").utf8)
    }

    /// `Sat, 21 Nov 2026 23:06:52 +0000`
    static func date(_ ms: Int64) -> String {
        let days = UTC.day(of: ms) / UTC.msPerDay
        let date = UTC.civil(days: days)
        let seconds = (ms - days * UTC.msPerDay) / 1_000
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(((days % 7) + 7) % 7)]
        let clock = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map(UTC.two).joined(separator: ":")
        return "\(weekday), \(UTC.two(date.day)) \(months[Int(date.month) - 1]) \(date.year) \(clock) +0000"
    }

    /// ASCII as it is, anything else as encoded words of whole characters, at most 75 bytes each (RFC 2047, 2).
    static func word(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) && !text.contains("=?") && text.utf8.count <= 900 {
            return text
        }
        var (words, piece): ([String], [UInt8]) = ([], [])
        for character in text.unicodeScalars {
            let bytes = Array(String(character).utf8)
            if piece.count + bytes.count > 45 {
                words.append("=?utf-8?B?\(Data(piece).base64EncodedString())?=")
                piece = []
            }
            piece += bytes
        }
        words.append("=?utf-8?B?\(Data(piece).base64EncodedString())?=")
        return words.joined(separator: "\r\n ")
    }
}
