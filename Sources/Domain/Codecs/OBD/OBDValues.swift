internal import Basics

/// A value that a car said, with the row that it was read by.
public struct OBDValue: Sendable {
    public let row: OBDRow
    public let content: Content

    public enum Content: Equatable, Sendable {
        /// Before the row's formula.
        case number(raw: Int64)
        /// The byte and its meaning; nil: none is known.
        case choice(UInt8, String?)
        case flags([String])
        /// The parameters that the car has.
        case supported([UInt8])
        case readiness(Readiness)
        /// Nil: no freeze frame is stored.
        case troubleCode(TroubleCode?)
    }

    /// The value × 10^decimals, rounded half away from zero; a choice's byte; nil for everything else.
    public func scaled(decimals: Int) -> Int64? {
        switch (content, row.kind) {
        case (.number(let raw), .number(let scale)): scale.scaled(raw, decimals: decimals)
        case (.choice(let code, _), _): Int64(code) * Decimal.powerOfTen(decimals)
        case (.number, _), (.flags, _), (.supported, _), (.readiness, _), (.troubleCode, _): nil
        }
    }

    /// For people; a number without its unit.
    public var text: String {
        switch (content, row.kind) {
        case (.number(let raw), .number(let scale)): scale.text(raw)
        case (.number(let raw), _): String(raw)
        case (.choice(let code, let name), _): name ?? "\(code) (unknown)"
        case (.flags(let flags), _): flags.isEmpty ? "none" : flags.joined(separator: "; ")
        case (.supported(let pids), _): Hex.list(pids)
        case (.readiness(let readiness), _): readiness.text
        case (.troubleCode(let code), _): code?.text ?? "none"
        }
    }

    public var isNumber: Bool {
        if case .number = content { return true }
        return false
    }
}

/// Why bytes that answer a request hold no value.
public enum OBDValueError: Error, Equatable, Sendable, CustomStringConvertible {
    case parameterUnknown(UInt8)
    case tooShort(pid: UInt8, bytes: Int, need: Int)
    case notAboutThis(mode: UInt8)
    case vinImpossible

    public var description: String {
        switch self {
        case .parameterUnknown(let pid):
            "parameter \(Hex.text([pid]).uppercased()) is not in the table (`drover obd pids`)"
        case .tooShort(let pid, let bytes, let need):
            "parameter \(Hex.text([pid]).uppercased()) has \(bytes) data bytes, \(need) are needed. Ask again"
        case .notAboutThis(let mode): "an answer of service \(Hex.text([mode]).uppercased()) holds nothing of this kind"
        case .vinImpossible: "the car's VIN is not 17 letters and digits. Enter it by hand"
        }
    }
}

extension OBDAnswer {
    /// The values of an answer in mode 01 (current) or 02 (freeze frame), which may be about several parameters.
    /// - Throws: when there is not even one. Bytes behind the last value are padding.
    public func values(of request: OBDRequest) throws(OBDValueError) -> [OBDValue] {
        guard request.mode == 1 || request.mode == 2, bytes.first == request.mode + 0x40 else {
            throw .notAboutThis(mode: request.mode)
        }
        // Each parameter is accepted once: padding may look like its number.
        var waited = Set(pidsAsked(request))
        var (values, rest): ([OBDValue], ArraySlice<UInt8>) = ([], bytes.dropFirst())
        while let pid = rest.first, waited.remove(pid) != nil {
            let rows = OBDTable.rows(pid)
            guard let need = rows.first?.bytes else {
                if values.isEmpty { throw .parameterUnknown(pid) }
                break
            }
            let data = rest.dropFirst(request.mode == 1 ? 1 : 2)
            guard data.count >= need else { throw .tooShort(pid: pid, bytes: data.count, need: need) }
            values += rows.map { $0.value(data.prefix(need)) }
            rest = data.dropFirst(need)
        }
        return values
    }

    /// In mode 02 each parameter is followed by the number of the frame.
    private func pidsAsked(_ request: OBDRequest) -> [UInt8] {
        let rest = request.bytes.dropFirst()
        return request.mode == 1 ? Array(rest) : rest.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    }
}

extension OBDRow {
    /// Precondition: as many data bytes as the parameter has.
    func value(_ data: ArraySlice<UInt8>) -> OBDValue {
        precondition(data.count == bytes)
        let content: OBDValue.Content =
            switch kind {
            case .number(let scale): .number(raw: scale.raw(data))
            case .choice(let at, let names): .choice(data[data.startIndex + at], names[data[data.startIndex + at]])
            case .flags(let at, let names):
                .flags(
                    names.enumerated().filter { data[data.startIndex + at] & (0x80 >> UInt8($0.offset)) != 0 }
                        .compactMap(\.element))
            case .supported: .supported(supportedPIDs(data))
            case .readiness: .readiness(Readiness(data, isOfCycle: pid == 0x41))
            case .troubleCode: .troubleCode(TroubleCode(bytes: data))
            }
        return OBDValue(row: self, content: content)
    }

    private func supportedPIDs(_ data: ArraySlice<UInt8>) -> [UInt8] {
        let mask = data.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return (1...32).filter { mask & (1 << UInt32(32 - $0)) != 0 }.map { pid &+ UInt8($0) }
    }
}

extension Hex {
    /// `0C 0D 10`.
    static func list(_ bytes: [UInt8]) -> String {
        bytes.isEmpty ? "none" : bytes.map { text([$0]).uppercased() }.joined(separator: " ")
    }
}
