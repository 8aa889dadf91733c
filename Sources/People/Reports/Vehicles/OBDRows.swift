internal import Basics
package import Codecs
internal import Fleet
internal import Formats

/// The content of a transcript, a row per value, code, text or fault.
package struct OBDRows: Sendable {
    package static let formats: [String: @Sendable (OBDRows) -> String] = [
        "json": { $0.json() }, "csv": { $0.table().csv() }, "table": { $0.table().text() },
    ]

    struct Row: Sendable {
        let file: String
        let line: Int
        let request: String
        /// The control unit; nil with headers off.
        let unit: String?
        let key: String
        let value: String?
        var isNumber = false
        /// The unit of a number.
        var of: String?
        let text: String?
    }

    package private(set) var faults = 0
    private var rows: [Row] = []
    private let meanings: TroubleCodeMeanings
    /// Known from the command line, or from what the adapter says of its protocol.
    private var bus: OBDBus?

    package init(meanings: TroubleCodeMeanings) { self.meanings = meanings }

    package var count: Int { rows.count }

    /// - Parameter bus: of the car, where the replies do not tell.
    package mutating func add(file: String, _ exchanges: [OBDTranscript.Exchange], bus: OBDBus?) {
        self.bus = bus
        for exchange in exchanges { add(file, exchange) }
    }

    private mutating func add(_ file: String, _ exchange: OBDTranscript.Exchange) {
        let request = exchange.request.uppercased().filter { $0 != " " }
        func row(_ key: String, _ value: String?, _ text: String? = nil) -> Row {
            Row(file: file, line: exchange.line, request: request, unit: nil, key: key, value: value, text: text)
        }
        if request.hasPrefix("AT") || request.hasPrefix("ST") {
            do throws(ELMFault) {
                for text in try ELMReply.text(exchange.reply, to: request) {
                    note(text, of: request)
                    let words = row("adapter", text)
                    rows.append(OBDRows.voltage(words) ?? words)
                }
            } catch { fault(row("fault", nil, error.description)) }
            return
        }
        guard let asked = OBDRequest(text: request.utf8) else {
            fault(row("fault", nil, "`\(request.prefix(24))` is no request: write hexadecimal digits like 010C"))
            return
        }
        guard asked.mode < 0x40 else {
            fault(row("fault", nil, "this looks like a reply without its request. Log with the echo on (ATE1)"))
            return
        }
        do throws(ELMFault) {
            for answer in try ELMReply.answers(exchange.reply, to: asked, bus: bus) {
                add(answer, asked) { key, value, text in
                    Row(
                        file: file, line: exchange.line, request: asked.text, unit: answer.unit, key: key, value: value,
                        text: text)
                }
            }
        } catch { fault(row("fault", nil, error.description)) }
    }

    private typealias Make = (_ key: String, _ value: String?, _ text: String?) -> Row

    private mutating func add(_ answer: OBDAnswer, _ request: OBDRequest, _ make: Make) {
        do throws(OBDValueError) {
            switch (request.mode, request.pid) {
            case (0x01, _), (0x02, _):
                for value in try answer.values(of: request) { rows.append(OBDRows.row(value, make)) }
            case (0x03, _): add(try answer.troubleCodes(), "stored_code", make)
            case (0x07, _): add(try answer.troubleCodes(), "pending_code", make)
            case (0x0A, _): add(try answer.troubleCodes(), "permanent_code", make)
            case (0x09, 0x02): rows.append(make("vin", try answer.vin(), nil))
            case (0x09, 0x04): for id in try answer.calibrationIDs() { rows.append(make("calibration_id", id, nil)) }
            case (0x09, 0x06):
                for check in try answer.calibrationChecks() { rows.append(make("calibration_check", check, nil)) }
            case (0x09, 0x0A): rows.append(make("unit_name", try answer.unitName(), nil))
            default: rows.append(make("payload", Hex.text(answer.bytes), OBDRows.whyNotDecoded(request)))
            }
        } catch .parameterUnknown(let pid) {
            rows.append(
                make("payload", Hex.text(answer.bytes), OBDValueError.parameterUnknown(pid).description))
        } catch {
            fault(make("fault", nil, error.description))
        }
    }

    private mutating func add(_ codes: [TroubleCode], _ key: String, _ make: Make) {
        if codes.isEmpty { rows.append(make(key, nil, "no trouble codes")) }
        for code in codes { rows.append(make(key, code.text, meanings.text(of: code))) }
    }

    private mutating func fault(_ row: Row) {
        rows.append(row)
        faults += 1
    }

    private static func row(_ value: OBDValue, _ make: Make) -> Row {
        var row = make(value.row.key, value.text, value.row.name)
        row.isNumber = value.isNumber
        if value.isNumber, !value.row.unit.isEmpty { row.of = value.row.unit }
        return row
    }

    private static func whyNotDecoded(_ request: OBDRequest) -> String {
        request.mode <= 0x0A
            ? "not decoded: nothing is known of this parameter of service \(request.text.prefix(2))"
            : "not decoded: service \(request.text.prefix(2)) is the maker's own"
    }

    /// `12.6V` to ATRV: the battery as the adapter measures it.
    private static func voltage(_ row: Row) -> Row? {
        let digits = (row.value ?? "").utf8.filter { $0 != 0x56 && $0 != 0x76 && $0 != 0x20 }
        guard row.request == "ATRV", let scaled = Decimal.scaled(digits, decimals: 3) else { return nil }
        return Row(
            file: row.file, line: row.line, request: row.request, unit: nil, key: "adapter_voltage_v",
            value: Decimal.text(scaled, decimals: 3), isNumber: true, of: "V", text: "battery voltage at the adapter")
    }

    /// ATDPN says which protocol is spoken: 1 to 5 are the older buses (ELM327 data sheet).
    private mutating func note(_ text: String, of request: String) {
        guard request == "ATDPN", let number = text.utf8.last else { return }
        if (0x31...0x35).contains(number) { bus = .older }
        if (0x36...0x39).contains(number) { bus = .can }
    }

    private func table() -> Table {
        var table = Table(["file", "line", "request", "unit", "key", "value", "of", "text"])
        table.rows = rows.map { [$0.file, String($0.line), $0.request, $0.unit, $0.key, $0.value, $0.of, $0.text] }
        return table
    }

    private func json() -> String {
        JSONValue.list(
            rows.map { row in
                .object([
                    ("file", .text(row.file)), ("line", .integer(Int64(row.line))), ("request", .text(row.request)),
                    ("unit", .optional(row.unit)), ("key", .text(row.key)),
                    ("value", row.isNumber ? .number(row.value) : .optional(row.value)), ("of", .optional(row.of)),
                    ("text", .optional(row.text)),
                ])
            }
        ).rendered(indent: true)
    }
}
