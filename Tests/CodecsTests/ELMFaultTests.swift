import Codecs
import Foundation
import SimKit
import Testing

/// What people read when an adapter does not answer, word by word as docs/obd.md has it.
struct ELMFaultTests {
    /// The cells of the page's rows with so many columns, back quotes around whole cells left out.
    private static func rows(columns: Int) throws -> [[String]] {
        let page = try Repository.text("docs/obd.md")
        let part = page[
            page.range(of: "## What the adapter says")!.upperBound..<page.range(of: "## Parameters")!.lowerBound]
        let rows = part.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            line.dropFirst(2).dropLast(2).components(separatedBy: " | ").enumerated().map { column, cell in
                column == columns - 1 ? cell : String(cell.dropFirst().dropLast())
            }
        }
        return rows.filter { $0.count == columns }
    }

    private static func fault(_ reply: String, to request: String) throws -> ELMFault? {
        let text = reply.replacing("/", with: "\r")
        let request = try #require(OBDRequest(text: request.utf8))
        do throws(ELMFault) {
            _ = try ELMReply.answers(text.utf8, to: request)
            return nil
        } catch { return error }
    }

    @Test func eachMessageOfAnAdapterSaysWhatToDo() throws {
        let rows = try Self.rows(columns: 2)
        #expect(rows.count == ELMMessage.allCases.count)
        for row in rows {
            let (reply, says) = (row[0], row[1])
            // Behind an echo, without blanks, after data, in small letters, before the banner of a restart.
            let forms = [
                "\(reply)//", "010C/\(reply)//", "SEARCHING.../\(reply.filter { $0 != " " })", "410C1AF8/\(reply)/",
                reply.lowercased(), "\(reply)/ELM327 v1.5", "7E8 04 41 0C 1A F8 \(reply)", "!\(reply)",
            ]
            for form in forms { #expect(try Self.fault(form, to: "010C")?.description == says, "\(form)") }
        }
    }

    @Test func otherFaultsSayWhatToDo() throws {
        let rows = try Self.rows(columns: 3)
        #expect(rows.count == 13)
        for row in rows { #expect(try Self.fault(row[1], to: row[0])?.description == row[2], "\(row[1])") }
        let most = ELMFault.tooLong(bytesMax: 8_192).description
        #expect(
            most == "the adapter sent more than 8192 bytes without a prompt. It may be no ELM327: check the address")
    }

    @Test func everyMessageHasARow() {
        #expect(Set(ELMMessage.table.map(\.message)) == Set(ELMMessage.allCases))
        #expect(ELMMessage.allCases.allSatisfy { $0.row.message == $0 })
    }

    @Test func whatASessionDoesNext() {
        #expect(ELMFault.said(.unableToConnect).remedy == .waitForCar && ELMFault.said(.noData).remedy == .doNotAsk)
        #expect(ELMFault.said(.stopped).remedy == .askAgain && ELMFault.said(.lowVoltageReset).remedy == .resetAdapter)
        #expect(ELMFault.refused(mode: 1, code: 0x12).remedy == .doNotAsk)
        #expect(ELMFault.refused(mode: 1, code: 0x78).remedy == .askAgain && ELMFault.empty.remedy == .askAgain)
    }
}
