internal import CRdkafka
internal import Synchronization

/// How far a consumer's first join of its group is.
///
/// librdkafka before 2.3.0 aborts the process when a client is destroyed after the group took it in and before its first
/// assignment (its change log, #4381). The answer to the join is seen by an interceptor, on the thread of the connection.
final class GroupJoin: Sendable {
    private static let joinGroup: Int16 = 11
    private static let mended: Int32 = 0x0203_00FF

    private let isTaken = Atomic<Bool>(false)
    private let hasPartitions = Atomic<Bool>(false)

    /// Also when the group gave none: the assignor has made its state then.
    var isAssigned: Bool {
        get { hasPartitions.load(ordering: .acquiring) }
        set { hasPartitions.store(newValue, ordering: .releasing) }
    }

    var isUnderWay: Bool { isTaken.load(ordering: .acquiring) && !isAssigned }

    static func watch(_ conf: OpaquePointer) {
        guard rd_kafka_version() < mended else { return }
        _ = unsafe rd_kafka_conf_interceptor_add_on_new(
            conf, "group-join",
            { client, _, _, _, _ in
                unsafe rd_kafka_interceptor_add_on_response_received(
                    client, "group-join",
                    { client, _, _, _, api, _, _, _, _, code, _ in
                        if api == GroupJoin.joinGroup, code == RD_KAFKA_RESP_ERR_NO_ERROR {
                            unsafe CallbackContext.of(rd_kafka_opaque(client)).join.isTaken.store(true, ordering: .releasing)
                        }
                        return RD_KAFKA_RESP_ERR_NO_ERROR
                    }, nil)
            }, nil)
    }
}
