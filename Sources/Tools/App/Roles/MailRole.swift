internal import Clients
package import Crypto
package import Delivery
internal import Fleet
package import Settings
package import Telemetry

/// Mail, wired from settings.
package enum MailRole {
    /// Nil: no mail server is set, so no mail goes out.
    package static func relay(_ settings: Settings, log: Log) throws -> MailRelay? {
        let address = settings.text("mail.server")
        guard !address.isEmpty else { return nil }
        let server: MailServer
        do {
            server = try MailServer(address)
        } catch {
            throw Failure("mail.server: \(error)")
        }
        let from = settings.text("mail.from")
        guard MailAddress.isValid(from) else {
            throw Failure("mail.from: is no plain mail address, such as rides@campus.example")
        }
        let (user, file) = (settings.text("mail.user"), settings.text("mail.password_file"))
        guard user.isEmpty == file.isEmpty else {
            throw Failure("mail.user and mail.password_file go together: set both or none")
        }
        let authority = settings.text("mail.certificate_authority")
        if !authority.isEmpty { _ = try Files.read(authority) }
        return MailRelay(
            MailSettings(
                server: server, login: user.isEmpty ? nil : (user, try firstLine(of: file)),
                caFile: authority.isEmpty ? nil : authority, from: from, codeKey: try codeKey(settings),
                conninfo: settings.relayConninfo), metrics: MetricsRole.of("mail"),
            log: log)
    }

    /// Whether mail goes out, by whichever process.
    package static func isSet(_ settings: Settings) -> Bool { !settings.text("mail.server").isEmpty }

    /// Nil: none is set, so there are no second factors and no codes.
    package static func codeKey(_ settings: Settings) throws -> CodeKey? {
        let file = settings.text("people.code_key_file")
        guard !file.isEmpty else {
            guard settings.text("people.code_key_file_before").isEmpty else {
                throw Failure("people.code_key_file_before: goes with people.code_key_file: name the new key there")
            }
            return nil
        }
        let before = settings.text("people.code_key_file_before")
        do {
            return try CodeKey(Files.read(file), before: before.isEmpty ? nil : Files.read(before))
        } catch let fault as CodeKey.Fault {
            let files = before.isEmpty ? file : "\(file) or people.code_key_file_before: \(before)"
            throw Failure("people.code_key_file: \(files): \(fault)")
        }
    }

    private static func firstLine(of file: String) throws -> String {
        let line = try Files.firstLine(file)
        guard !line.isEmpty else { throw Failure("mail.password_file: \(file): its first line is empty") }
        return String(decoding: line, as: UTF8.self)
    }
}
