/// One row a setting: the check, the help and docs/settings.md are made from it.
package struct SettingRow: Sendable {
    package enum Kind: Sendable {
        case text
        case integer(ClosedRange<Int64>)
        /// One of these words.
        case choice([String])
        /// Decimal with three places, kept as thousandths.
        case thousandths(ClosedRange<Int64>)
        /// A libpq connection string, which may hold a password: never shown.
        case connection
        /// A secret itself: never shown.
        case secret
        /// A file that is there and can be read.
        case file
        /// The same, and nobody but its owner and group may read it.
        case secretFile
        /// A folder that is there and can be written in.
        case folder
        /// A file or folder of the program's own, or another in its place; relative paths are meant from its home.
        case shipped
        /// A file that is made when it is not there; its folder is.
        case fileToMake
    }
    package let key: String
    package let kind: Kind
    package let standard: String
    package let help: String

    /// `kafka.brokers` is read from `DROVER_KAFKA_BROKERS`.
    package var variable: String { "DROVER_" + key.uppercased().replacing(".", with: "_") }
    /// `kafka` of `kafka.brokers`.
    package var group: String { String(key.prefix { $0 != "." }) }

    init(_ key: String, _ kind: Kind, _ standard: String, _ help: String) {
        self.key = key
        self.kind = kind
        self.standard = standard
        self.help = help
    }

    package static func of(_ key: String) -> SettingRow? { table.first { $0.key == key } }

    package static let table: [SettingRow] = [
        SettingRow("kafka.brokers", .text, "127.0.0.1:9092", "host:port of brokers, separated by commas"),
        SettingRow(
            "kafka.security_protocol", .choice(["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"]), "plaintext",
            "ssl is TLS, sasl a user and password (docs/operator.md)"),
        SettingRow(
            "kafka.ca_file", .file, "",
            "PEM file with the trusted roots; empty: the system's"),
        SettingRow(
            "kafka.certificate_file", .file, "",
            "PEM file with our client certificate and its chain; empty: none"),
        SettingRow("kafka.key_file", .secretFile, "", "PEM file with its private key"),
        SettingRow("kafka.key_password", .secret, "", "password of that key; better in a file"),
        SettingRow("kafka.key_password_file", .secretFile, "", "file whose first line is that password"),
        SettingRow(
            "kafka.sasl_mechanism", .choice(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]), "SCRAM-SHA-512",
            "PLAIN sends the password, SCRAM does not"),
        SettingRow("kafka.sasl_user", .text, "", "our user at the brokers"),
        SettingRow("kafka.sasl_password", .secret, "", "its password; better in a file"),
        SettingRow("kafka.sasl_password_file", .secretFile, "", "file whose first line is its password"),
        SettingRow(
            "kafka.topic_prefix", .text, "",
            "prefix of our topics and group; one for each installation that shares the brokers"),
        SettingRow("kafka.group", .text, "drover", "consumer group of the workers"),
        SettingRow(
            "kafka.instance_id", .text, "",
            "static member id of this worker, unique; empty: dynamic membership"),
        SettingRow(
            "kafka.session_timeout_ms", .integer(6_000...300_000), "10000",
            "a worker silent for this long loses its partitions"),
        SettingRow("kafka.partitions", .integer(1...1_024), "8", "partitions of new topics"),
        SettingRow(
            "kafka.replication", .integer(0...15), "0",
            "copies of new topics; 0: one at each broker, three at most. With three, two copies before a record counts as written"
        ),
        SettingRow(
            "kafka.batch_messages_max", .integer(1...100_000), "10000", "records a worker takes from the broker at once"
        ),
        SettingRow(
            "postgres.url", .connection, "dbname=drover",
            "connection string of workers (role drover_writer)"),
        SettingRow(
            "postgres.reader_url", .connection, "",
            "connection string of pages, API and reports (drover_reader and drover_api); empty: postgres.url"),
        SettingRow(
            "postgres.page_url", .connection, "",
            "connection string for people who are logged in (drover_page only); empty: no log-in"
        ),
        SettingRow(
            "postgres.query_url", .connection, "",
            "connection string of people's own questions (drover_query only; docs/analyst.md); empty: none"),
        SettingRow(
            "postgres.relay_url", .connection, "",
            "connection string of `drover notify` (drover_relay); empty: postgres.url"),
        SettingRow(
            "postgres.gateway_url", .connection, "",
            "connection string of `drover gateway` (drover_gateway); empty: postgres.url"),
        SettingRow(
            "postgres.survey_url", .connection, "",
            "connection string of surveyors' apps (drover_survey only); empty: postgres.reader_url"
        ),
        SettingRow(
            "surveys.node_map_file", .file, "",
            "maps fields of old clients' nodes to a survey's (docs/survey-apps.md); empty: node.save is off"),
        SettingRow(
            "notices.group_wait_s", .integer(0...600), "30",
            "immediate alerts within this time go into one message (docs/notices.md)"),
        SettingRow(
            "notices.webhook_hosts", .text, "",
            "hosts of people's webhooks, such as hooks.example.org, *.sms.example; empty: none (docs/notices.md)"
        ),
        SettingRow(
            "notices.webhook_cidrs", .text, "",
            "networks that webhook names may resolve to besides the internet, separated by commas; listed "
                + "addresses need none"),
        SettingRow(
            "notices.push_key_file", .secretFile, "",
            "PEM file with a P-256 private key for browser pushes, the same for serve and notify; empty: none"
        ),
        SettingRow(
            "notices.push_hosts", .text,
            "fcm.googleapis.com, updates.push.services.mozilla.com, *.notify.windows.com, *.push.apple.com",
            "push services that browsers may name"),
        SettingRow(
            "notices.ca_file", .file, "",
            "PEM file with the roots trusted for webhooks, push services and Alertmanager; empty: the system's"
        ),
        SettingRow(
            "alertmanager.url", .text, "",
            "a Prometheus Alertmanager that gets all open alerts; empty: none"),
        SettingRow(
            "alertmanager.interval_s", .integer(5...3_600), "30",
            "how often it gets them"),
        SettingRow(
            "forward.url", .text, "",
            "collector that gets versions of surveys (docs/forwarding.md); empty: none"),
        SettingRow("forward.name", .text, "bamona", "the collector's name in surveys (`forward_to`)"),
        SettingRow(
            "forward.token_file", .secretFile, "", "file whose first line is our key there; empty: none"),
        SettingRow("forward.ca_file", .file, "", "PEM file with the trusted roots; empty: the system's"),
        SettingRow(
            "forward.fields", .shipped, "Deploy/surveys/bamona-fields.txt",
            "maps our fields to the collector's columns"),
        SettingRow(
            "postgres.debug_url", .connection, "",
            "connection string of `drover log` and `drover gateway log --vehicle` (drover_debug); empty: "
                + "postgres.url"
        ),
        SettingRow("postgres.owner_url", .connection, "", "connection string of `drover migrate`; empty: postgres.url"),
        SettingRow(
            "work.lanes", .integer(0...256), "0",
            "lanes, each a thread and a database session; 0: one a core. Machines get half as many more"),
        SettingRow(
            "work.commit_interval_ms", .integer(1...60_000), "200", "longest time between two commits of a worker"),
        SettingRow(
            "work.quarantine_max", .integer(0...1_000), "16",
            "vehicles of a partition that may be in quarantine; with more the partition stops"
        ),
        SettingRow(
            "rejected.rows_max", .integer(1_000...100_000_000), "100000",
            "rejected rows kept a partition; the oldest go first"),
        SettingRow(
            "retention.vehicle_minute_days", .integer(0...100_000), "0",
            "how long cars' minutes and readings are kept; 0: for ever"),
        SettingRow(
            "retention.machine_reading_days", .integer(0...100_000), "0",
            "how long machines' readings are kept; 0: for ever"),
        SettingRow(
            "retention.dispatch_decision_days", .integer(0...100_000), "0",
            "how long dispatch decisions are kept; 0: for ever"),
        SettingRow(
            "retention.debug_log_days", .integer(0...100_000), "0",
            "how long boxes' debug logs are kept; 0: for ever"),
        SettingRow(
            "retention.trip_weather_days", .integer(0...100_000), "0",
            "how long trips' weather is kept; 0: for ever"),
        SettingRow(
            "retention.notice_days", .integer(0...100_000), "0",
            "how long notices of closed alerts are kept; 0: for ever"),
        SettingRow(
            "retention.outbox_days", .integer(0...100_000), "0",
            "how long records that the broker refused are kept; 0: for ever"),
        SettingRow(
            "retention.audit_days", .integer(0...100_000), "0",
            "how long audit entries are kept; 0: for ever"),
        SettingRow("ticks.interval_s", .integer(1...60), "5", "time between two ticks in a partition"),
        SettingRow(
            "ticks.roles", .text, "work,serve,notify,gateway",
            "roles that send ticks: work, serve, notify, gateway (`up` counts as work)"),
        SettingRow("gateway.poll_interval_s", .integer(1...86_400), "60", "time between two polls of a box"),
        SettingRow(
            "gateway.back_off_s_max", .integer(1...86_400), "300",
            "longest pause before a silent box or adapter is tried again; the first is about a second"),
        SettingRow(
            "gateway.answer_timeout_ms", .integer(100...600_000), "10000",
            "time for connecting, and for a whole answer"),
        SettingRow(
            "gateway.connection_s_max", .integer(1...86_400), "120",
            "longest connection; a backlog goes on with the next"),
        SettingRow(
            "gateway.contact_lost_s", .integer(1...86_400), "180",
            "a box silent for this long is without contact: an alert, if its engine was running"),
        SettingRow(
            "gateway.connections_max", .integer(1...100_000), "4096",
            "connections to boxes at once, and as many to adapters; each up to 130 KB and a file"),
        SettingRow(
            "gateway.registry_interval_s", .integer(1...3_600), "15", "how often registrations are read"
        ),
        SettingRow(
            "gateway.spool_path", .fileToMake, ".drover/data/spool.sqlite",
            "file that keeps readings until the broker has them, one a gateway. The default's folder is created"
        ),
        SettingRow(
            "gateway.spool_bytes_max", .integer(1_000_000...1_000_000_000_000), "1000000000",
            "size of the spool at which boxes are no longer polled"),
        SettingRow(
            "gateway.plain_tcp_cidrs", .text, "",
            "networks where boxes and adapters may be reached without TLS, separated by commas; empty: none"),
        SettingRow(
            "gateway.device_cidrs", .text, "public",
            "networks where boxes and adapters with a pinned certificate may be, separated by commas; `public`: "
                + "the internet. Name private networks; our own ports never (docs/operator.md)"),
        SettingRow(
            "gateway.failure_told_s", .integer(0...300), "20",
            "when people are told that a box does not answer; twice the answer timeout, so that the time reveals "
                + "nothing"),
        SettingRow(
            "gateway.debug_keys_dir", .folder, "",
            "folder with boxes' own keys, a file `VEHICLE.key` each, for debug logs that pages ask for; empty: none"),
        SettingRow(
            "gateway.obd_schedule", .text, "1000 ms: 0D 1-10; 0C 1,3,5,7,9; 10/0B 2,4; 10/0F 8; 42 6; 05 10",
            "what cars are asked: length of a step, then mode 01 parameters (a/b: the first supported) with "
                + "their steps; a step makes a reading"),
        SettingRow(
            "gateway.obd_parked_s", .integer(1...86_400), "60",
            "how often a parked car is asked; longer spares its battery"),
        SettingRow(
            "cars.trouble_codes_dir", .shipped, "Deploy/trouble-codes",
            "meanings of trouble codes: generic.csv and a file a make (docs/obd.md)"),
        SettingRow("trips.gap_s", .integer(1...600), "10", "readings further apart are not bridged"),
        SettingRow("trips.trip_gap_min", .integer(1...100_000), "5", "a longer silence ends a trip"),
        SettingRow(
            "trips.sharp_mps2", .thousandths(500...20_000), "3.0", "limit of sharp acceleration and braking, m/s²"),
        SettingRow(
            "trips.sharp_speed_kmh_min", .integer(0...200), "0",
            "below this speed nothing is sharp, km/h"),
        SettingRow(
            "trips.sharp_hold_ms", .integer(0...10_000), "0",
            "how long a change must stay beyond the limit to be sharp"),
        SettingRow(
            "alerts.thresholds_dir", .shipped, "Deploy/thresholds", "folder with tractors.xml and an XML file a model"),
        SettingRow(
            "alerts.watch_s", .integer(0...3_600), "5",
            "how often `drover serve` publishes changed threshold files; 0: never"),
        SettingRow(
            "iso.endpoint", .text, "",
            "first page of a maker's fleet snapshot (ISO 15143-3, AEMP 2.0), such as https://maker.example/Fleet/1"),
        SettingRow("iso.token_url", .text, "", "its OAuth 2.0 token address; empty: none"),
        SettingRow("iso.client_id", .text, "", "our client id there"),
        SettingRow(
            "iso.client_secret", .secret, "", "its secret; better in a file"),
        SettingRow("iso.client_secret_file", .secretFile, "", "file whose first line is the secret"),
        SettingRow("iso.ca_file", .file, "", "PEM file with the trusted roots; empty: the system's"),
        SettingRow("iso.interval_min", .integer(1...1_440), "60", "time between two pulls; makers allow one an hour"),
        SettingRow("iso.requests_per_hour_max", .integer(1...100_000), "600", "the rest of a pull waits"),
        SettingRow(
            "iso.series_h", .integer(0...336), "0", "hours of time series read with each pull; 0: only snapshots"),
        SettingRow(
            "outside.failures_max", .integer(1...100), "3",
            "failures in a row after which no process asks a service"),
        SettingRow(
            "outside.rest_s", .integer(1...3_600), "30",
            "first pause then; each failure doubles it, up to sixteen times"),
        SettingRow(
            "outside.contact", .text, "",
            "mail address or page sent to services (User-Agent)"),
        SettingRow("weather.provider", .text, "", "openweathermap, open-meteo, or what speaks like one; empty: none"),
        SettingRow("weather.url", .text, "", "its address for now; empty: the provider's"),
        SettingRow("weather.history_url", .text, "", "its address for the past; empty: the provider's"),
        SettingRow("weather.api_key", .secret, "", "its key; better in a file"),
        SettingRow("weather.api_key_file", .secretFile, "", "file whose first line is the key"),
        SettingRow("weather.ca_file", .file, "", "PEM file with the trusted roots; empty: the system's"),
        SettingRow("weather.timeout_ms", .integer(100...60_000), "5000", "time for a request"),
        SettingRow(
            "weather.calls_max", .text, "",
            "calls of all processes together, such as `60/min, 1000/day`; empty: the free tier"),
        SettingRow(
            "weather.cell_deg", .thousandths(10...5_000), "0.1",
            "side of a grid cell whose middle is sent to the service; 0.1 is about 11 km"),
        SettingRow(
            "weather.backfill_interval_s", .integer(1...3_600), "30",
            "how often the gateway looks for surveys and trips without weather"),
        SettingRow(
            "travel.url", .text, "", "an OSRM-compatible routing service; empty: distance and speed"),
        SettingRow("travel.profile", .text, "driving", "its profile"),
        SettingRow("travel.ca_file", .file, "", "PEM file with the trusted roots; empty: the system's"),
        SettingRow(
            "travel.timeout_ms", .integer(50...60_000), "1000",
            "time for a request; then distance and speed"),
        SettingRow("travel.calls_max", .text, "600/min", "calls of all processes together"),
        SettingRow(
            "travel.coordinates_max", .integer(2...1_000), "100",
            "places a request (osrm-routed --max-table-size)"),
        SettingRow(
            "travel.decimals", .integer(3...6), "4", "decimals of a degree sent to it; 4 are about 11 m"),
        SettingRow("travel.kept_h", .integer(1...8_784), "168", "how long a travel time is kept"),
        SettingRow(
            "travel.speeds_kmh", .text, "0-6 40, 6-7 32, 7-10 24, 10-15 30, 15-19 22, 19-24 34",
            "hours of the day and km/h without a service; put your town's"),
        SettingRow(
            "travel.detour", .thousandths(1_000...5_000), "1.35", "way by road over straight line, without a service"),
        SettingRow("travel.zone", .text, "UTC", "time zone of these hours, such as America/New_York"),
        SettingRow(
            "dispatch.measure_ms", .integer(20...10_000), "400",
            "longest wait of a pickup for measured ways (travel.url)"),
        SettingRow(
            "dispatch.weather_interval_s", .integer(1...3_600), "30",
            "how often the gateway looks for a change of a campus's surge or speed"),
        SettingRow("geocoder.url", .text, "", "a Nominatim-compatible geocoder; empty: coordinates only"),
        SettingRow("geocoder.ca_file", .file, "", "PEM file with the trusted roots; empty: the system's"),
        SettingRow("geocoder.timeout_ms", .integer(100...60_000), "5000", "time for a request"),
        SettingRow(
            "geocoder.calls_max", .text, "1/s",
            "calls of all processes together; the public one allows 1/s"),
        SettingRow(
            "geocoder.area", .text, "",
            "SOUTH,WEST,NORTH,EAST in degrees; places outside are ignored; empty: everywhere"),
        SettingRow(
            "geocoder.decimals", .integer(3...6), "4",
            "decimals of a degree sent to it; 4 are about 11 m"),
        SettingRow("geocoder.kept_days", .integer(1...3_660), "30", "how long an answer is kept"),
        SettingRow(
            "reports.folder", .folder, "",
            "folder for schedules with `--file`; empty: none"),
        SettingRow(
            "reports.grace_s", .integer(0...86_400), "900",
            "how long a scheduled report waits for late data"),
        SettingRow(
            "reports.look_s", .integer(1...604_800), "86400",
            "how often late changes of a scheduled report are looked for"),
        SettingRow(
            "reports.look_days", .integer(0...400), "35",
            "for how many days after it fell due; 0: never"),
        SettingRow(
            "reports.keep_days", .integer(1...3_650), "400",
            "how long scheduled reports are kept (400 a schedule at most)"),
        SettingRow(
            "mail.server", .text, "",
            "smtp://HOST:PORT (STARTTLS, unless on this machine) or smtps://HOST:PORT; empty: no mail"
        ),
        SettingRow("mail.from", .text, "", "sender's address"),
        SettingRow("mail.user", .text, "", "login at the mail server; empty: none"),
        SettingRow("mail.password_file", .secretFile, "", "file whose first line is its password"),
        SettingRow(
            "mail.certificate_authority", .file, "",
            "PEM file with the trusted roots; empty: the system's. If set, TLS is required on this machine, too"
        ),
        SettingRow(
            "people.code_key_file", .secretFile, "",
            "file with at least 32 random bytes, the same for serve and notify; protects second factors and "
                + "mailed codes; empty: neither (docs/accounts.md, docs/campus-people.md)"
        ),
        SettingRow(
            "people.code_key_file_before", .secretFile, "",
            "the previous key during a change of keys (docs/accounts.md)"),
        SettingRow(
            "people.second_factor_roles", .text, "",
            "roles that must have a second factor, separated by commas; empty: optional (docs/accounts.md)"),
        SettingRow("fuel.price_per_us_gal", .thousandths(0...1_000_000), "2.39", "price of fuel per US gallon"),
        SettingRow("fuel.currency", .text, "USD", "currency of the price"),
        SettingRow("web.host", .text, "127.0.0.1", "address that the page and the API listen on"),
        SettingRow("web.port", .integer(0...65_535), "8080", "port of the pages and the API; 0: any free one"),
        SettingRow(
            "web.receive_s", .integer(1...600), "20",
            "time for a whole request; a body gets a second more for each 16,000 bytes, 10 minutes at most"
        ),
        SettingRow(
            "web.query_s", .integer(1...600), "20",
            "time that a ready query or a page of sightings may take in the database"),
        SettingRow(
            "web.schedule_min", .integer(1...60), "60",
            "least time between two runs of a scheduled report, if made on the page"
        ),
        SettingRow(
            "tours.tells_per_minute", .integer(1...1_000_000), "300",
            "uploads of visits from one address a minute"),
        SettingRow("metrics.host", .text, "127.0.0.1", "address that GET /metrics, /livez and /readyz listen on"),
        SettingRow(
            "metrics.port", .integer(0...65_535), "0",
            "their port, one a process, without log-in; 0: off"),
        SettingRow(
            "health.stuck_s", .integer(5...3_600), "60",
            "GET /livez fails when a loop stands still for this long; ten times as long while it waits for a server"),
        SettingRow(
            "log.format", .choice(["text", "json"]), "text",
            "text, or json: an object a line with time, level, message and fields"),
        SettingRow(
            "web.certificate", .file, "",
            "PEM file with the server's certificate and its chain; empty: plain HTTP"),
        SettingRow("web.certificate_key", .secretFile, "", "PEM file with its private key, without a passphrase"),
        SettingRow(
            "web.public_url", .text, "",
            "address of the pages in mails, such as https://drover.example.org; empty: no account mails "
                + "(docs/accounts.md)"),
        SettingRow(
            "web.plain_http_outside", .integer(0...1), "0",
            "1: plain HTTP beyond the loopback, behind a proxy that speaks HTTPS"),
        SettingRow(
            "oidc.issuer", .text, "",
            "OpenID Connect provider for log-in, its issuer; empty: none"
        ),
        SettingRow("oidc.client_id", .text, "", "our client id there"),
        SettingRow("oidc.client_secret", .secret, "", "our secret there; better in a file"),
        SettingRow("oidc.client_secret_file", .secretFile, "", "file whose first line is the secret"),
        SettingRow("oidc.ca_file", .file, "", "PEM file with the trusted roots; empty: the system's"),
        SettingRow("oidc.name", .text, "OpenID", "its name on the log-in page"),
        SettingRow(
            "web.trusted_proxies", .text, "",
            "addresses of proxies whose X-Forwarded-For is believed, separated by commas"),
        SettingRow(
            "map.tiles_file", .file, "",
            "MBTiles or PMTiles file with vector tiles (pbf) or pictures (png, jpg, webp); empty: the sample's city "
                + "(docs/maps.md)"),
        SettingRow(
            "map.tiles_url", .text, "",
            "or a tile server, such as https://tiles.example/{z}/{x}/{y}.png?key={key}, asked by us, not by browsers"),
        SettingRow("map.tiles_key", .secret, "", "the value of {key}; better in a file"),
        SettingRow("map.tiles_key_file", .secretFile, "", "file whose first line is that key"),
        SettingRow("map.tiles_ca_file", .file, "", "PEM file with the trusted roots; empty: the system's"),
        SettingRow("map.tiles_zoom_max", .integer(0...22), "19", "the server's finest zoom"),
        SettingRow("map.attribution", .text, "", "who made the tiles, shown on each map; empty: as their file says"),
        SettingRow("apps.host", .text, "127.0.0.1", "address that riders' and ride drivers' apps reach"),
        SettingRow("apps.port", .text, "", "their port; 0: any free one; empty: apps are not served"),
        SettingRow(
            "apps.certificate", .file, "", "PEM file with the certificate for apps and its chain"),
        SettingRow("apps.key", .secretFile, "", "PEM file with its private key, without a passphrase"),
        SettingRow(
            "apps.client_authority", .file, "",
            "PEM file of the authority that signs apps' certificates"),
        SettingRow(
            "apps.client_revoked", .file, "",
            "PEM file with its revocation lists (CRL); empty: none"),
        SettingRow(
            "apps.answer_wait_ms", .integer(0...60_000), "5000",
            "how long an answer waits for its decision; then it says where to ask again"),
    ]
}
