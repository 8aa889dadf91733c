internal import Foundation
package import Ingest
package import Kafka
package import Settings
package import Trips

extension Settings {
    /// - Throws: when what is set of TLS and SASL does not go together.
    package func kafka(clientID: String) throws -> KafkaSettings {
        let faults = KafkaRules.faults(self)
        guard faults.isEmpty else { throw SettingsError(faults: faults.map { located($0.text) }) }
        var kafka = KafkaSettings(brokers: text("kafka.brokers"), clientID: clientID, extra: [:])
        kafka.names = TopicNames(prefix: text("kafka.topic_prefix"))
        kafka.security.wire = text("kafka.security_protocol")
        kafka.security.rootsFile = text("kafka.ca_file")
        (kafka.security.certificateFile, kafka.security.keyFile) = (
            text("kafka.certificate_file"), text("kafka.key_file")
        )
        (kafka.security.mechanism, kafka.security.user) = (text("kafka.sasl_mechanism"), text("kafka.sasl_user"))
        kafka.security.keyPassword = kafkaSecret("kafka.key_password")
        kafka.security.password = kafkaSecret("kafka.sasl_password")
        return kafka
    }

    private func kafkaSecret(_ key: String) -> KafkaSecurity.Secret? {
        let (value, file) = (text(key), text(key + "_file"))
        return value.isEmpty ? file.isEmpty ? nil : .file(file) : .text(value)
    }

    package var topicShape: TopicShape {
        TopicShape(
            partitions: Int32(integer("kafka.partitions")), replication: Int32(integer("kafka.replication")))
    }

    package func tripRules() throws -> TripRules {
        var rules = TripRules()
        rules.gapMs = integer("trips.gap_s") * 1_000
        rules.tripGapMs = integer("trips.trip_gap_min") * 60_000
        rules.sharpMmPerS2 = thousandths("trips.sharp_mps2")
        rules.sharpLeastMetresPerHour = integer("trips.sharp_speed_kmh_min") * 1_000
        rules.sharpHoldMs = integer("trips.sharp_hold_ms")
        if let fault = rules.fault { throw Failure("trips.*: \(fault)") }
        return rules
    }

    package var fuelPrice: FuelPrice {
        FuelPrice(perUSGallon: Double(thousandths("fuel.price_per_us_gal")) / 1_000, currency: text("fuel.currency"))
    }
}
