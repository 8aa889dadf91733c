import Clients
import Delivery
import Testing

struct MailMessageTests {
    private func mail(to: String = "ada@campus.example", subject: String = "Your code", text: String = "12345678\n")
        -> String?
    {
        MailMessage(
            id: "m-1", from: "rides@campus.example", to: to, subject: subject, text: text, madeMs: 1_795_302_412_000
        ).bytes().map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("A plain mail, to the byte") func plain() {
        #expect(
            mail()
                == [
                    "Date: Sat, 21 Nov 2026 23:06:52 +0000", "From: rides@campus.example", "To: ada@campus.example",
                    "Subject: Your code", "Message-ID: <m-1@campus.example>", "MIME-Version: 1.0",
                    "Auto-Submitted: auto-generated", "Content-Type: text/plain; charset=utf-8",
                    "Content-Transfer-Encoding: 7bit", "", "12345678", "", "",
                ].joined(separator: "\r\n"))
    }

    @Test("Other letters and long lines go as base64, in lines of 76") func base64() {
        // `printf 'J\303\266rg' | base64`
        #expect(mail(text: "Jörg")?.hasSuffix("Content-Transfer-Encoding: base64\r\n\r\nSsO2cmc=\r\n") == true)
        let long = mail(text: String(repeating: "x", count: 2_000))!
        #expect(long.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 76 })
        // `printf 'Caf\303\251' | base64`
        #expect(mail(subject: "Café")?.contains("Subject: =?utf-8?B?Q2Fmw6k=?=\r\n") == true)
        let subject = mail(subject: String(repeating: "é", count: 100))!
        #expect(subject.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 85 })
    }

    @Test(
        "What would end a header makes no mail",
        arguments: [
            "a@b.example\r\nBcc: c@d.example", "a@b.example>", "a b@c.example", "", "a@b", "é@b.example",
            "a@b.example,c@d.example",
        ])
    func injected(to: String) { #expect(mail(to: to) == nil) }

    @Test("Nor does a subject of two lines", arguments: ["a\r\nBcc: c@d.example", "a\nb", "a\u{0}b"])
    func injected(subject: String) { #expect(mail(subject: subject) == nil) }

    @Test(
        "Days of the week",
        arguments: [(0, "Thu, 01 Jan 1970"), (951_782_400_000, "Tue, 29 Feb 2000")] as [(Int64, String)])
    func dates(ms: Int64, expected: String) { #expect(MailMessage.date(ms) == expected + " 00:00:00 +0000") }

    @Test(
        "Mail servers",
        arguments: [
            ("smtp://mail.example:25", true), ("smtps://mail.example", true), ("smtp://[::1]:2525", true),
            ("smtp://10.0.0.1:587", true), ("http://mail.example", false), ("smtp://", false), ("smtp://a:0", false),
            ("smtp://a:70000", false), ("smtp://user@a", false), ("smtp://a/b", false), ("smtp://a\r\nb", false),
            ("mail.example:25", false), ("smtp://-a", false),
        ]) func servers(text: String, isGood: Bool)
    { #expect(((try? MailServer(text)) != nil) == isGood) }

    @Test("Only this machine may speak plain SMTP") func loopback() throws {
        for (text, isLoopback) in [
            ("smtp://127.0.0.1:25", true), ("smtp://localhost", true), ("smtp://[::1]:25", true),
            ("smtp://10.0.0.1", false), ("smtp://localhost.example", false), ("smtp://127.campus.example", false),
            ("smtp://1270.example", false),
        ] { #expect(try MailServer(text).isLoopback == isLoopback, "\(text)") }
    }
}
