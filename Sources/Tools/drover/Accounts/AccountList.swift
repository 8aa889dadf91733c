import Alerts
import App
import Basics
import Codecs
import Crypto
import Fleet
import Postgres
import Reports
import Settings
import Storage

extension Command {
    private static let roles = Role.allCases.map(\.rawValue)

    static func listAccounts(_ arguments: Arguments) throws -> ExitCode {
        let render = try arguments.one("--format", of: queryFormats, standard: "table")
        let rows = try asOwner(arguments).connection.query(Home.reportQueries()["accounts"])
        Out.result(render(try QueryOutput(rows)))
        return .done
    }

    static func addAccount(_ account: String, _ arguments: Arguments) throws -> ExitCode {
        try checkName(account)
        let mail = arguments.text("--mail")
        if let mail, !MailAddress.isValid(mail) { throw UsageError("--mail: `\(mail)` is no mail address") }
        let (roles, link) = (try roles(arguments), Token.random())
        let (settings, connection) = try asOwner(arguments)
        guard try OperatorAccountStore.add(account, mail: mail, roles: roles, link: link.digest, on: connection) else {
            throw Failure(
                "\(account): there is an account of this id or mail address already: see `drover account list`")
        }
        Out.note(
            "\(account) is added. Its password is chosen here, once, within \(OperatorAccountStore.linkHours) hours:")
        Out.result(address(of: link, settings))
        return .done
    }

    /// The installation's own limits stand under a name like an account's.
    static func checkName(_ account: String) throws {
        guard account == InstallationLimits.account else { return }
        throw UsageError("`\(account)` is the installation itself (`drover limits`): take another id")
    }

    static func newLink(_ account: String, _ arguments: Arguments) throws -> ExitCode {
        let link = Token.random()
        let (settings, connection) = try asOwner(arguments)
        try connection.transaction {
            guard try OperatorAccountStore.link(account, link.digest, on: connection) else {
                throw Failure("\(account): there is no such account, or it is disabled")
            }
            try AuditLog.record(.linkGiven, about: account, on: connection)
        }
        Out.note("A new password for \(account) is chosen here, once, within \(OperatorAccountStore.linkHours) hours:")
        Out.result(address(of: link, settings))
        return .done
    }

    static func setRoles(_ account: String, _ arguments: Arguments) throws -> ExitCode {
        let roles = try roles(arguments)
        guard try OperatorAccountStore.set(roles: roles, of: account, on: asOwner(arguments).connection) else {
            throw Failure("\(account): there is no such account")
        }
        Out.note("\(account): \(roles.isEmpty ? "no roles" : roles.joined(separator: ", ")), from the next request on")
        return .done
    }

    static func disableAccount(_ disabled: Bool, _ account: String, _ arguments: Arguments) throws -> ExitCode {
        guard try OperatorAccountStore.set(disabled: disabled, account, on: asOwner(arguments).connection) else {
            throw Failure("\(account): there is no such account")
        }
        Out.note(
            disabled
                ? "\(account) is disabled: log-ins, tokens, database login and browsers end, and what is on its way to it"
                : "\(account) may log in again; tokens, devices and reports of before stay ended")
        return .done
    }

    static func eraseAccount(_ account: String, _ arguments: Arguments) throws -> ExitCode {
        guard try OperatorAccountStore.erase(account, on: asOwner(arguments).connection) else {
            throw Failure("\(account): there is no such account")
        }
        Out.note("\(account): mail address, names, password and all ways in are forgotten; results keep the id")
        return .done
    }

    /// A login of the database that sees what the account sees. Its password is shown once.
    static func databaseLogin(_ account: String, _ arguments: Arguments) throws -> ExitCode {
        let password = Hex.text(Secrets.random(16))
        let connection = try asOwner(arguments).connection
        switch try DatabaseLogin.put(account, password: password, on: connection) {
        case .made: break
        case .noAccount: throw Failure("\(account): there is no such account, or it is disabled")
        case .hasNeighbours: throw Failure("\(account): \(neighbours)")
        }
        Out.note(
            "\(account) sees in psql what it sees in the pages, with this line. It is not shown again. From another machine: with "
                + "this one's name as host")
        // Not in psql's arguments: everybody on the machine sees those.
        Out.result("PGPASSWORD=\(password) psql \(conninfo(DatabaseLogin.name(of: account), connection.place))")
        return .done
    }

    private static let neighbours =
        "others' rows are in this database (more than one fleet or campus), and a login of it tells more of them than it shows, by EXPLAIN. "
        + "Let them ask at /query or by a token with the scope query (docs/analyst.md). Administrators and operators, who see all, may have a login"

    /// As one word of a shell.
    private static func conninfo(_ user: String, _ place: (host: String, port: String, database: String)) -> String {
        let words = [("host", place.host), ("port", place.port), ("dbname", place.database), ("user", user)]
        let text = words.map { key, value in
            let isPlain = !value.isEmpty && !value.contains { " '\\".contains($0) }
            let escaped = value.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
            return key + "=" + (isPlain ? value : "'" + escaped + "'")
        }.joined(separator: " ")
        return "'" + text.replacing("'", with: "'\\''") + "'"
    }

    static func endDatabaseLogin(_ account: String, _ arguments: Arguments) throws -> ExitCode {
        guard try DatabaseLogin.remove(account, on: asOwner(arguments).connection) else {
            throw Failure("\(account): it has no login of the database")
        }
        Out.note("\(account) has no login of the database any more")
        return .done
    }

    private static func roles(_ arguments: Arguments) throws -> [String] {
        let said = arguments.texts("--role")
        for role in said where !roles.contains(role) {
            throw UsageError("--role: `\(role)` is none of \(roles.joined(separator: ", "))")
        }
        return roles.filter(said.contains)
    }

    /// Where a link of that token leads.
    static func address(of link: Token, _ settings: Settings, page: String? = nil) -> String {
        var base = page ?? settings.text("web.public_url")
        if base.isEmpty { base = "http://\(settings.text("web.host")):\(settings.text("web.port"))" }
        if base.hasSuffix("/") { base.removeLast() }
        return "\(base)/password?link=\(link.text)"
    }
}
