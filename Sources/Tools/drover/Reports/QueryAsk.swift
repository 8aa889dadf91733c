import App
import Clients
import Codecs
import Formats
import Foundation
import Postgres
import Reports
import Settings
import Storage

/// `drover query "SELECT …"`: a statement of one's own, by this machine's login for questions or by a server's API.
extension Command {
    static func ask(_ statement: String, _ arguments: Arguments) throws -> ExitCode {
        guard arguments.operands.count == 1 else { throw UsageError("a SELECT is one word: put it in quotes") }
        for option in ["--psql", "--explain"] where arguments.has(option) {
            throw UsageError("\(option) is for queries that come with Drover; a SELECT of one's own is never explained")
        }
        switch (arguments.text("--as"), arguments.text("--url")) {
        case (let account?, nil): return try ask(statement, as: account, arguments)
        case (nil, let url?): return try ask(statement, at: url, arguments)
        default: throw UsageError("say --as ID, whose rows are asked, or --url U, which server is")
        }
    }

    private static func ask(_ statement: String, as account: String, _ arguments: Arguments) throws -> ExitCode {
        let render = try arguments.one("--format", of: queryFormats, standard: "table")
        let seconds = Int(try arguments.integer("--timeout", in: 1...86_400) ?? 60)
        let conninfo = try SettingsSource.load(arguments).text("postgres.query_url")
        guard !conninfo.isEmpty else {
            throw Failure("postgres.query_url is not set: questions need a login of their own (docs/analyst.md)")
        }
        let limits = Question.Limits(
            rows: Question.answerRowsMax, bytes: Question.answerBytesMax, seconds: seconds)
        let connection = try Connection(conninfo: conninfo, applicationName: "drover query")
        do {
            let output = try QueryOutput(Question(statement).ask(as: account, limits, on: connection))
            guard output.count <= Question.answerRowsMax else {
                throw Failure("more than \(Question.answerRowsMax) rows: ask for sums, or add a LIMIT")
            }
            Out.result(render(output))
        } catch let refusal as Question.Refusal {
            throw Failure(refusal.text)
        } catch let gone as QuestionAsker.Gone {
            throw Failure("--as \(account): \(gone.text) See `drover account list`")
        }
        return .done
    }

    private static func ask(_ statement: String, at url: String, _ arguments: Arguments) throws -> ExitCode {
        let format = try arguments.one(
            "--format", of: ["table": "table", "csv": "csv", "json": "json"], standard: "table")
        guard let token = ProcessInfo.processInfo.environment["DROVER_TOKEN"], !token.isEmpty else {
            throw UsageError("DROVER_TOKEN is not set: a token with the scope query (`drover token add`)")
        }
        // The token goes over the net in the clear to nobody.
        let host = url.hasPrefix("http://") ? url.dropFirst(7).prefix { !"/:?#@".contains($0) } : ""
        let isInside = ["127.0.0.1", "localhost"].contains(host) && !url.contains("@")
        let headers = [
            ("Authorization", "Bearer \(token)"), ("Content-Type", "application/json"),
            ("Accept", format == "csv" ? "text/csv" : "application/json"),
        ]
        let body = JSONValue.object([("statement", .text(statement))]).rendered()
        var limits = HTTPSClient.Limits()
        limits.bodyBytesMax = 64 << 20
        let reply = try HTTPSClient(limits: limits, isPlainAllowed: isInside).ask(
            (url.hasSuffix("/") ? String(url.dropLast()) : url) + "/v1/query", headers: headers,
            body: Array(body.utf8))
        guard reply.status == 200 else {
            let detail = (try? JSONValue(reply.body))?["detail"]?.text
            throw Failure("\(url) answers \(reply.status)" + (detail.map { ": \($0)" } ?? ""))
        }
        Out.result(format == "table" ? try table(reply.body) : String(decoding: reply.body, as: UTF8.self))
        return .done
    }

    private static func table(_ body: [UInt8]) throws -> String {
        let answer = try JSONValue(body, bytesMax: 64 << 20, valuesMax: 20_000_000)
        var table = Table((answer["columns"]?.items ?? []).map { $0.text ?? "" })
        table.rows = (answer["rows"]?.items ?? []).map { row in
            (row.items ?? []).map { $0.isNull ? nil : $0.text ?? $0.rendered() }
        }
        return table.text()
    }
}
