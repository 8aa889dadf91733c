internal import Basics
internal import Fleet
internal import Foundation

/// A mail as it goes to the server: header and text, with HTML and files where there are some (RFC 5322, 2045 to 2047). Pure.
package struct MailMessage {
    /// A file that goes with it.
    struct File {
        let name, mediaType: String
        let content: [UInt8]
    }

    /// The left side of the Message-ID: the same at each attempt, so that a duplicate mail can be recognized.
    let id: String
    /// Plain addresses.
    let from, to: String
    let subject: String
    let text: String
    let madeMs: Int64
    /// The text once more, for who reads HTML.
    var html: String?
    var files: [File] = []
    /// The ids of mails that it belongs to, oldest first: mail programs show them together.
    var refersTo: [String] = []
    /// The address for one-click unsubscription (RFC 2369, RFC 8058).
    var leaveURL: String?

    package init(id: String, from: String, to: String, subject: String, text: String, madeMs: Int64) {
        self.id = id
        self.from = from
        self.to = to
        self.subject = subject
        self.text = text
        self.madeMs = madeMs
    }

    /// Longest line of text that goes as it is (RFC 5322, 2.1.1: 998 without the line end).
    private static let lineBytesMax = 900

    /// Nil: something in it would end a header. Nothing that is checked when it comes in gets this far.
    package func bytes() -> [UInt8]? {
        guard MailAddress.isValid(from), MailAddress.isValid(to),
            ([id] + refersTo).allSatisfy({ VehicleID.isValid($0.utf8) }),
            !subject.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }),
            leaveURL.map({ $0.utf8.count <= 900 && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x3E } })
                ?? true,
            files.allSatisfy({ MailMessage.isToken($0.name + $0.mediaType) })
        else { return nil }
        let domain = from[from.index(after: from.firstIndex(of: "@")!)...]
        let names = refersTo.map { "<\($0)@\(domain)>" }
        let header =
            [
                "Date: \(MailMessage.date(madeMs))", "From: \(from)", "To: \(to)",
                "Subject: \(MailMessage.word(subject))", "Message-ID: <\(id)@\(domain)>",
            ]
            + (names.last.map { ["In-Reply-To: \($0)", "References: \(names.joined(separator: "\r\n "))"] } ?? [])
            + (leaveURL.map { ["List-Unsubscribe: <\($0)>", "List-Unsubscribe-Post: List-Unsubscribe=One-Click"] } ?? [])
            // No answers of absence to a machine (RFC 3834, 5).
            + ["MIME-Version: 1.0", "Auto-Submitted: auto-generated"]
        return Array((header.joined(separator: "\r\n") + "\r\n").utf8) + content()
    }

    /// Headers of the content, an empty line and the content.
    private func content() -> [UInt8] {
        let text = MailMessage.part(text, "text/plain; charset=utf-8")
        let shown =
            html.map { html in
                MailMessage.multipart(
                    "alternative", boundary: "=_a_\(id)", [text, MailMessage.part(html, "text/html; charset=utf-8")])
            } ?? text
        guard !files.isEmpty else { return shown }
        let files = files.map { file in
            Array(
                ("Content-Type: \(file.mediaType)\r\nContent-Transfer-Encoding: base64\r\n"
                    + "Content-Disposition: attachment; filename=\"\(file.name)\"\r\n\r\n").utf8)
                + MailMessage.base64(file.content)
        }
        return MailMessage.multipart("mixed", boundary: "=_m_\(id)", [shown] + files)
    }

    /// Boundaries contain `=_`, which occurs in no line of base64, and plain text has none of them at the beginning of a line (below).
    private static func multipart(_ kind: String, boundary: String, _ parts: [[UInt8]]) -> [UInt8] {
        var bytes = Array("Content-Type: multipart/\(kind); boundary=\"\(boundary)\"\r\n\r\n".utf8)
        for part in parts { bytes += Array("--\(boundary)\r\n".utf8) + part }
        return bytes + Array("--\(boundary)--\r\n".utf8)
    }

    private static func part(_ text: String, _ type: String) -> [UInt8] {
        let lines = text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
        let isPlain = lines.allSatisfy { line in
            line.utf8.count <= lineBytesMax && !line.hasPrefix("--=_")
                && line.utf8.allSatisfy { $0 == 0x09 || (0x20...0x7E).contains($0) }
        }
        let whole = lines.joined(separator: "\r\n")
        return Array("Content-Type: \(type)\r\nContent-Transfer-Encoding: \(isPlain ? "7bit" : "base64")\r\n\r\n".utf8)
            + (isPlain ? Array((whole + "\r\n").utf8) : base64(Array(whole.utf8)))
    }

    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
        Array(
            Data(bytes).base64EncodedData(
                options: [.lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed]))
            + [0x0D, 0x0A]
    }

    private static func isToken(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }

    /// `Sat, 21 Nov 2026 23:06:52 +0000`
    package static func date(_ ms: Int64) -> String {
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
