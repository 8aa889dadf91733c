internal import Codecs
internal import Fleet
internal import Kafka
internal import Pipeline
internal import Storage

/// Which records of a partition are those of a selection of its vehicles. What is said of no vehicle is everybody's. What cannot be
/// decoded is rejected with all that some are left out of, and never by some alone.
///
/// Used by one thread at a time, as its partition.
final class SelectedRecords {
    private let keys: Set<[UInt8]>
    private let isOnly: Bool
    private let isMachine: Bool
    private let decoder = RecordDecoder()

    init(_ selection: VehicleSelection, of topic: String) {
        keys = Set(selection.vehicles.map { Array($0.text.utf8) })
        (isOnly, isMachine) = (selection.isOnly, RecordStage(topic: topic) == .machines)
    }

    private enum Owner { case everybody, vehicle, nobody }

    func includes(_ batch: MessageBatch, _ index: Int) -> Bool {
        unsafe batch.withBytes(index) { key, value in
            let isNamed = unsafe keys.contains(Array(key))
            if !isOnly && !isNamed { return true }
            switch unsafe owner(value, key: key) {
            case .everybody: return true
            case .vehicle: return isNamed == isOnly
            case .nobody: return !isOnly
            }
        }
    }

    private func owner(_ value: UnsafeRawBufferPointer?, key: UnsafeRawBufferPointer) -> Owner {
        guard let value = unsafe value,
            let record = unsafe try? decoder.decode(value, key: key, isMachine: isMachine)
        else { return .nobody }
        switch record {
        case .tick, .rules, .tripRules: return .everybody
        case .action(let action): return action.vehicle == nil ? .everybody : .vehicle
        case .car, .machine: return .vehicle
        }
    }
}
