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
        SettingRow("kafka.brokers", .text, "127.0.0.1:9092", "host:port of one or more brokers, separated by commas"),
        SettingRow(
            "kafka.security_protocol", .choice(["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"]), "plaintext",
            "how brokers are spoken to: ssl is TLS, sasl with a user and password (docs/operator.md)"),
        SettingRow(
            "kafka.ca_file", .file, "",
            "PEM file with the roots that are believed of brokers; empty: the system's"),
        SettingRow(
            "kafka.certificate_file", .file, "",
            "PEM file with a certificate of ours and what leads to a root, for brokers that want one; empty: none"),
        SettingRow("kafka.key_file", .secretFile, "", "PEM file with its private key"),
        SettingRow("kafka.key_password", .secret, "", "password of that key; better in a file"),
        SettingRow("kafka.key_password_file", .secretFile, "", "file whose first line is that password"),
        SettingRow(
            "kafka.sasl_mechanism", .choice(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]), "SCRAM-SHA-512",
            "how the password is shown: SCRAM never sends it, PLAIN does"),
        SettingRow("kafka.sasl_user", .text, "", "our user at the brokers"),
        SettingRow("kafka.sasl_password", .secret, "", "its password; better in a file"),
        SettingRow("kafka.sasl_password_file", .secretFile, "", "file whose first line is its password"),
        SettingRow(
            "kafka.topic_prefix", .text, "",
            "what our topics and the group are called by on the brokers, before their names; another one for each installation "
                + "that shares them"),
        SettingRow("kafka.group", .text, "drover", "consumer group of the workers"),
        SettingRow(
            "kafka.instance_id", .text, "",
            "static member id of this worker; empty: dynamic membership. Give each worker its own"),
        SettingRow(
            "kafka.session_timeout_ms", .integer(6_000...300_000), "10000",
            "a worker that is not heard of for this long loses its partitions"),
        SettingRow("kafka.partitions", .integer(1...1_024), "8", "partitions of a topic when it is made"),
        SettingRow(
            "kafka.replication", .integer(1...15), "1",
            "copies of a topic when it is made, each at another broker; 3 for a cluster: two have a record then when it counts as "
                + "written"),
        SettingRow(
            "kafka.batch_messages_max", .integer(1...100_000), "10000", "records a worker takes from the broker at once"
        ),
        SettingRow(
            "postgres.url", .connection, "dbname=drover",
            "libpq connection string of the worker (role in drover_writer)"),
        SettingRow(
            "postgres.reader_url", .connection, "",
            "connection string of pages, API and reports (role in drover_reader and drover_api); empty: postgres.url"),
        SettingRow(
            "postgres.page_url", .connection, "",
            "connection string of pages for people who are logged in (role in drover_page and in nothing else); empty: there are none"
        ),
        SettingRow(
            "postgres.query_url", .connection, "",
            "connection string of questions of people's own (role in drover_query and in nothing else; docs/analyst.md); empty: there are "
                + "none"),
        SettingRow(
            "postgres.relay_url", .connection, "",
            "connection string of `drover notify` (role in drover_relay); empty: postgres.url"),
        SettingRow(
            "postgres.gateway_url", .connection, "",
            "connection string of `drover gateway` (role in drover_gateway); empty: postgres.url"),
        SettingRow(
            "postgres.survey_url", .connection, "",
            "connection string for what surveyors' apps ask (role in drover_survey and in nothing else); empty: postgres.reader_url"
        ),
        SettingRow(
            "surveys.node_map_file", .file, "",
            "which fields of old clients' nodes are which of a survey (docs/survey-apps.md); empty: node.save is off"),
        SettingRow(
            "notices.group_wait_s", .integer(0...600), "30",
            "alerts to be told at once that come within this time go into one message (docs/notices.md)"),
        SettingRow(
            "notices.webhook_hosts", .text, "",
            "hosts that people's webhooks may be at, such as hooks.example.org, *.sms.example; empty: there are no webhooks "
                + "(docs/notices.md)"
        ),
        SettingRow(
            "notices.webhook_cidrs", .text, "",
            "networks that the names of these hosts may lead to beside the internet, separated by commas; a host that is listed as an"
                + " address needs none"),
        SettingRow(
            "notices.push_key_file", .secretFile, "",
            "PEM file with a private key of P-256, the same for `drover serve` and `drover notify`: pushes to browsers; empty: none"
        ),
        SettingRow(
            "notices.push_hosts", .text,
            "fcm.googleapis.com, updates.push.services.mozilla.com, *.notify.windows.com, *.push.apple.com",
            "push services that browsers may name"),
        SettingRow(
            "notices.ca_file", .file, "",
            "PEM file with the roots that are believed of webhooks, push services and Alertmanager; empty: the system's"
        ),
        SettingRow(
            "alertmanager.url", .text, "",
            "address of a Prometheus Alertmanager that gets all open alerts; empty: none"),
        SettingRow(
            "alertmanager.interval_s", .integer(5...3_600), "30",
            "how often it gets them"),
        SettingRow(
            "forward.url", .text, "",
            "address that versions of surveys are passed on to (docs/forwarding.md); empty: none are"),
        SettingRow("forward.name", .text, "bamona", "what surveys call that collector (`forward_to`)"),
        SettingRow(
            "forward.token_file", .secretFile, "", "file whose first line is the operator's own key there; empty: none"),
        SettingRow("forward.ca_file", .file, "", "PEM file with the roots that are believed; empty: the system's"),
        SettingRow(
            "forward.fields", .shipped, "Deploy/surveys/bamona-fields.txt",
            "which of our fields stand in which of the collector's columns"),
        SettingRow(
            "postgres.debug_url", .connection, "",
            "connection string of `drover log` and `drover gateway log --vehicle` (role in drover_debug); empty: postgres.url"
        ),
        SettingRow("postgres.owner_url", .connection, "", "connection string of `drover migrate`; empty: postgres.url"),
        SettingRow(
            "work.lanes", .integer(0...256), "0",
            "threads that work on partitions, each with a database session of its own; 0: one a processor core. Machines get "
                + "half as many beside them"),
        SettingRow(
            "work.commit_interval_ms", .integer(1...60_000), "200", "longest time between two commits of a worker"),
        SettingRow(
            "work.quarantine_max", .integer(0...1_000), "16",
            "vehicles of a partition that may be set apart because the database refuses them; with more the partition stops"
        ),
        SettingRow(
            "rejected.rows_max", .integer(1_000...100_000_000), "100000",
            "rows of rejected records that a partition keeps; the oldest go first"),
        SettingRow(
            "retention.vehicle_minute_days", .integer(0...100_000), "0",
            "days that cars' minutes with their readings are kept, by `drover retention`; 0: for ever"),
        SettingRow(
            "retention.machine_reading_days", .integer(0...100_000), "0",
            "days that machines' readings are kept, by `drover retention`; 0: for ever"),
        SettingRow(
            "retention.dispatch_decision_days", .integer(0...100_000), "0",
            "days that decisions of dispatch with their reasons are kept, by `drover retention`; 0: for ever"),
        SettingRow(
            "retention.debug_log_days", .integer(0...100_000), "0",
            "days that debug logs of boxes are kept, by `drover retention`; 0: for ever"),
        SettingRow(
            "retention.trip_weather_days", .integer(0...100_000), "0",
            "days that the weather of trips is kept, with where they began, by `drover retention`; 0: for ever"),
        SettingRow(
            "retention.notice_days", .integer(0...100_000), "0",
            "days that notices are kept, with their messages, by `drover retention`: what was told of alerts that are over; "
                + "0: for ever"),
        SettingRow(
            "retention.outbox_days", .integer(0...100_000), "0",
            "days that records are kept which the broker refused, by `drover retention`; 0: for ever"),
        SettingRow(
            "retention.audit_days", .integer(0...100_000), "0",
            "days that entries of the audit log are kept, by `drover retention`; 0: for ever"),
        SettingRow("ticks.interval_s", .integer(1...60), "5", "time between two ticks in a partition"),
        SettingRow(
            "ticks.roles", .text, "work,serve,notify,gateway",
            "which roles send ticks: work, serve, notify, gateway, separated by commas (`up` counts as work)"),
        SettingRow("gateway.poll_interval_s", .integer(1...86_400), "60", "time between two polls of a box"),
        SettingRow(
            "gateway.back_off_s_max", .integer(1...86_400), "300",
            "longest time until a box or adapter that does not answer is tried again; the first time is about a second"),
        SettingRow(
            "gateway.answer_timeout_ms", .integer(100...600_000), "10000",
            "a box or adapter that has not connected, or not answered whole, by then is hung up on"),
        SettingRow(
            "gateway.connection_s_max", .integer(1...86_400), "120",
            "longest time of one connection; a longer backlog goes on with the next"),
        SettingRow(
            "gateway.contact_lost_s", .integer(1...86_400), "180",
            "a box that has not answered for so long is without contact: an alert, if its engine was running"),
        SettingRow(
            "gateway.connections_max", .integer(1...100_000), "4096",
            "boxes that are talked to at once, and as many adapters; each may take 130 KB and an open file"),
        SettingRow(
            "gateway.registry_interval_s", .integer(1...3_600), "15", "how often registrations are read from PostgreSQL"
        ),
        SettingRow(
            "gateway.spool_path", .fileToMake, ".drover/data/spool.sqlite",
            "file that keeps readings until the broker has them; each gateway has its own. Of the default the folder is made, too"
        ),
        SettingRow(
            "gateway.spool_bytes_max", .integer(1_000_000...1_000_000_000_000), "1000000000",
            "size of the spool from which on boxes are not polled and keep their readings"),
        SettingRow(
            "gateway.plain_tcp_cidrs", .text, "",
            "networks in which boxes and adapters may be reached without TLS, separated by commas; empty: none"),
        SettingRow(
            "gateway.device_cidrs", .text, "public",
            "networks in which boxes and adapters with a pinned certificate may be, beside those without TLS, separated by commas;"
                + " `public`: the internet. Loopback, private and link-local networks only when they are named, our own ports"
                + " never (docs/operator.md)"),
        SettingRow(
            "gateway.failure_told_s", .integer(0...300), "20",
            "when whoever asks for a box or an adapter is told that it does not answer, whatever is the matter; keep it at twice"
                + " the answer timeout, so that nobody learns from the time what listens where"),
        SettingRow(
            "gateway.obd_schedule", .text, "1000 ms: 0D 1-10; 0C 1,3,5,7,9; 10/0B 2,4; 10/0F 8; 42 6; 05 10",
            "what cars are asked for: length of a step, then parameters (mode 01; of a/b the first that the car supports)"
                + " with the steps in which they are asked; the values of one step make one reading"),
        SettingRow(
            "gateway.obd_parked_s", .integer(1...86_400), "60",
            "how often a car whose ignition is off is asked again; longer spares its battery"),
        SettingRow(
            "cars.trouble_codes_dir", .shipped, "Deploy/trouble-codes",
            "folder with what trouble codes mean: generic.csv and a file a make (docs/obd.md)"),
        SettingRow("trips.gap_s", .integer(1...600), "10", "hole limit: readings further apart are not bridged"),
        SettingRow("trips.trip_gap_min", .integer(1...100_000), "5", "a longer silence ends a trip"),
        SettingRow(
            "trips.sharp_mps2", .thousandths(500...20_000), "3.0", "limit of sharp acceleration and braking, m/s²"),
        SettingRow(
            "trips.sharp_speed_kmh_min", .integer(0...200), "0",
            "a change of speed below this speed is never sharp, km/h"),
        SettingRow(
            "trips.sharp_hold_ms", .integer(0...10_000), "0",
            "a change of speed is sharp only when it stays beyond the limit for this long"),
        SettingRow(
            "alerts.thresholds_dir", .shipped, "Deploy/thresholds", "folder with tractors.xml and one XML file a model"),
        SettingRow(
            "alerts.watch_s", .integer(0...3_600), "5",
            "how often `drover serve` looks for changed threshold files and publishes them; 0: never"),
        SettingRow(
            "iso.endpoint", .text, "",
            "first page of a maker's fleet snapshot (ISO 15143-3, AEMP 2.0), such as https://maker.example/Fleet/1"),
        SettingRow("iso.token_url", .text, "", "where it gives out access tokens (OAuth 2.0); empty: it wants none"),
        SettingRow("iso.client_id", .text, "", "the client that the maker has registered"),
        SettingRow(
            "iso.client_secret", .secret, "", "its secret; better a variable or the next one than a shared file"),
        SettingRow("iso.client_secret_file", .secretFile, "", "file whose first line is the secret"),
        SettingRow("iso.ca_file", .file, "", "PEM file with the roots that are believed; empty: the system's"),
        SettingRow("iso.interval_min", .integer(1...1_440), "60", "time between two pulls; makers allow one an hour"),
        SettingRow("iso.requests_per_hour_max", .integer(1...100_000), "600", "the rest of a pull waits"),
        SettingRow(
            "iso.series_h", .integer(0...336), "0", "hours of time series read with each pull; 0: only snapshots"),
        SettingRow(
            "outside.failures_max", .integer(1...100), "3",
            "failures in a row after which a service of others is left alone, by all processes"),
        SettingRow(
            "outside.rest_s", .integer(1...3_600), "30",
            "for how long at first; each failed try doubles it, to sixteen times"),
        SettingRow(
            "outside.contact", .text, "",
            "mail address or page that services of others are told (User-Agent), so that they can reach you"),
        SettingRow("weather.provider", .text, "", "openweathermap or open-meteo, or what speaks like one; empty: none"),
        SettingRow("weather.url", .text, "", "its address, for now; empty: the provider's own"),
        SettingRow("weather.history_url", .text, "", "its address for the past; empty: the provider's own"),
        SettingRow("weather.api_key", .secret, "", "its key; better a variable or the next one than a shared file"),
        SettingRow("weather.api_key_file", .secretFile, "", "file whose first line is the key"),
        SettingRow("weather.ca_file", .file, "", "PEM file with the roots that are believed; empty: the system's"),
        SettingRow("weather.timeout_ms", .integer(100...60_000), "5000", "a request is given up after that"),
        SettingRow(
            "weather.calls_max", .text, "",
            "how often it may be asked by all processes together, such as `60/min, 1000/day`; empty: the free tier"),
        SettingRow(
            "weather.cell_deg", .thousandths(10...5_000), "0.1",
            "side of a cell of the grid: its middle is what the service is told, and 0.1 is about 11 km"),
        SettingRow(
            "weather.backfill_interval_s", .integer(1...3_600), "30",
            "the gateway looks so often for surveys and trips whose weather is not known"),
        SettingRow(
            "travel.url", .text, "", "address of an OSRM-compatible routing service; empty: distance and speed instead"),
        SettingRow("travel.profile", .text, "driving", "its profile"),
        SettingRow("travel.ca_file", .file, "", "PEM file with the roots that are believed; empty: the system's"),
        SettingRow(
            "travel.timeout_ms", .integer(50...60_000), "1000",
            "what has no answer by then is by distance and speed"),
        SettingRow("travel.calls_max", .text, "600/min", "how often it may be asked by all processes together"),
        SettingRow(
            "travel.coordinates_max", .integer(2...1_000), "100",
            "places of one request, as the service allows (osrm-routed --max-table-size)"),
        SettingRow(
            "travel.decimals", .integer(3...6), "4", "decimals of a degree that the service is told; 4 are about 11 m"),
        SettingRow("travel.kept_h", .integer(1...8_784), "168", "how long a travel time is kept"),
        SettingRow(
            "travel.speeds_kmh", .text, "0-6 40, 6-7 32, 7-10 24, 10-15 30, 15-19 22, 19-24 34",
            "hours of the day and km/h, for ways that no service knows: a guess for a town, put your own"),
        SettingRow(
            "travel.detour", .thousandths(1_000...5_000), "1.35", "way by road over straight line, for the same"),
        SettingRow("travel.zone", .text, "UTC", "time zone of these hours, such as America/New_York"),
        SettingRow(
            "dispatch.measure_ms", .integer(20...10_000), "400",
            "the most that a pickup waits until the ways to it are measured (travel.url); by distance after that"),
        SettingRow(
            "dispatch.weather_interval_s", .integer(1...3_600), "30",
            "the gateway looks so often whether the hour or the weather changes a campus's surge or speed"),
        SettingRow("geocoder.url", .text, "", "address of a Nominatim-compatible geocoder; empty: only coordinates"),
        SettingRow("geocoder.ca_file", .file, "", "PEM file with the roots that are believed; empty: the system's"),
        SettingRow("geocoder.timeout_ms", .integer(100...60_000), "5000", "a request is given up after that"),
        SettingRow(
            "geocoder.calls_max", .text, "1/s",
            "how often it may be asked by all processes together; 1/s is what the public one allows"),
        SettingRow(
            "geocoder.area", .text, "",
            "SOUTH,WEST,NORTH,EAST in degrees: places elsewhere do not count; empty: everywhere"),
        SettingRow(
            "geocoder.decimals", .integer(3...6), "4",
            "decimals of a degree that it is told to find an address; 4 are about 11 m"),
        SettingRow("geocoder.kept_days", .integer(1...3_660), "30", "how long an answer is kept"),
        SettingRow(
            "reports.folder", .folder, "",
            "folder that schedules with `--file` write their reports into; empty: there is none"),
        SettingRow(
            "reports.grace_s", .integer(0...86_400), "900",
            "a scheduled report waits so long after the end of its days for data that comes late"),
        SettingRow(
            "reports.look_s", .integer(1...604_800), "86400",
            "how often it is looked whether late data has changed a scheduled report"),
        SettingRow(
            "reports.look_days", .integer(0...400), "35",
            "for so many days after it fell due; 0: never"),
        SettingRow(
            "reports.keep_days", .integer(1...3_650), "400",
            "so long scheduled reports are kept for the page (400 of a schedule at most)"),
        SettingRow(
            "mail.server", .text, "",
            "smtp://HOST:PORT (with STARTTLS, unless it is on this machine) or smtps://HOST:PORT; empty: no mail goes out"
        ),
        SettingRow("mail.from", .text, "", "mail address that mail comes from"),
        SettingRow("mail.user", .text, "", "login at the mail server; empty: none"),
        SettingRow("mail.password_file", .secretFile, "", "file whose first line is its password"),
        SettingRow(
            "mail.certificate_authority", .file, "",
            "PEM file with the roots that are believed; empty: the system's. With one, TLS is required on this machine, too"
        ),
        SettingRow(
            "people.code_key_file", .secretFile, "",
            "file with 32 bytes of chance or more, the same for `drover serve` and `drover notify`: what second "
                + "factors and mailed codes are kept under; empty: none of them (docs/accounts.md, docs/campus-people.md)"
        ),
        SettingRow(
            "people.code_key_file_before", .secretFile, "",
            "file with the key from before, while keys are changed: what it made still holds, and nothing new is made with it "
                + "(docs/accounts.md)"),
        SettingRow(
            "people.second_factor_roles", .text, "",
            "roles that need a second factor to log in, with commas, like administrator,operator; who has none is led to set one up "
                + "(docs/accounts.md); empty: whoever wants one has one"),
        SettingRow("fuel.price_per_us_gal", .thousandths(0...1_000_000), "2.39", "price of fuel per US gallon"),
        SettingRow("fuel.currency", .text, "USD", "currency of the price"),
        SettingRow("web.host", .text, "127.0.0.1", "address that the page and the API listen on"),
        SettingRow("web.port", .integer(0...65_535), "8080", "port of the pages and the API; 0: any free one"),
        SettingRow(
            "web.receive_s", .integer(1...600), "20",
            "time that a request to the pages, the API or apps has from its first byte to its last; a body gets a second more for "
                + "each 16,000 bytes that arrive, but is never waited for longer than this after a piece of it, or 10 minutes in all"
        ),
        SettingRow(
            "web.query_s", .integer(1...600), "20",
            "time that a ready query or a page of sightings may take in the database before it says so"),
        SettingRow(
            "web.schedule_min", .integer(1...60), "60",
            "time between two runs of a scheduled report that somebody asks for on the page, at least; `drover schedule` takes any"
        ),
        SettingRow(
            "tours.tells_per_minute", .integer(1...1_000_000), "300",
            "uploads of visits that are taken from one address in a minute; phones behind one address share them"),
        SettingRow("metrics.host", .text, "127.0.0.1", "address that GET /metrics, /livez and /readyz listen on"),
        SettingRow(
            "metrics.port", .integer(0...65_535), "0",
            "port of these, another one for each process; nobody is asked who they are; 0: not served"),
        SettingRow(
            "health.stuck_s", .integer(5...3_600), "60",
            "a loop of the process that has not turned for so long makes GET /livez say no; ten times as long while it waits for "
                + "PostgreSQL or the broker"),
        SettingRow(
            "log.format", .choice(["text", "json"]), "text",
            "text for people, or json for collectors: one object a line, with time, level, message and fields"),
        SettingRow(
            "web.certificate", .file, "",
            "PEM file with the server's certificate and what leads to a root: HTTPS; empty: plain HTTP"),
        SettingRow("web.certificate_key", .secretFile, "", "PEM file with its private key, without a passphrase"),
        SettingRow(
            "web.public_url", .text, "",
            "how people reach the pages, like https://drover.example.org: links in mails begin with it; empty: no mails of "
                + "accounts (docs/accounts.md)"),
        SettingRow(
            "web.plain_http_outside", .integer(0...1), "0",
            "1: plain HTTP on other addresses than the loopback, for a proxy in front that speaks HTTPS"),
        SettingRow(
            "oidc.issuer", .text, "",
            "OpenID Connect provider that people may log in at, as it calls itself; empty: none"
        ),
        SettingRow("oidc.client_id", .text, "", "what we are called there"),
        SettingRow("oidc.client_secret", .secret, "", "our password there; better in a file"),
        SettingRow("oidc.client_secret_file", .secretFile, "", "file whose first line is our password there"),
        SettingRow("oidc.ca_file", .file, "", "PEM file with the roots that are believed; empty: the system's"),
        SettingRow("oidc.name", .text, "OpenID", "what the log-in page calls it"),
        SettingRow(
            "web.trusted_proxies", .text, "",
            "addresses of the proxies in front of the page, with commas: who asks is whom their X-Forwarded-For names"),
        SettingRow(
            "map.tiles_file", .file, "",
            "MBTiles or PMTiles file with pictures (png, jpg, webp) that maps are drawn on; empty: the coarse map that ships with the "
                + "program (docs/pages.md)"),
        SettingRow(
            "map.tiles_url", .text, "",
            "or a server of others, like https://tiles.example/{z}/{x}/{y}.png?key={key}, asked by us and never by "
                + "browsers"),
        SettingRow("map.tiles_key", .secret, "", "what {key} stands for; better in a file"),
        SettingRow("map.tiles_key_file", .secretFile, "", "file whose first line is that key"),
        SettingRow("map.tiles_ca_file", .file, "", "PEM file with the roots that are believed; empty: the system's"),
        SettingRow("map.tiles_zoom_max", .integer(0...22), "19", "the finest zoom that the server has"),
        SettingRow("map.attribution", .text, "", "who made the tiles, as shown on each map; empty: as their file says"),
        SettingRow("apps.host", .text, "127.0.0.1", "address that riders' and ride drivers' apps reach"),
        SettingRow("apps.port", .text, "", "port that apps reach; 0: any free one; empty: apps are not served"),
        SettingRow(
            "apps.certificate", .file, "", "PEM file with the certificate for apps and what leads to a root"),
        SettingRow("apps.key", .secretFile, "", "PEM file with its private key, without a passphrase"),
        SettingRow(
            "apps.client_authority", .file, "",
            "PEM file of the authority that signs apps' certificates; others are refused in the handshake"),
        SettingRow(
            "apps.client_revoked", .file, "",
            "PEM file with that authority's lists of revoked certificates (CRL); empty: none is revoked"),
        SettingRow(
            "apps.answer_wait_ms", .integer(0...60_000), "5000",
            "so long an answer waits for its decision; then it says where to ask again"),
    ]
}
