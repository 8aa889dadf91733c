internal import CRdkafka
internal import Dispatch
internal import Synchronization

/// How a consumer leaves its group and ends.
enum ConsumerEnd {
    /// Longer than a member that says nothing stays in the group there is no use in leaving it.
    private static let leaveS = 10
    /// Clients that could not be ended live on with their threads and buffers: few may.
    private static let givenUpMax = 16

    private static let givenUp = Atomic<Int>(0)

    static var count: Int { givenUp.load(ordering: .relaxed) }

    /// For the thread that leaves the group.
    @safe private struct Leaving: @unchecked Sendable { let client: OpaquePointer }

    /// A process that has given up so many clients needs a new start: its supervisor makes one.
    static func refuseBeyondMost() throws {
        guard count < givenUpMax else {
            throw KafkaError(
                doing: "making a consumer",
                message: "\(givenUpMax) consumers of this process could not leave their groups. Start it again")
        }
    }

    /// Waits for a join that is under way, leaves the group, and destroys the client. On the thread that polled it.
    static func end(_ handle: Handle) {
        awaitJoin(handle)
        // The callbacks that it makes find their context still there. Where no broker hears of it, librdkafka waits for minutes: the client
        // is given up then, and lives on beside whoever wanted to end.
        let (leaving, left) = (unsafe Leaving(client: handle.client), DispatchSemaphore(value: 0))
        let kept = unsafe Unmanaged.passRetained(handle)
        DispatchQueue.global().async {
            unsafe rd_kafka_consumer_close(leaving.client)
            left.signal()
        }
        let hasLeft = left.wait(timeout: .now() + .seconds(leaveS)) == .success
        // Destroying it amid its first join would abort the process: the group may have taken it in while it was leaving.
        if hasLeft, !handle.context.join.isUnderWay {
            unsafe kept.release()
        } else {
            givenUp.add(1, ordering: .relaxed)
        }
    }

    /// A group that has taken the member in is about to give it its partitions.
    private static func awaitJoin(_ handle: Handle) {
        let join = handle.context.join
        guard join.isUnderWay else { return }
        while join.isWorthWaiting {
            if let message = unsafe rd_kafka_consumer_poll(handle.client, 50) {
                unsafe rd_kafka_message_destroy(message)
            }
        }
        // Closing waits for the answer to what the group gave.
        guard join.isAssigned, let none = unsafe rd_kafka_topic_partition_list_new(0) else { return }
        defer { unsafe rd_kafka_topic_partition_list_destroy(none) }

        if let error = unsafe rd_kafka_incremental_assign(handle.client, none) { unsafe rd_kafka_error_destroy(error) }
    }
}
