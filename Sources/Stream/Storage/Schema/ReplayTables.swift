internal import Codecs

/// Every table of the schema `drover`: compared with a replay, and by what, or not, and why. A test compares this list
/// with the database, so that a new table or column stands here before it is used.
package enum ReplayTables {
    /// A table, or the rows of it that are compared in one way.
    package struct Compared: Sendable {
        package let name: String
        /// How it is called where it is shown.
        package let label: String
        let key: [String]
        package let columns: [String]
        /// Columns that are not compared as they are, each with an expression of the row `r`; `%@` is the schema.
        package let shown: [String: String]
        package let leftOut: [LeftOut]
        /// Which rows are compared: a condition of `r`; `%@` is the schema.
        let condition: String
        /// The time by which `drover retention` takes old rows away.
        let keptBy: String?

        package var names: [String] { key + columns + leftOut.flatMap(\.columns) }
        /// Which rows follow from a vehicle's own records: a condition of `r`, with the vehicles as `%v`; nil: none.
        var isOfVehicles: String? {
            switch name {
            case "ride", "ride_vehicle": nil
            case "outbox": "r.topic = 'drover.alerts' AND coalesce(r.key = ANY (%v), false)"
            case "notice_event": "r.alert_id IN (SELECT a.alert_id FROM %@.alert a WHERE a.vehicle = ANY (%v))"
            default: names.contains("vehicle") ? "coalesce(r.vehicle = ANY (%v), false)" : nil
            }
        }
        /// The expressions that the columns are compared by.
        var expressions: [String] { columns.map { shown[$0] ?? "r.\($0)" } }
    }

    /// Columns or rows of a compared table that are left out of the comparison.
    package struct LeftOut: Sendable {
        package let what: String
        package let why: String
        package let columns: [String]

        static func columns(_ names: String, _ why: String) -> LeftOut {
            let columns = names.words
            return LeftOut(what: columns.joined(separator: ", "), why: why, columns: columns)
        }
        static func rows(_ what: String, _ why: String) -> LeftOut { LeftOut(what: what, why: why, columns: []) }
    }

    /// Tables that no log makes.
    package struct NotCompared: Sendable {
        package let tables: [String]
        package let why: String

        init(_ tables: String, _ why: String) { (self.tables, self.why) = (tables.words, why) }
    }

    private static func table(
        _ name: String, as label: String? = nil, key: String, _ columns: String, shown: [String: String] = [:],
        leftOut: [LeftOut] = [], where condition: String = "true", keptBy: String? = nil
    ) -> Compared {
        Compared(
            name: name, label: label ?? name, key: key.words, columns: columns.words, shown: shown, leftOut: leftOut,
            condition: condition, keptBy: keptBy)
    }

    // MARK: Compared

    package static let compared: [Compared] =
        progress + cars + watch + machines + alerts + actions + dispatch + surveys + tours + [outbox, noticeEvent]

    /// Tables of a replay's schema, each once.
    package static let names = compared.map(\.name).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }

    private static let progress = [
        table(
            "partition_progress", key: "topic partition", "next_offset clock_at clock_waits last_record_hash",
            // Not known is 0, too.
            shown: ["last_record_hash": "nullif(r.last_record_hash, 0)"],
            leftOut: [
                .columns(
                    "replay_offset replay_clock_at replay_clock_waits",
                    "where a worker that takes over reads again: it follows from how the log was cut into commits"),
                .columns(
                    "partition_count topic_id",
                    "what the topic was when it was first read: a replay goes by the live ones"),
                .columns("create_time_before", "a person said it: `drover offsets accept`"),
                .columns("generation", "how often vehicles were set apart: a replay sets none apart"),
            ]),
        table(
            "rejected", key: "topic partition record_offset", "last_offset records reason first_bytes pushed_at",
            leftOut: [.columns("retried_at", "a person asked for it: `drover rejected retry`")]),
    ]

    private static let totals = TotalsColumns.names.joined(separator: " ")
    private static let byCommit = LeftOut.columns(
        "revision revised_at", "late readings that were written by one commit are one correction")

    private static let cars = [
        table(
            "vehicle", key: "kind vehicle",
            "model topic_partition last_reading_at next_deadline_at machine_id machine_id_at"),
        table(
            "vehicle_minute", key: "vehicle minute_at", "trip_start_at samples \(totals)", leftOut: [byCommit],
            keptBy: "minute_at"),
        table(
            "trip", key: "vehicle start_at", "end_at is_open from_before goes_on state \(totals)",
            shown: ["state": latestState],
            leftOut: [
                byCommit,
                .columns("carry", "a part that an upgrade cut has none"),
                .rows("the offset within `state`", "where late readings were folded in follows from commits"),
                .rows("`state` of trips that are not a car's latest", "nobody reads it"),
            ]),
        table(
            "trip_rules", key: "topic_partition in_force_at", "\(TripLimits.keys.joined(separator: " ")) record_offset"),
        table("vehicle_day", key: "vehicle day_at", totals, leftOut: [byCommit]),
        table(
            "trip_start", key: "vehicle start_at", "latitude_deg longitude_deg lacks_weather", keptBy: "start_at"),
        table(
            "trip_weather", key: "vehicle hour_at cell_millideg latitude_index longitude_index", "fetched_at answer",
            keptBy: "hour_at"),
    ]

    /// Without the offset that it begins with (`CarState.pack`): a varint, in which every byte but the last is 80 or
    /// more.
    private static let latestState = """
        CASE WHEN r.state IS NOT NULL
                AND NOT EXISTS (SELECT FROM %@.trip n WHERE n.vehicle = r.vehicle AND n.start_at > r.start_at)
            THEN regexp_replace(encode(r.state, 'hex'), '^([89a-f].)*..', '') END
        """

    /// Of the limits `r`. Of two records of one time the one with the greater id is the later one.
    private static let isReplacedEverywhere = """
        EXISTS (SELECT FROM %@.account_settings s
            WHERE s.topic_partition = r.topic_partition AND s.account = 'installation' AND s.in_force_at = r.in_force_at
                AND s.reached_all_offset IS NOT NULL)
        OR EXISTS (SELECT FROM %@.replaced_limits n
            WHERE n.topic_partition = r.topic_partition AND n.in_force_at = r.in_force_at
                AND n.record_id COLLATE "C" > r.record_id AND n.reached_all_offset IS NOT NULL)
        """

    private static let howFar = LeftOut.columns(
        "after_vehicle",
        "how many come at a tick depends on who waits: whoever was set apart waits later, in a replay nobody was")

    private static let watch = [
        table(
            "car_watch", key: "vehicle",
            "topic_partition from_at until_at asked_offset is_late is_latest arrived_at codes_offset",
            leftOut: [.columns("state next_offset", "up to which reading a state goes follows from commits")]),
        table("car_spreading", key: "topic_partition asked_offset", "since_at", leftOut: [howFar]),
    ]

    private static let machines = [
        table(
            "machine_reading", key: "vehicle read_at",
            """
            reading_id model serial firmware machine_id engine_hours_h engine_turn_on_count key_turn_on_count fuel_level_gal
            coolant_c hydraulic_oil_c tire_pressure_kpa gps_available gps_fix_at latitude_deg longitude_deg rda_license
            wdt_license machine_sync connected_devices connected_device_names last_cell_call_in_at last_reprogramming_ok
            last_reprogramming_at alert_state is_reporting record_offset contact is_partial
            """, keptBy: "read_at"),
        table(
            "machine_rejudging", key: "vehicle",
            "topic_partition from_at until_at asked_offset is_late has_begun again_from_at again_until_at"),
        table(
            "machine_spreading", key: "topic_partition asked_offset", "since_at from_at until_at", leftOut: [howFar]),
        table("rule_set", key: "topic_partition in_force_at", "version rules record_offset"),
    ]

    private static let episode = """
        model unit severity state test threshold since_at opening_value worst_value worst_at resolved_at audience
        recommended advice rules_version kind
        """

    private static let alerts = [
        table(
            "alert", key: "alert_id",
            """
            vehicle parameter opened_at account \(episode) first_opened_at revision revised_at told_at resolved_told_at
            """)
    ]

    private static let actions = [
        table(
            "registration", key: "kind vehicle",
            """
            topic_partition registered_at record_id name model host port certificate_sha256 tags is_disabled account vin
            make year fuel tank_l displacement_cc volumetric_efficiency_pct
            """),
        table("service", key: "vehicle done_at", "record_id engine_hours_h recorded_by note"),
        table("acknowledgement", key: "vehicle record_id", "alert_id acknowledged_at acknowledged_by note"),
        table("alert_triage", key: "vehicle record_id", "alert_id said_at said_by word account until_at note"),
        table(
            "silence", key: "topic_partition record_id", "vehicle model parameter from_at until_at silenced_by note"),
        table(
            "poll_request", key: "vehicle request_id", "asked_at asked_by expires_at wants answered_at is_done answer"),
        table("trip_mark", key: "vehicle marked_at is_start", "record_id marked_by"),
        table("trip_note", key: "vehicle trip_at is_discard", "tag noted_at record_id noted_by"),
        table("driving", key: "vehicle record_id", "from_at until_at account"),
        table("assignment", key: "vehicle assigned_at", "account record_id assigned_by"),
        table(
            "account_settings", key: "topic_partition account in_force_at", "settings record_id",
            leftOut: [
                .columns("record_offset", "rows of a version before have none"),
                .columns(
                    "judged_from_at reached_vehicle reached_all_offset",
                    "to which cars limits of the installation have come: `drover offsets reset` has them come again"),
            ]),
        table(
            "replaced_limits", key: "topic_partition in_force_at record_id", "settings",
            leftOut: [
                .columns("record_offset", "records of a log that was lost have none"),
                .columns(
                    "judged_from_at reached_vehicle reached_all_offset",
                    "as in `account_settings`: `drover offsets reset` has them come again"),
                .rows(
                    "what another one of its time has replaced for all cars",
                    "kept for cars that are set apart: a replay sets none apart"),
            ], where: "NOT (\(isReplacedEverywhere))"),
        table(
            "health_scan", key: "vehicle scan_id",
            """
            asked_at asked_by expires_at scanned_at scanned_by is_done answer stored pending permanent is_lamp_on
            not_ready vin freeze_frame
            """),
        table("car_support", key: "vehicle", "seen_at record_id pids"),
        table("car_owner", key: "vehicle owned_at", "account record_id"),
        table(
            "trip_summary", key: "vehicle record_id",
            """
            start_at end_at account basis distance_km average_speed_kmh max_speed_kmh fuel_l average_mpg idle_s
            max_coolant_c sharp_accelerations sharp_brakings note
            """),
    ]

    private static let dispatch = [
        table(
            "campus", key: "campus",
            "topic_partition name settings state record_offset likelihoods hour_at hour_speed_kmh"),
        table("rider", key: "campus rider", "name photo"),
        table(
            "ride", key: "campus request",
            """
            rider state reason passengers description from_latitude_deg from_longitude_deg from_address to_latitude_deg
            to_longitude_deg to_address requested_at vehicle place_in_line pickup_at dropoff_at ended_at sign_at
            """),
        table(
            "ride_vehicle", key: "campus vehicle",
            """
            driver driver_name driver_photo capacity latitude_deg longitude_deg seen_at state is_alarmed is_silent sign_at
            stops
            """),
        table("dispatch_decision", key: "campus record_offset", "made_at decision why", keptBy: "made_at"),
    ]

    private static let surveys = [
        table(
            "survey", key: "site survey",
            """
            version account submitted_by submitted_at site_name route started_at stopped_at utc_offset_min local_date
            latitude_deg longitude_deg line distance_m pace_mps protocol gate gate_reasons observers expertise comments
            forward_to own_weather service_weather weather_missing needs_review sightings individuals revised_at others
            topic_partition is_blurred
            """),
        table(
            "survey_version", key: "site survey version",
            "record_id record_offset said_at account said_by note based_on body"),
        table(
            "survey_waiting", key: "site survey based_on", "record_id record_offset said_at account said_by note body"),
        table("survey_weather", key: "site survey hour_at", "answer"),
        table("surveyor", key: "site survey surveyor", "role name expertise mail phone"),
        table(
            "sighting", key: "site survey sighting seen_at",
            """
            local_date species given_name taxon individuals latitude_deg longitude_deg uncertainty_m section habitat
            conditions behaviour certainty life_stage sex mark light_lux photos animals plants comments own_weather
            temperature_c wind_speed_mps wind_direction_deg cloud_cover_pct weather_at weather_source is_sensitive
            is_blurred needs_review review_reason others shown_latitude_deg shown_longitude_deg
            """),
        table(
            "sighting_week", key: "site species iso_year iso_week behaviour temperature_band", "sightings individuals"),
        table("species_season", key: "site latitude_cell longitude_cell year month species", "surveys"),
    ]

    private static let tours = [
        table("tour_event", key: "tour event", "kind waypoint version happened_at utc_offset_min local_date"),
        table("tour_day", key: "tour kind waypoint local_date", "events"),
    ]

    // MARK: Also sent

    /// Rows that leave the live tables are compared as long as they are there.
    private static let isTaken = LeftOut.rows(
        "what a relay has taken or retention has deleted", "it is not in the live table any more")

    static let outbox = table(
        "outbox", key: "topic record_id", "key record",
        leftOut: [
            .columns("outbox_id made_at refused", "they tell of sending"), isTaken,
            .rows("decisions of dispatch", "a replay takes them from the log; they are in `dispatch_decision`"),
        ], where: "r.topic <> 'drover.dispatch'")

    static let noticeEvent = table(
        "notice_event", key: "alert_id transition told_at", "",
        leftOut: [.columns("event_id", "it tells of sending"), isTaken])

    // MARK: Not compared

    package static let notCompared = [
        NotCompared("migration", "it tells of the database"),
        NotCompared("relay_turn turn", "what is locked by who does alone what one may do at a time"),
        NotCompared(
            "period period_width retained",
            "how the live tables are parted and what was taken away: a replay has neither"),
        NotCompared("quarantine", "vehicles that are set apart: until they are back their rows are not compared"),
        NotCompared("live_trip watched", "a copy of what is in memory, for who looks at it now"),
        NotCompared("alert_event", "a copy of drivers' records of `outbox`, for a week"),
        NotCompared(
            "forward forward_pause",
            "what a collector was sent, by what accounts wanted then; the versions are in survey_version"),
        NotCompared(
            "notice notice_message notice_told mail mail_file",
            "who was told and what became of it: by the relays' clocks and people's choices then"),
        NotCompared("report_run report_schedule", "reports that people asked for, by the relay's clock"),
        NotCompared(
            """
            account account_device account_identity account_link account_login account_recovery_code account_second_factor
            account_secret account_session account_try
            code_request person person_account person_code person_token push_subscription token survey_session
            """, "people and their ways in: they are on no topic"),
        NotCompared(
            "notice_setting notice_step dealer_mark dealership fleet fleet_member fleet_vehicle",
            "what people set on pages: it is on no topic"),
        NotCompared(
            "audit_entry audit_head audit_name audit_tally", "who did what, which is on no topic: docs/audit.md"),
        NotCompared("question", "for whom a question asks, while it does: rolled back"),
        NotCompared("first_writer", "whom the door let in first: what was let in is on the topics"),
        NotCompared(
            "rule_edit vehicle_change", "who changed what on a page; the change itself is on a topic and compared"),
        NotCompared(
            "tour tour_medium tour_package tour_package_part tour_version taxon taxon_name",
            "what people wrote or imported: it is on no topic"),
        NotCompared(
            "machine_photo person_photo survey_photo survey_receipt",
            "handed in by apps and pages: a backup has them, no topic"),
        NotCompared("debug_log", "fetched from boxes: it is on no topic"),
        NotCompared(
            "geocode travel_leg travel_line weather_hour outside_call outside_service",
            "what services of others said, kept for a time; what results depend on is on the topics"),
    ]
}

extension String {
    fileprivate var words: [String] { split { $0 == " " || $0 == "\n" }.map(String.init) }
}
