internal import Alerts
internal import Glibc
internal import Kafka
internal import Postgres
internal import Storage
internal import Telemetry
internal import Trips
internal import Worker

/// The vehicle-minute job of `Deploy/bench/peers` on our engine, so that engines are measured on the same work: the
/// worker with another stage and other tables. Where it reads and writes is in the harness's environment (PEER_TOPIC,
/// PEER_BROKERS, PEER_PG, PEER_SCHEMA); it runs until it is ended.
@main
struct PeerJob {
    static func main() throws {
        Signals.install()
        let (schema, conninfo) = (wanted("PEER_SCHEMA"), wanted("PEER_PG"))
        try SchemaConnection.connect(conninfo, schema: schema).execute(tables)
        let log = Log(level: Log.Level(environment("PEER_LOG") ?? "info") ?? .info)
        var kafka = KafkaSettings(brokers: wanted("PEER_BROKERS"), clientID: "peer-job")
        kafka.log = { level, line in if level <= 4 { log.warning("kafka client", ["line": "\(line)"]) } }
        var settings = WorkerSettings(
            kafka: kafka, group: schema, instanceID: "peer-job", sessionTimeoutMs: 6_000, conninfo: conninfo, lanes: 1,
            batchMax: 10_000, commitIntervalMs: 200, tripRules: TripRules(), alertRules: .empty,
            topics: [wanted("PEER_TOPIC")])
        settings.schema = schema
        settings.stages = StageFactory(tables: MinuteStage.tables) { log, progress, _, rejects, _, connection in
            try MinuteStage(log.partition, storedOffset: progress.nextOffset, rejects, on: connection)
        }
        try Worker(settings, metrics: Metrics(), log: log).run { StopFlag.isSet }
    }

    /// The harness makes `minute` and `alert`.
    private static let tables = """
        CREATE TABLE IF NOT EXISTS partition_progress (
            topic text, partition int, next_offset bigint NOT NULL, clock_at timestamptz, replay_offset bigint NOT NULL,
            replay_clock_at timestamptz, last_record_hash bigint, partition_count int, topic_id text,
            create_time_before bigint, clock_waits text, replay_clock_waits text, generation bigint NOT NULL DEFAULT 0,
            PRIMARY KEY (topic, partition));
        CREATE TABLE IF NOT EXISTS rejected (
            topic text, partition int, record_offset bigint, last_offset bigint, records bigint, reason text,
            first_bytes bytea, pushed_at timestamptz, PRIMARY KEY (topic, partition, record_offset));
        CREATE TABLE IF NOT EXISTS vehicle_state (
            vehicle text PRIMARY KEY, partition int NOT NULL, next_offset bigint NOT NULL, state bytea NOT NULL)
        """

    private static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    private static func wanted(_ name: String) -> String {
        guard let text = environment(name) else {
            StandardError.write("\(name) is not set; `Deploy/bench/peers` sets it\n")
            exit(2)
        }
        return text
    }
}
