internal import CRdkafka

public struct TopicPartition: Hashable, Sendable, CustomStringConvertible {
    public let topic: String
    public let partition: Int32
    public init(topic: String, partition: Int32) { (self.topic, self.partition) = (topic, partition) }
    public var description: String { "\(topic)[\(partition)]" }
}

/// The text that a C call wrote into a buffer of ours.
func text(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// An error of a broker or on the way to it.
public struct KafkaError: Error, Sendable, CustomStringConvertible {
    /// librdkafka's error code; negative codes are its own, positive ones the broker's.
    public let code: Int32
    /// The operation and its object.
    public let doing: String
    public let message: String
    /// Why brokers are not reached, where that is known; nil: it is not.
    private let trouble: String?

    init(_ code: rd_kafka_resp_err_t, _ doing: String, detail: String? = nil, trouble: String? = nil) {
        self.code = code.rawValue
        self.doing = doing
        self.trouble = trouble
        if let detail { message = detail } else { message = unsafe String(cString: rd_kafka_err2str(code)) }
    }

    package init(doing: String, message: String) {
        code = -1
        self.doing = doing
        self.message = message
        trouble = nil
    }

    public var description: String { "\(doing): \(message)" + (advice.map { ". \($0)" } ?? "") }

    /// The broker refuses this very record: it would do so again, and accepts others.
    public var isAboutRecord: Bool {
        [
            RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_MSG, RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE,
            RD_KAFKA_RESP_ERR_INVALID_RECORD, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
        ].contains { $0.rawValue == code }
    }

    private var advice: String? {
        switch code {
        case RD_KAFKA_RESP_ERR__TRANSPORT.rawValue, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN.rawValue,
            RD_KAFKA_RESP_ERR__TIMED_OUT.rawValue, RD_KAFKA_RESP_ERR__RESOLVE.rawValue,
            RD_KAFKA_RESP_ERR__MSG_TIMED_OUT.rawValue, RD_KAFKA_RESP_ERR__SSL.rawValue,
            RD_KAFKA_RESP_ERR__AUTHENTICATION.rawValue:
            trouble ?? "Is the broker up, and are kafka.brokers and kafka.security_protocol right?"
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART.rawValue, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC.rawValue:
            "The topic is not there: `drover import` and `drover work` make it"
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED.rawValue,
            RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED.rawValue,
            RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED.rawValue:
            "Give kafka.sasl_user, or the name in kafka.certificate_file, this right at the broker (docs/operator.md)"
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE.rawValue: "The record is larger than the broker takes"
        default: nil
        }
    }
}
