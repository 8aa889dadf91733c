import App
import Basics
import Fleet
import Postgres
import Settings
import Storage
import Web

extension Command {
    /// Says how a second factor stands, or takes it away.
    static func secondFactor(_ account: String, _ arguments: Arguments) throws -> ExitCode {
        let connection = try asOwner(arguments).connection
        guard try OperatorAccountStore.isThere(account, on: connection) else {
            throw Failure("\(account): there is no such account: see `drover account list`")
        }
        guard arguments.has("--remove") else {
            let standing = try SecondFactorStore.standing(of: account, on: connection)
            Out.result(
                standing.map { "on since \(UTC.text($0.sinceMs)), recovery codes left: \($0.codes)" } ?? "none is on")
            return .done
        }
        guard try SecondFactorStore.remove(account, on: connection) else {
            throw Failure("\(account): it has no second factor")
        }
        Out.note(
            "\(account): the password alone logs in again. Where the role needs a second factor, the next log-in leads to a new one"
        )
        return .done
    }

    /// Seals what the key from before sealed with the one that counts.
    static func reseal(_ arguments: Arguments) throws -> ExitCode {
        let (settings, connection) = try asOwner(arguments)
        guard let key = try MailRole.codeKey(settings), !settings.text("people.code_key_file_before").isEmpty else {
            throw Failure(
                "people.code_key_file_before: is not set: with the new key in people.code_key_file and the old one there, what the "
                    + "old one sealed is sealed anew")
        }
        let renewed = try SealedValueStore.renew(key, on: connection)
        Out.note("\(renewed) values are sealed with the new key now; `drover check` says what still needs the old one")
        return .done
    }
}

extension Command {
    /// For `drover check`.
    static func keyBefore(_ settings: Settings) throws -> String {
        guard !settings.text("people.code_key_file_before").isEmpty, let key = try MailRole.codeKey(settings) else {
            return "none"
        }
        let connection = try Connection(conninfo: settings.ownerConninfo)
        let need = try SealedValueStore.needingKeyBefore(key, on: connection)
        guard need.lasting + need.waiting > 0 else { return "nothing needs it: take people.code_key_file_before out" }
        let remedy = need.lasting > 0 ? "; `drover account reseal` seals the first anew" : ""
        return
            "\(need.lasting) second factors and webhooks and \(need.waiting) messages that wait still need it\(remedy)"
    }
}
