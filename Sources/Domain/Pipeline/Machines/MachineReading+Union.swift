public import Fleet

extension MachineReading {
    /// The fields of a reading as text, in a fixed order.
    fileprivate var text: String {
        let numbers = values.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue)=\($0.value)" }
        return
            "\(model)|\(serial ?? "")|\(firmware ?? "")|\(numbers)|\(connectedDevices ?? [])|\(latitude ?? .min)|\(longitude ?? .min)|\(isReporting)|\(isPartial)|\(machineID ?? "")"
    }
}

extension Array where Element == MachineReading {
    /// Sorted by time, one reading a time: of two different readings the one with the larger submission id counts,
    /// and of two with one id the one whose content sorts last.
    public func unioned() -> [MachineReading] {
        var result: [MachineReading] = []
        for reading in sorted(by: { ($0.ts, $0.id) < ($1.ts, $1.id) }) {
            guard let last = result.last, last.ts == reading.ts else {
                result.append(reading)
                continue
            }
            // The same id with another content: which one counts must not depend on who came first.
            if last.id < reading.id || last.text < reading.text { result[result.count - 1] = reading }
        }
        return result
    }
}
