internal import Basics

/// A car's own data in mode 09 (SAE J1979).
extension OBDAnswer {
    /// The vehicle identification number: 17 letters and digits without I, O and Q (ISO 3779).
    public func vin() throws(OBDValueError) -> String {
        let data = try info(0x02)
        // The count of a CAN bus and the padding of older ones stand in front, padding of copies behind.
        let text = data.drop { $0 < 0x21 }.prefix(17)
        guard text.count == 17, text.allSatisfy(OBDAnswer.isOfVIN) else { throw .vinImpossible }
        return String(decoding: text, as: UTF8.self)
    }

    /// Names of the software in the control unit, of 16 characters each.
    public func calibrationIDs() throws(OBDValueError) -> [String] {
        var data = try info(0x04)
        if data.count % 16 == 1 { data = data.dropFirst() }
        return stride(from: data.startIndex, to: data.endIndex, by: 16).map { start in
            OBDAnswer.text(data[start..<min(start + 16, data.endIndex)])
        }.filter { !$0.isEmpty }
    }

    /// Check numbers of that software, eight hexadecimal digits each.
    public func calibrationChecks() throws(OBDValueError) -> [String] {
        var data = try info(0x06)
        if data.count % 4 == 1 { data = data.dropFirst() }
        return stride(from: data.startIndex, to: data.endIndex - 3, by: 4).map {
            Hex.text(data[$0..<$0 + 4]).uppercased()
        }
    }

    public func unitName() throws(OBDValueError) -> String {
        var data = try info(0x0A)
        if data.count % 20 == 1 { data = data.dropFirst() }
        return OBDAnswer.text(data)
    }

    private func info(_ pid: UInt8) throws(OBDValueError) -> ArraySlice<UInt8> {
        guard bytes.starts(with: [0x49, pid]) else { throw .notAboutThis(mode: (bytes.first ?? 0) &- 0x40) }
        return bytes.dropFirst(2)
    }

    private static func text(_ data: ArraySlice<UInt8>) -> String {
        let printable = data.filter { (0x20...0x7E).contains($0) }
        return String(decoding: printable, as: UTF8.self).split(separator: " ").joined(separator: " ")
    }

    private static func isOfVIN(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39: true
        case 0x49, 0x4F, 0x51: false
        default: (0x41...0x5A).contains(byte)
        }
    }
}
