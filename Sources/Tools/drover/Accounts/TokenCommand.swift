import Alerts
import App
import Basics
import Codecs
import Crypto
import Fleet
import Formats
import Reports
import Storage
import Telemetry

extension Command {
    static let token = Command(
        name: "token", operands: "add --account NAME --scope SCOPE | list | revoke ID",
        summary: "Tokens of programs that hand readings in or read. A token is shown once, when it is added.",
        options: [
            .init("--account", "NAME", "add: whose it is"),
            .init("--scope", "SCOPE", "add: what it allows, several times for several: \(scopes)"),
            .init("--role", "R", "add: as whom it reads: farmer (default), dealer or developer"),
            .init("--name", "TEXT", "add: what people call it"),
            .init("--expires", "TIME", "add: from when it is not taken any more (2027-01-01; default: never)"),
            .init("--format", "F", "add, list: table or json (default table)"),
        ] + SettingsSource.options,
        example: "drover token add --account miller --scope upload --name 'phone of the north farm'",
        run: { arguments in
            let isJSON = try arguments.one("--format", of: ["table": false, "json": true], standard: "table")
            switch arguments.operands {
            case ["add"]: return try addToken(arguments, isJSON)
            case ["list"]:
                let entries = try TokenStore.list(on: asOwner(arguments).connection)
                Out.result(
                    isJSON ? JSONValue.list(entries.map(\.json)).rendered(indent: true) : table(entries).text())
                return .done
            case let words where words.count == 2 && words[0] == "revoke":
                guard try TokenStore.revoke(id: words[1], on: asOwner(arguments).connection) else {
                    throw Failure("there is no token \(words[1]): `drover token list` shows the ids")
                }
                Out.note("token \(words[1]) is revoked: it is refused from the next request on")
                return .done
            default: throw UsageError("say `add`, `list` or `revoke ID`")
            }
        })

    private static let scopes = Scope.allCases.map(\.rawValue).joined(separator: ", ")

    private static func addToken(_ arguments: Arguments, _ isJSON: Bool) throws -> ExitCode {
        guard let account = arguments.text("--account"), VehicleID.isValid(account.utf8) else {
            throw UsageError("--account must be 1 to 64 letters, digits, -, _ or .")
        }
        try checkName(account)
        let wanted = try arguments.texts("--scope").map { text in
            guard let scope = Scope(rawValue: text) else {
                throw UsageError("--scope \(text): must be one of \(scopes)")
            }
            return scope
        }
        guard !wanted.isEmpty else { throw UsageError("--scope is missing: a token without one allows nothing") }
        let expiresMs = try arguments.text("--expires").map { text in
            guard let time = UTC.parse(text), time > Clock.nowMs(), UTC.plausible.contains(time) else {
                throw UsageError("--expires \(text): must be a time to come, like 2027-01-01 or 2027-01-01T08:00:00Z")
            }
            return time
        }
        let role = try arguments.one("--role", of: audiences, standard: "farmer")
        let connection = try asOwner(arguments).connection
        let (token, id) = (Token.random(), Hex.text(Secrets.random(6)))
        // What a token reads is what its account sees.
        if try !OperatorAccountStore.isThere(account, on: connection) {
            guard wanted.allSatisfy(\.isForWriting) else {
                throw Failure(
                    "\(account) is no account, and a token of nobody reads nothing. Make it first: `drover account add "
                        + "\(account) --mail ADDRESS --role ROLE`; for a program of your own with the role operator")
            }
            Out.note(
                "\(account) is no account: this token reads nothing, and writes about what is registered or assigned to that "
                    + "name, or to nobody")
        }
        try TokenStore.add(
            id: id, digest: token.digest, account: account, name: arguments.text("--name"), scopes: wanted,
            role: role, expiresMs: expiresMs, on: connection)
        Out.result(
            isJSON ? JSONValue.object([("token_id", .text(id)), ("token", .text(token.text))]).rendered() : token.text)
        Out.note(
            "token \(id) of \(account): keep it now, it cannot be shown again. `drover token revoke \(id)` ends it")
        return .done
    }

    private static func table(_ entries: [TokenStore.Entry]) -> Table {
        var table = Table(["id", "account", "name", "scopes", "role", "made", "expires", "revoked", "last used"])
        table.rows = entries.map { entry in
            [
                entry.id, entry.account, entry.name, entry.scopes.joined(separator: ","), entry.role.rawValue,
                UTC.text(entry.madeMs),
                entry.expiresMs.map(UTC.text), entry.revokedMs.map(UTC.text), entry.lastUsedMs.map(UTC.text),
            ]
        }
        return table
    }
}

extension TokenStore.Entry {
    fileprivate var json: JSONValue {
        func time(_ ms: Int64?) -> JSONValue { .optional(ms.map(UTC.text)) }
        return .object([
            ("token_id", .text(id)), ("account", .text(account)), ("name", .optional(name)),
            ("scopes", .list(scopes.map { .text($0) })), ("role", .text(role.rawValue)), ("made_at", time(madeMs)),
            ("expires_at", time(expiresMs)),
            ("revoked_at", time(revokedMs)), ("last_used_at", time(lastUsedMs)),
        ])
    }
}
