internal import CRdkafka
internal import Glibc

/// Keeps a consumer from asking without a pause where next to nothing comes.
///
/// Brokers should wait `fetch.wait.max.ms` for records. The embedded one answers at once, with nothing, and librdkafka asks again at once:
/// two thirds of a core here and half of one there while nobody drives. A broker that keeps to the protocol is slowed down only where
/// records trickle, and then they arrive in batches.
enum FetchPace {
    private static let fetch: Int16 = 1
    /// A fuller answer, or one that was waited for, is followed by the next question at once.
    private static let sizeMax = 4_096
    private static let soonUs: Int64 = 5_000
    private static let pauseUs: UInt32 = 10_000

    /// librdkafka calls back on the thread of the connection. Beside fetches it carries a look at the topics now and then; what the
    /// group has to say goes over another.
    static func watch(_ conf: OpaquePointer) {
        _ = unsafe rd_kafka_conf_interceptor_add_on_new(
            conf, "fetch-pace",
            { client, _, _, _, _ in
                unsafe rd_kafka_interceptor_add_on_response_received(
                    client, "fetch-pace",
                    { _, _, _, _, api, _, _, size, elapsedUs, code, _ in
                        guard api == FetchPace.fetch, code == RD_KAFKA_RESP_ERR_NO_ERROR, size < FetchPace.sizeMax,
                            elapsedUs < FetchPace.soonUs
                        else { return RD_KAFKA_RESP_ERR_NO_ERROR }
                        usleep(FetchPace.pauseUs)
                        return RD_KAFKA_RESP_ERR_NO_ERROR
                    }, nil)
            }, nil)
    }
}
