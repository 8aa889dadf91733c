internal import CRdkafka
internal import Synchronization
internal import Telemetry

/// The state of a consumer's first join of its group.
///
/// librdkafka before 2.3.0 aborts the process when a client is destroyed after the group took it in and before its first
/// assignment (its change log, #4381). The answer to the join is seen by an interceptor, on the thread of the connection.
final class GroupJoin: Sendable {
    private static let joinGroup: Int16 = 11
    private static let mended: Int32 = 0x0203_00FF

    /// Another client waits this long for it: one that is no longer admitted never gets an assignment.
    private static let waitMs: Int64 = 10_000

    /// When the group took it in; 0: not yet.
    private let takenMs = Atomic<Int64>(0)
    private let hasPartitions = Atomic<Bool>(false)

    /// True also when the group gave no partition: the assignor has made its state then.
    var isAssigned: Bool {
        get { hasPartitions.load(ordering: .acquiring) }
        set { hasPartitions.store(newValue, ordering: .releasing) }
    }

    /// It must not be destroyed.
    var isUnderWay: Bool { takenMs.load(ordering: .acquiring) != 0 && !isAssigned }
    var isWorthWaiting: Bool { isUnderWay && Clock.steadyMs() - takenMs.load(ordering: .acquiring) < GroupJoin.waitMs }

    static func watch(_ conf: OpaquePointer) {
        guard rd_kafka_version() < mended else { return }
        _ = unsafe rd_kafka_conf_interceptor_add_on_new(
            conf, "group-join",
            { client, _, _, _, _ in
                unsafe rd_kafka_interceptor_add_on_response_received(
                    client, "group-join",
                    { client, _, _, _, api, _, _, _, _, code, _ in
                        if api == GroupJoin.joinGroup, code == RD_KAFKA_RESP_ERR_NO_ERROR {
                            let join = unsafe CallbackContext.of(rd_kafka_opaque(client)).join
                            _ = join.takenMs.compareExchange(
                                expected: 0, desired: Clock.steadyMs(), ordering: .acquiringAndReleasing)
                        }
                        return RD_KAFKA_RESP_ERR_NO_ERROR
                    }, nil)
            }, nil)
    }
}
