import App
import Codecs
import Formats
import Reports
import Settings

extension Command {
    static let settings = Command(
        name: "settings", operands: "[--format table|json|markdown]",
        summary: "Lists every setting: what it must be, its default, who reads it, what it means.",
        options: [.init("--format", "FORMAT", "table (default), json, or markdown as in docs/settings.md")],
        example: "drover settings --format json",
        run: { arguments in
            guard arguments.operands.isEmpty else { throw UsageError("it takes no operand") }
            switch try arguments.one("--format", of: formats, standard: "table") {
            case .table: Out.result(table().text())
            case .json: Out.result(json())
            case .markdown: Out.result(markdown())
            }
            return .done
        })

    private enum SettingFormat { case table, json, markdown }
    private static let formats: [String: SettingFormat] = ["table": .table, "json": .json, "markdown": .markdown]

    private static func table() -> Table {
        var table = Table(["setting", "default", "must be", "read by", "what"])
        for row in SettingRow.table {
            table.rows.append([
                row.key, row.standard.isEmpty ? nil : row.standard, row.type,
                row.readers.map(\.rawValue).joined(separator: ", "), row.help,
            ])
        }
        return table
    }

    private static func json() -> String {
        let items = SettingRow.table.map { row -> JSONValue in
            var isSecret = false
            switch row.kind {
            case .secret, .secretFile: isSecret = true
            case .text, .integer, .choice, .thousandths, .connection, .file, .folder, .shipped, .fileToMake: break
            }
            var fields: [JSONValue.Field] = [("default", .text(row.standard)), ("key", .text(row.key))]
            if let when = row.readAgain { fields.append(("read_again", .text(when))) }
            fields += [
                ("read_by", .list(row.readers.map { .text($0.rawValue) })), ("secret", .bool(isSecret)),
                ("type", .text(row.type)), ("variable", .text(row.variable)), ("what", .text(row.help)),
            ]
            return .object(fields)
        }
        return JSONValue.list(items).rendered(indent: true)
    }

    /// docs/settings.md, whole.
    private static func markdown() -> String {
        var text = """
            # Settings

            <!-- Made by `drover settings --format markdown > docs/settings.md`; a test compares the two. -->

            Read from `drover.yaml` in the working folder (or `--settings FILE`), then from `DROVER_…` variables (`kafka.brokers` is
            `DROVER_KAFKA_BROKERS`; `DROVER_KAFKA_BROKERS_FILE` names a file whose first line is the value), then from
            `--set key=value`; later ones win. `drover check` reports all faults at once; `drover settings --format json` is this
            page for programs.

            *Commands* are those that end by themselves, such as `drover report`; `drover up` reads all. A change needs a restart of
            the roles that read it, but files are *read again* where it says so. Files marked *secret* must be readable by their
            owner and group only.

            """
        for group in Set(SettingRow.table.map(\.group)).sorted() {
            text += section(group, SettingRow.table.filter { $0.group == group })
        }
        return text
    }

    private static func section(_ group: String, _ rows: [SettingRow]) -> String {
        let all = rows.map(readers)
        let common = all.max { a, b in all.count { $0 == a } < all.count { $0 == b } } ?? ""
        var text =
            "\n## \(group)\n\nRead by \(common).\n\n| Setting | Must be | Default | What |\n| --- | --- | --- | --- |\n"
        for row in rows {
            let notes = [
                readers(row) == common ? nil : "read by \(readers(row))", row.readAgain.map { "read again: \($0)" },
            ].compactMap(\.self)
            let cells = [
                "`\(row.key)`", row.type.replacing("whole number, ", with: ""),
                row.standard.isEmpty ? "–" : "`\(row.standard)`",
                cell(row.help) + (notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"),
            ]
            text += "| " + cells.joined(separator: " | ") + " |\n"
        }
        return text
    }

    private static func readers(_ row: SettingRow) -> String {
        row.readers.count == SettingReader.allCases.count ? "all" : row.readers.map(\.rawValue).joined(separator: ", ")
    }

    /// Pages that a text names become links; what Markdown would take for a mark is escaped.
    private static func cell(_ help: String) -> String {
        help.replacing(/docs\/([a-z-]+\.md)/) { "[\($0.1)](\($0.1))" }.replacing("|", with: "\\|")
            .replacing("*", with: "\\*")
    }
}
