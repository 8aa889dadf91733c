-- Today's schema, for reading: made from Queries/migrations by `make schema`, never run. Tests/System/operations/test_schema.py holds it to them.
-- Tables of months (drover.machine_reading_2026_11) look like the table that they are parts of and are left out; so are owners.
-- Rights that only the owner has, and the rights of PUBLIC to call a function, are PostgreSQL's standard unless they are told here.


-- MARK: analyst

-- Version 1. Views for analysts (docs/analyst.md). Columns are added, never renamed, retyped or taken away without another version.
CREATE SCHEMA analyst;
GRANT USAGE ON SCHEMA analyst TO drover_reader, drover_researcher, drover_sight;

-- Grain: an episode of an alert. Key: alert_id. Fresh: a commit (200 ms). Withdrawn ones are there: late readings took them back.
--   alert_id: Id; stays when late data moves the opening.
--   kind: car or machine.
--   vehicle: Id of the vehicle.
--   model: Model of the machine; empty for cars.
--   account: Of a car: whose limits it is about.
--   parameter: As people read it.
--   unit: Unit of threshold and values.
--   severity: warning or critical.
--   state: due_soon, open, resolved or withdrawn.
--   test: above, below or absent.
--   threshold: Limit [as column unit says].
--   since_at: When the condition began.
--   opened_at: When it had held long enough.
--   opening_value: Value that opened it [as column unit says].
--   worst_value: Value furthest beyond the limit [as column unit says].
--   worst_at: When that was.
--   resolved_at: When it was over.
--   told_at: When what opened it came in.
--   resolved_told_at: When what resolved it came in.
--   audience: farmer, dealer or developer: for whom it is at least.
--   recommended: What the value should be [as column unit says].
--   advice: What to do.
--   rules_version: Rules that it was judged by.
--   revision: How often what had been told was corrected [count].
--   revised_at: When the last correction was pushed.
--   acknowledged_at: When somebody first said that they have seen it.
--   acknowledged_by: Account of them.
--   open_s: From opening to resolution [s]; NULL: still open.
CREATE VIEW analyst.alert WITH (security_invoker='true') AS
 SELECT a.alert_id,
    a.kind,
    a.vehicle,
    a.model,
    a.account,
    a.parameter,
    a.unit,
    a.severity,
    a.state,
    a.test,
    a.threshold,
    a.since_at,
    a.opened_at,
    a.opening_value,
    a.worst_value,
    a.worst_at,
    a.resolved_at,
    a.told_at,
    a.resolved_told_at,
    a.audience,
    a.recommended,
    a.advice,
    a.rules_version,
    a.revision,
    a.revised_at,
    seen.acknowledged_at,
    seen.acknowledged_by,
    (EXTRACT(epoch FROM (a.resolved_at - a.opened_at)))::double precision AS open_s
   FROM (drover.alert a
     LEFT JOIN LATERAL ( SELECT k.acknowledged_at,
            k.acknowledged_by
           FROM drover.acknowledgement k
          WHERE ((k.alert_id = a.alert_id) AND (k.vehicle = a.vehicle) AND (NOT (EXISTS ( SELECT
                   FROM drover.alert_triage t
                  WHERE ((t.alert_id = k.alert_id) AND (t.vehicle = k.vehicle) AND (t.word = 'reopened'::text) AND (t.said_at >= k.acknowledged_at))))))
          ORDER BY k.acknowledged_at, k.record_id
         LIMIT 1) seen ON (true));
GRANT SELECT ON TABLE analyst.alert TO drover_reader, drover_sight;

-- Grain: what dispatch decided upon one record. Key: campus, record_offset. Fresh: a commit (200 ms).
--   campus: Id of the campus.
--   record_offset: Of the record that asked for it, in the campus's partition [offset].
--   made_at: When it was made.
--   why: JSON: steps with what was tried, what each would have cost and what moved; weights (docs/dispatch.md).
CREATE VIEW analyst.decision WITH (security_invoker='true') AS
 SELECT d.campus,
    d.record_offset,
    d.made_at,
    d.why
   FROM drover.dispatch_decision d;
GRANT SELECT ON TABLE analyst.decision TO drover_reader, drover_sight;

-- Grain: a campus's UTC hour in which rides were asked for. Key: campus, hour_at. Fresh: computed when it is asked. Of the rides that one sees.
--   campus: Id of the campus.
--   hour_at: Start of the UTC hour in which rides were asked for.
--   requests: Rides asked for [count].
--   passengers: Passengers of them [count].
--   served: Brought there [count].
--   cancelled: Cancelled [count].
--   expired: Given up after silence [count].
--   refused: Refused [count].
--   outstanding: Not over yet [count].
--   waiting_p50_s: Median of waiting [s].
--   waiting_p90_s: Nine in ten waited no longer [s].
--   waiting_mean_s: Mean of waiting [s].
--   riding_mean_s: Mean of riding [s].
CREATE VIEW analyst.dispatch_hour WITH (security_invoker='true') AS
 SELECT r.campus,
    date_trunc('hour'::text, r.requested_at, 'UTC'::text) AS hour_at,
    (count(*))::integer AS requests,
    (sum(r.passengers))::integer AS passengers,
    (count(*) FILTER (WHERE (r.state = 'done'::text)))::integer AS served,
    (count(*) FILTER (WHERE (r.state = 'cancelled'::text)))::integer AS cancelled,
    (count(*) FILTER (WHERE (r.state = 'expired'::text)))::integer AS expired,
    (count(*) FILTER (WHERE (r.state = 'refused'::text)))::integer AS refused,
    (count(*) FILTER (WHERE (r.ended_at IS NULL)))::integer AS outstanding,
    percentile_disc((0.5)::double precision) WITHIN GROUP (ORDER BY r.waiting_s) AS waiting_p50_s,
    percentile_disc((0.9)::double precision) WITHIN GROUP (ORDER BY r.waiting_s) AS waiting_p90_s,
    avg(r.waiting_s) AS waiting_mean_s,
    avg(r.riding_s) AS riding_mean_s
   FROM analyst.ride r
  GROUP BY r.campus, (date_trunc('hour'::text, r.requested_at, 'UTC'::text));
GRANT SELECT ON TABLE analyst.dispatch_hour TO drover_reader, drover_sight;

-- Grain: a vehicle in a fleet, those of its parts included. Key: fleet, kind, vehicle. Fresh: at once.
--   fleet: Id of the fleet.
--   fleet_name: Its name.
--   kind: car or machine.
--   vehicle: Id of the vehicle.
CREATE VIEW analyst.fleet_vehicle WITH (security_invoker='true') AS
 SELECT f.fleet,
    f.name AS fleet_name,
    f.kind,
    f.vehicle
   FROM drover.fleets_seen() f(fleet, name, kind, vehicle);
GRANT SELECT ON TABLE analyst.fleet_vehicle TO drover_reader, drover_sight;

-- Grain: a machine's reading, or what the gateway says of its contact. Key: vehicle, read_at. Fresh: a commit (200 ms). NULL: the reading does not tell.
--   vehicle: Id of the machine.
--   read_at: By the box's clock.
--   model: Model.
--   serial: Serial number.
--   firmware: Version of the box's program.
--   engine_hours_h: Engine hours, a meter that only grows [h].
--   engine_turn_on_count: Starts of the engine [count].
--   key_turn_on_count: Turns of the key [count].
--   fuel_level_gal: Fuel in the tank [US gal].
--   coolant_c: Coolant [°C].
--   hydraulic_oil_c: Hydraulic oil [°C].
--   tire_pressure_kpa: Tire pressure [kPa].
--   gps_available: Whether it knows where it is.
--   gps_fix_at: When it last knew.
--   latitude_deg: Latitude [degrees].
--   longitude_deg: Longitude [degrees].
--   rda_license: Remote display access is licensed.
--   wdt_license: Wireless data transfer is licensed.
--   machine_sync: Machine sync is on.
--   connected_devices: Devices on its bus [count].
--   last_cell_call_in_at: When the box last called in.
--   last_reprogramming_ok: How the last reprogramming ended.
--   last_reprogramming_at: When that was.
--   is_partial: What it lacks says nothing.
--   is_answering: Said by the gateway in a row of its own: the box answers. NULL: the machine's own reading.
--   machine_id: What the box calls the machine.
CREATE VIEW analyst.machine_reading WITH (security_invoker='true') AS
 SELECT r.vehicle,
    r.read_at,
    r.model,
    r.serial,
    r.firmware,
    r.engine_hours_h,
    r.engine_turn_on_count,
    r.key_turn_on_count,
    r.fuel_level_gal,
    r.coolant_c,
    r.hydraulic_oil_c,
    r.tire_pressure_kpa,
    r.gps_available,
    r.gps_fix_at,
    r.latitude_deg,
    r.longitude_deg,
    r.rda_license,
    r.wdt_license,
    r.machine_sync,
    r.connected_devices,
    r.last_cell_call_in_at,
    r.last_reprogramming_ok,
    r.last_reprogramming_at,
    r.is_partial,
    r.contact AS is_answering,
    r.machine_id
   FROM drover.machine_reading r;
GRANT SELECT ON TABLE analyst.machine_reading TO drover_reader, drover_sight;

-- Grain: one occasion (an alert opened, became worse, ended, …) that one account was told of, or not, and why. Key: notice_id. Fresh: a second. People see their own.
--   notice_id: Stable id of alert, account, occasion and round.
--   alert_id: The alert, as in alert.
--   vehicle: Id of the vehicle.
--   account: Who was to be told.
--   occasion: opened, worse, repeated, escalated, resolved, corrected or withdrawn.
--   round: Which repeat or step, or the alert's revision [number].
--   relation: Why this account: owner, driver, dealer, developer, or for whom it steps in.
--   manner: at_once, daily or never.
--   state: waiting, told or not_told.
--   reason: Why so, for people.
--   decided_at: When it was decided.
--   due_at: When it is, or was, due.
--   settled_at: When it was told, or was clear that it is not.
--   channels: Ways on which a message with it was taken.
--   sent_at: When the first message with it was taken.
--   tries: Tries of all messages with it [count].
CREATE VIEW analyst.notice WITH (security_invoker='true') AS
 SELECT n.notice_id,
    n.alert_id,
    n.vehicle,
    n.account,
    n.occasion,
    n.round,
    n.relation,
    n.manner,
    n.state,
    n.reason,
    n.decided_at,
    n.due_at,
    n.settled_at,
    sent.channels,
    sent.sent_at,
    sent.tries
   FROM (drover.notice n
     LEFT JOIN LATERAL ( SELECT array_agg(DISTINCT m.channel) FILTER (WHERE (m.state = 'sent'::text)) AS channels,
            min(m.settled_at) FILTER (WHERE (m.state = 'sent'::text)) AS sent_at,
            sum(m.tries) AS tries
           FROM (drover.notice_told t
             JOIN drover.notice_message m USING (message_id))
          WHERE (t.notice_id = n.notice_id)) sent ON (true));
GRANT SELECT ON TABLE analyst.notice TO drover_reader, drover_sight;

-- Grain: a request for a ride. Key: campus, request. Fresh: a commit (200 ms). Nobody's name; places to 0.001 degrees.
--   campus: Id of the campus.
--   request: Id of the request.
--   state: queued, assigned, on_board, done, cancelled, expired or refused.
--   reason: Why it was cancelled or refused.
--   passengers: Passengers [count].
--   from_latitude_deg: Pickup, rounded [degrees].
--   from_longitude_deg: Pickup, rounded [degrees].
--   to_latitude_deg: Dropoff, rounded [degrees].
--   to_longitude_deg: Dropoff, rounded [degrees].
--   straight_m: Straight way from pickup to dropoff [m].
--   requested_at: When it was asked for.
--   vehicle: Vehicle that serves it.
--   place_in_line: Place among those who wait [1 is next].
--   pickup_at: Expected, or when it was.
--   dropoff_at: Expected, or when it was.
--   ended_at: When it was over; NULL: it is not.
--   waiting_s: From the request to the pickup [s]; NULL: not picked up.
--   riding_s: From pickup to dropoff [s]; NULL: not there yet.
CREATE VIEW analyst.ride WITH (security_invoker='true') AS
 SELECT r.campus,
    r.request,
    r.state,
    r.reason,
    r.passengers,
    (round((r.from_latitude_deg)::numeric, 3))::double precision AS from_latitude_deg,
    (round((r.from_longitude_deg)::numeric, 3))::double precision AS from_longitude_deg,
    (round((r.to_latitude_deg)::numeric, 3))::double precision AS to_latitude_deg,
    (round((r.to_longitude_deg)::numeric, 3))::double precision AS to_longitude_deg,
    ((((2)::numeric * 6371008.8))::double precision * asin(LEAST((1)::double precision, sqrt((power(sin((radians((r.to_latitude_deg - r.from_latitude_deg)) / (2)::double precision)), (2)::double precision) + ((cos(radians(r.from_latitude_deg)) * cos(radians(r.to_latitude_deg))) * power(sin((radians((r.to_longitude_deg - r.from_longitude_deg)) / (2)::double precision)), (2)::double precision))))))) AS straight_m,
    r.requested_at,
    r.vehicle,
    r.place_in_line,
    r.pickup_at,
    r.dropoff_at,
    r.ended_at,
        CASE
            WHEN (r.state = ANY (ARRAY['done'::text, 'on_board'::text])) THEN (EXTRACT(epoch FROM (r.pickup_at - r.requested_at)))::double precision
            ELSE NULL::double precision
        END AS waiting_s,
        CASE
            WHEN (r.state = 'done'::text) THEN (EXTRACT(epoch FROM (r.dropoff_at - r.pickup_at)))::double precision
            ELSE NULL::double precision
        END AS riding_s
   FROM drover.ride r;
GRANT SELECT ON TABLE analyst.ride TO drover_reader, drover_sight;

-- Grain: a health scan of a car, asked for or handed in. Key: vehicle, scan_id. Fresh: a commit (200 ms).
--   vehicle: Id of the car.
--   scan_id: Id of the request, else of the result.
--   asked_at: When it was asked for.
--   asked_by: By whom.
--   scanned_at: When the answer was read.
--   scanned_by: Who handed it in.
--   is_done: The car answered.
--   answer: The count of codes, or why there is none.
--   stored: Trouble codes, stored.
--   pending: Trouble codes, pending.
--   permanent: Trouble codes, permanent.
--   stored_codes: Stored codes [count].
--   pending_codes: Pending codes [count].
--   is_lamp_on: The check engine lamp is on.
--   not_ready: Monitors that are not ready.
--   freeze_frame: JSON: what the car kept when the code came.
CREATE VIEW analyst.scan WITH (security_invoker='true') AS
 SELECT s.vehicle,
    s.scan_id,
    s.asked_at,
    s.asked_by,
    s.scanned_at,
    s.scanned_by,
    s.is_done,
    s.answer,
    s.stored,
    s.pending,
    s.permanent,
    cardinality(s.stored) AS stored_codes,
    cardinality(s.pending) AS pending_codes,
    s.is_lamp_on,
    s.not_ready,
    s.freeze_frame
   FROM drover.health_scan s;
GRANT SELECT ON TABLE analyst.scan TO drover_reader, drover_sight;

-- Grain: a service of a machine. Key: vehicle, done_at. Fresh: a commit (200 ms).
--   vehicle: Id of the machine.
--   done_at: When it was done.
--   engine_hours_h: Engine hours at the service [h].
--   recorded_by: Account that said so.
--   note: What they wrote.
CREATE VIEW analyst.service WITH (security_invoker='true') AS
 SELECT s.vehicle,
    s.done_at,
    s.engine_hours_h,
    s.recorded_by,
    s.note
   FROM drover.service s;
GRANT SELECT ON TABLE analyst.service TO drover_reader, drover_sight;

-- Grain: a sighting of the newest version of its survey. Key: site, survey, sighting. Fresh: a commit (200 ms). Of sites with sensitive species places are the middle of a cell of 0.1 degrees.
--   occurrence: SITE:SURVEY:SIGHTING.
--   event: SITE:SURVEY.
--   site: Id of the site.
--   survey: Id of the survey.
--   version: Of the survey [count].
--   sighting: 0, 1 … as handed in [number].
--   seen_at: Its own time, else the survey's begin.
--   local_date: Day by the surveyors' clocks.
--   utc_offset_min: Of the surveyors' clocks [min].
--   species: Accepted name; as given where none is known.
--   given_name: As it was handed in.
--   taxon: Key of the taxonomy; NULL: not known.
--   individuals: Animals [count].
--   latitude_deg: Latitude [degrees].
--   longitude_deg: Longitude [degrees].
--   uncertainty_m: How far the place may be off [m].
--   generalization: How it was blurred; NULL: it was not.
--   section: Section of the route.
--   habitat: Habitat.
--   conditions: Conditions.
--   behaviour: What it did.
--   certainty: How sure the observer was.
--   life_stage: Life stage.
--   sex: Sex.
--   light_lux: Light [lx].
--   temperature_c: Temperature by the service [°C].
--   wind_speed_mps: Wind by the service [m/s].
--   wind_direction_deg: Where the wind comes from [degrees].
--   cloud_cover_pct: Clouds by the service [%].
--   weather_at: Of which time the weather is.
--   weather_source: Which service.
--   protocol: Protocol of the survey.
--   gate: within, outside or unknown: the protocol's rules.
--   observers: People who looked [count].
--   needs_review: A reviewer should look at it.
--   is_sensitive: Where it lives is nobody's business.
CREATE VIEW analyst.sighting AS
 SELECT s.occurrence,
    s.event,
    s.site,
    s.survey,
    s.version,
    s.sighting,
    s.seen_at,
    s.local_date,
    s.utc_offset_min,
    s.species,
    s.given_name,
    s.taxon,
    s.individuals,
    s.latitude_deg,
    s.longitude_deg,
    s.uncertainty_m,
    s.generalization,
    s.section,
    s.habitat,
    s.conditions,
    s.behaviour,
    s.certainty,
    s.life_stage,
    s.sex,
    s.light_lux,
    s.temperature_c,
    s.wind_speed_mps,
    s.wind_direction_deg,
    s.cloud_cover_pct,
    s.weather_at,
    s.weather_source,
    s.protocol,
    s.gate,
    s.observers,
    s.needs_review,
    s.is_sensitive
   FROM drover.sighting_shown s
  WHERE ( SELECT analyst.sees_sightings('shown'::text) AS sees_sightings);
GRANT SELECT ON TABLE analyst.sighting TO drover_reader, drover_researcher, drover_sight;

-- Grain: a species at a site in an ISO week, by behaviour and band of temperature. Key: site, species, iso_year, iso_week, behaviour, temperature_band. Fresh: a commit (200 ms).
--   site: Id of the site.
--   species: Accepted name.
--   iso_year: ISO 8601 week year [year].
--   iso_week: ISO 8601 week [1 to 53].
--   behaviour: What it did; empty: not said.
--   temperature_band: Band of 5 °C by its lower end; empty: not known.
--   sightings: Sightings [count].
--   individuals: Animals [count].
CREATE VIEW analyst.species_week AS
 SELECT w.site,
    w.species,
    w.iso_year,
    w.iso_week,
    w.behaviour,
    w.temperature_band,
    w.sightings,
    w.individuals
   FROM drover.sighting_week w
  WHERE ( SELECT analyst.sees_sightings('shown'::text) AS sees_sightings);
GRANT SELECT ON TABLE analyst.species_week TO drover_reader, drover_researcher, drover_sight;

-- Grain: a survey (walk), its newest version. Key: site, survey. Fresh: a commit (200 ms). Of sites with sensitive species places are the middle of a cell of 0.1 degrees.
--   event: SITE:SURVEY.
--   site: Id of the site.
--   survey: Id that the client gave it.
--   version: 0 as handed in, then one a review [count].
--   started_at: Begin.
--   stopped_at: End.
--   utc_offset_min: Of the surveyors' clocks [min].
--   local_date: Day by those clocks.
--   latitude_deg: First place that it names [degrees].
--   longitude_deg: First place that it names [degrees].
--   uncertainty_m: How far the place may be off because it was blurred [m].
--   generalization: How it was blurred; NULL: it was not.
--   distance_m: Way walked [m].
--   pace_mps: Pace [m/s].
--   protocol: Protocol.
--   gate: within, outside or unknown: the protocol's rules; NULL: it has none.
--   gate_reasons: Which rules it was outside of.
--   observers: People who looked [count].
--   expertise: The highest of theirs.
--   weather_missing_hours: Hours that no service has told of yet [count].
--   sightings: Sightings [count].
--   individuals: Animals [count].
--   needs_review: It holds a species that is not known.
--   is_blurred: A sensitive species was seen at its site.
CREATE VIEW analyst.survey AS
 SELECT s.event,
    s.site,
    s.survey,
    s.version,
    s.started_at,
    s.stopped_at,
    s.utc_offset_min,
    s.local_date,
    s.latitude_deg,
    s.longitude_deg,
    s.uncertainty_m,
    s.generalization,
    s.distance_m,
    s.pace_mps,
    s.protocol,
    s.gate,
    s.gate_reasons,
    s.observers,
    s.expertise,
    s.weather_missing AS weather_missing_hours,
    s.sightings,
    s.individuals,
    s.needs_review,
    s.is_blurred
   FROM drover.survey_shown s
  WHERE ( SELECT analyst.sees_sightings('shown'::text) AS sees_sightings);
GRANT SELECT ON TABLE analyst.survey TO drover_reader, drover_researcher, drover_sight;

-- Grain: a tour's downloads, or visits of one of its waypoints, on a day. Key: tour, kind, waypoint, local_date. Fresh: a commit (200 ms).
--   tour: Id of the tour.
--   kind: download or visit.
--   waypoint: Id of the waypoint; empty: the tour's download.
--   local_date: Day where the visitor was.
--   events: Downloads or visits [count].
CREATE VIEW analyst.tour_day WITH (security_barrier='true') AS
 SELECT d.tour,
    d.kind,
    d.waypoint,
    d.local_date,
    d.events
   FROM drover.tour_day d
  WHERE ( SELECT analyst.has_role(VARIADIC ARRAY['ranger'::text, 'analyst'::text]) AS has_role);
GRANT SELECT ON TABLE analyst.tour_day TO drover_reader, drover_sight;

-- Grain: a waypoint of the newest published version of a tour. Key: tour, position. Fresh: at once.
--   tour: Id of the tour.
--   version: Published version [number].
--   None: Place in the tour, from 1 on [number].
--   waypoint: Id of the waypoint.
CREATE VIEW analyst.tour_waypoint AS
 SELECT v.tour,
    v.version,
    (w."position")::integer AS "position",
    w.waypoint
   FROM (( SELECT DISTINCT ON (tour_version.tour) tour_version.tour,
            tour_version.version,
            tour_version.waypoint_ids
           FROM drover.tour_version
          ORDER BY tour_version.tour, tour_version.version DESC) v
     CROSS JOIN LATERAL unnest(v.waypoint_ids) WITH ORDINALITY w(waypoint, "position"));
GRANT SELECT ON TABLE analyst.tour_waypoint TO drover_reader, drover_sight;

-- Grain: all readings between two silences longer than the trip gap, or two marks; of a drive that runs for a day or longer the part between two borders at 00:00 UTC, which from_before and goes_on tell. Key: vehicle, start_at. Fresh: a later minute, a mark, or 66 s. Discarded ones are there, with discarded_at.
--   vehicle: Id of the car.
--   start_at: Its first reading; where it is from before, 00:00 UTC.
--   end_at: Its last reading; where it goes on, 00:00 UTC.
--   is_open: It may go on.
--   readings: Readings [count].
--   disputed_readings: Readings of one time that said different things [count].
--   speed_readings: Readings that tell the speed [count].
--   integrated_ms: Time between speed readings, holes left out [ms].
--   distance_mm: Distance by speed over time [mm]; unknown where speed_readings is 0.
--   idle_ms: Time standing with the engine running [ms].
--   holes: Silences too long to integrate over [count].
--   sharp_accelerations: Accelerations beyond 3.0 m/s² [count].
--   sharp_brakings: Brakings beyond 3.0 m/s² [count].
--   max_speed_m_per_h: Greatest speed [m/h].
--   rpm_ms: Time that engine speed covers [ms].
--   milli_turns: Turns of the crankshaft over rpm_ms [1/1000 turn]; average rpm is milli_turns * 60 / rpm_ms.
--   max_rpm_milli: Greatest engine speed [1/1000 rpm].
--   air_mg: Air by the car's own sensor [mg].
--   air_calculated_mg: Air as the logger worked it out [mg].
--   max_coolant_milli_c: Hottest coolant [1/1000 °C].
--   min_voltage_mv: Lowest voltage [mV].
--   max_voltage_mv: Highest voltage [mV].
--   max_acceleration_mm_per_s2: Greatest rise of speed over one second [mm/s²].
--   max_braking_mm_per_s2: Greatest fall of speed over one second [mm/s²].
--   acceleration_mm2_per_s3: Severity of accelerating: integral of the squared smoothed acceleration [mm²/s³].
--   braking_mm2_per_s3: Severity of braking [mm²/s³].
--   fuel_rate_ul: Fuel by the engine's own rate [µl].
--   fuel_rate_ms: Time that fuel_rate_ul covers [ms].
--   burnt_air_mg: Of air_mg what met fuel at the stoichiometric ratio [mg].
--   air_ms: Time that air_mg and burnt_air_mg cover [ms].
--   burnt_air_calculated_mg: Of air_calculated_mg what met fuel [mg].
--   air_calculated_ms: Time that air_calculated_mg covers [ms].
--   burnt_air_per_litre_mg: Burnt air by speed and density for each litre of displacement, filled wholly [mg/l].
--   air_per_litre_ms: Time that burnt_air_per_litre_mg covers [ms].
--   fuel_cut_ms: Overrun without fuel [ms]; NULL: the car does not tell.
--   revision: How often late data changed the row [count].
--   revised_at: When the last of that data was pushed; NULL: never.
--   fuel_l: Fuel by the best method that covers the trip [l].
--   fuel_method: fuel_rate, maf, maf_calculated or speed_density.
--   tag: What its driver calls it.
--   discarded_at: When its driver said that it is not to be counted.
--   driver: Account of who drove.
--   owner: Account that owns the car.
--   weather_source: Service and model that told of the weather where and when it began.
--   weather_temperature_c: Temperature [°C].
--   weather_wind_speed_mps: Wind [m/s].
--   weather_wind_gust_mps: Gusts [m/s].
--   weather_wind_direction_deg: Where the wind comes from [degrees].
--   weather_cloud_cover_pct: Clouds [%].
--   weather_precipitation_mm_per_h: Rain and snow [mm/h].
--   weather_humidity_pct: Relative humidity [%].
--   weather_pressure_hpa: Air pressure [hPa].
--   weather_condition_code: The service's own code [code].
--   from_before: The drive began earlier: it is a part of one that ran for a day or longer.
--   goes_on: The drive runs on in the next trip.
CREATE VIEW analyst.trip WITH (security_invoker='true') AS
 SELECT t.vehicle,
    t.start_at,
    t.end_at,
    t.is_open,
    t.readings,
    t.disputed_readings,
    t.speed_readings,
    t.integrated_ms,
    t.distance_mm,
    t.idle_ms,
    t.holes,
    t.sharp_accelerations,
    t.sharp_brakings,
    t.max_speed_m_per_h,
    t.rpm_ms,
    t.milli_turns,
    t.max_rpm_milli,
    t.air_mg,
    t.air_calculated_mg,
    t.max_coolant_milli_c,
    t.min_voltage_mv,
    t.max_voltage_mv,
    t.max_acceleration_mm_per_s2,
    t.max_braking_mm_per_s2,
    t.acceleration_mm2_per_s3,
    t.braking_mm2_per_s3,
    t.fuel_rate_ul,
    t.fuel_rate_ms,
    t.burnt_air_mg,
    t.air_ms,
    t.burnt_air_calculated_mg,
    t.air_calculated_ms,
    t.burnt_air_per_litre_mg,
    t.air_per_litre_ms,
    t.fuel_cut_ms,
    t.revision,
    t.revised_at,
    used.fuel_l,
    used.fuel_method,
    t.tag,
    t.discarded_at,
    t.driver,
    t.owner,
    t.weather_source,
    t.weather_temperature_c,
    t.weather_wind_speed_mps,
    t.weather_wind_gust_mps,
    t.weather_wind_direction_deg,
    t.weather_cloud_cover_pct,
    t.weather_precipitation_mm_per_h,
    t.weather_humidity_pct,
    t.weather_pressure_hpa,
    t.weather_condition_code,
    t.from_before,
    t.goes_on
   FROM (drover.trip_now t
     LEFT JOIN LATERAL analyst.fuel(t.fuel, t.displacement_cc, t.volumetric_efficiency_pct, t.fuel_rate_ul, t.fuel_rate_ms, COALESCE(t.burnt_air_mg, t.air_mg), t.air_ms, COALESCE(t.burnt_air_calculated_mg, t.air_calculated_mg), t.air_calculated_ms, t.burnt_air_per_litre_mg, t.air_per_litre_ms) used(fuel_l, fuel_method) ON (true));
GRANT SELECT ON TABLE analyst.trip TO drover_reader, drover_sight;

-- Grain: a car or machine that has reported. Key: kind, vehicle. Fresh: a commit (200 ms).
--   kind: car or machine.
--   vehicle: Id.
--   name: As people call it.
--   model: Model.
--   make: Maker.
--   year: Year of make [calendar year].
--   tags: Tags.
--   owner: Account that owns the car.
--   fuel: What it burns.
--   tank_l: Size of the tank [l].
--   displacement_cc: Displacement [cm³].
--   last_reading_at: Of a machine's last reading; of a car it is the end of its latest trip.
--   is_disabled: Kept, not polled, not judged.
CREATE VIEW analyst.vehicle WITH (security_invoker='true') AS
 SELECT v.kind,
    v.vehicle,
    r.name,
    COALESCE(r.model, v.model) AS model,
    r.make,
    r.year,
    COALESCE(r.tags, '{}'::text[]) AS tags,
    r.account AS owner,
    r.fuel,
    r.tank_l,
    r.displacement_cc,
    v.last_reading_at,
    COALESCE(r.is_disabled, false) AS is_disabled
   FROM (drover.vehicle v
     LEFT JOIN drover.registration r ON (((r.kind = v.kind) AND (r.vehicle = v.vehicle))));
GRANT SELECT ON TABLE analyst.vehicle TO drover_reader, drover_sight;

-- Grain: a car's UTC day. Key: vehicle, day_at. Fresh: a later minute, or 66 s. Exact sums of its minutes.
--   vehicle: Id of the car.
--   day_at: 00:00 UTC.
--   readings: Readings [count].
--   disputed_readings: Readings of one time that said different things [count].
--   speed_readings: Readings that tell the speed [count].
--   integrated_ms: Time between speed readings, holes left out [ms].
--   distance_mm: Distance by speed over time [mm]; unknown where speed_readings is 0.
--   idle_ms: Time standing with the engine running [ms].
--   holes: Silences too long to integrate over [count].
--   sharp_accelerations: Accelerations beyond 3.0 m/s² [count].
--   sharp_brakings: Brakings beyond 3.0 m/s² [count].
--   max_speed_m_per_h: Greatest speed [m/h].
--   rpm_ms: Time that engine speed covers [ms].
--   milli_turns: Turns of the crankshaft over rpm_ms [1/1000 turn]; average rpm is milli_turns * 60 / rpm_ms.
--   max_rpm_milli: Greatest engine speed [1/1000 rpm].
--   air_mg: Air by the car's own sensor [mg].
--   air_calculated_mg: Air as the logger worked it out [mg].
--   max_coolant_milli_c: Hottest coolant [1/1000 °C].
--   min_voltage_mv: Lowest voltage [mV].
--   max_voltage_mv: Highest voltage [mV].
--   max_acceleration_mm_per_s2: Greatest rise of speed over one second [mm/s²].
--   max_braking_mm_per_s2: Greatest fall of speed over one second [mm/s²].
--   acceleration_mm2_per_s3: Severity of accelerating: integral of the squared smoothed acceleration [mm²/s³].
--   braking_mm2_per_s3: Severity of braking [mm²/s³].
--   fuel_rate_ul: Fuel by the engine's own rate [µl].
--   fuel_rate_ms: Time that fuel_rate_ul covers [ms].
--   burnt_air_mg: Of air_mg what met fuel at the stoichiometric ratio [mg].
--   air_ms: Time that air_mg and burnt_air_mg cover [ms].
--   burnt_air_calculated_mg: Of air_calculated_mg what met fuel [mg].
--   air_calculated_ms: Time that air_calculated_mg covers [ms].
--   burnt_air_per_litre_mg: Burnt air by speed and density for each litre of displacement, filled wholly [mg/l].
--   air_per_litre_ms: Time that burnt_air_per_litre_mg covers [ms].
--   fuel_cut_ms: Overrun without fuel [ms]; NULL: the car does not tell.
--   revision: How often late data changed the row [count].
--   revised_at: When the last of that data was pushed; NULL: never.
--   fuel_l: Fuel by the best method that covers the day, for the car as it is registered now [l].
--   fuel_method: fuel_rate, maf, maf_calculated or speed_density.
CREATE VIEW analyst.vehicle_day WITH (security_invoker='true') AS
 SELECT d.vehicle,
    d.day_at,
    d.readings,
    d.disputed_readings,
    d.speed_readings,
    d.integrated_ms,
    d.distance_mm,
    d.idle_ms,
    d.holes,
    d.sharp_accelerations,
    d.sharp_brakings,
    d.max_speed_m_per_h,
    d.rpm_ms,
    d.milli_turns,
    d.max_rpm_milli,
    d.air_mg,
    d.air_calculated_mg,
    d.max_coolant_milli_c,
    d.min_voltage_mv,
    d.max_voltage_mv,
    d.max_acceleration_mm_per_s2,
    d.max_braking_mm_per_s2,
    d.acceleration_mm2_per_s3,
    d.braking_mm2_per_s3,
    d.fuel_rate_ul,
    d.fuel_rate_ms,
    d.burnt_air_mg,
    d.air_ms,
    d.burnt_air_calculated_mg,
    d.air_calculated_ms,
    d.burnt_air_per_litre_mg,
    d.air_per_litre_ms,
    d.fuel_cut_ms,
    d.revision,
    d.revised_at,
    used.fuel_l,
    used.fuel_method
   FROM ((drover.vehicle_day d
     LEFT JOIN drover.registration r ON (((r.kind = 'car'::text) AND (r.vehicle = d.vehicle))))
     LEFT JOIN LATERAL analyst.fuel(r.fuel, r.displacement_cc, r.volumetric_efficiency_pct, d.fuel_rate_ul, d.fuel_rate_ms, COALESCE(d.burnt_air_mg, d.air_mg), d.air_ms, COALESCE(d.burnt_air_calculated_mg, d.air_calculated_mg), d.air_calculated_ms, d.burnt_air_per_litre_mg, d.air_per_litre_ms) used(fuel_l, fuel_method) ON (true));
GRANT SELECT ON TABLE analyst.vehicle_day TO drover_reader, drover_sight;

-- Grain: a car's minute that holds readings, and one more row for each trip that a mark begins inside it. Key: vehicle, minute_at. Fresh: a later minute, a mark, or 66 s. An interval between two readings belongs to the minute of the later one.
--   vehicle: Id of the car.
--   minute_at: Start of the minute, or a mark's cut inside it.
--   trip_start_at: The trip that it is of.
--   readings: Readings [count].
--   disputed_readings: Readings of one time that said different things [count].
--   speed_readings: Readings that tell the speed [count].
--   integrated_ms: Time between speed readings, holes left out [ms].
--   distance_mm: Distance by speed over time [mm]; unknown where speed_readings is 0.
--   idle_ms: Time standing with the engine running [ms].
--   holes: Silences too long to integrate over [count].
--   sharp_accelerations: Accelerations beyond 3.0 m/s² [count].
--   sharp_brakings: Brakings beyond 3.0 m/s² [count].
--   max_speed_m_per_h: Greatest speed [m/h].
--   rpm_ms: Time that engine speed covers [ms].
--   milli_turns: Turns of the crankshaft over rpm_ms [1/1000 turn]; average rpm is milli_turns * 60 / rpm_ms.
--   max_rpm_milli: Greatest engine speed [1/1000 rpm].
--   air_mg: Air by the car's own sensor [mg].
--   air_calculated_mg: Air as the logger worked it out [mg].
--   max_coolant_milli_c: Hottest coolant [1/1000 °C].
--   min_voltage_mv: Lowest voltage [mV].
--   max_voltage_mv: Highest voltage [mV].
--   max_acceleration_mm_per_s2: Greatest rise of speed over one second [mm/s²].
--   max_braking_mm_per_s2: Greatest fall of speed over one second [mm/s²].
--   acceleration_mm2_per_s3: Severity of accelerating: integral of the squared smoothed acceleration [mm²/s³].
--   braking_mm2_per_s3: Severity of braking [mm²/s³].
--   fuel_rate_ul: Fuel by the engine's own rate [µl].
--   fuel_rate_ms: Time that fuel_rate_ul covers [ms].
--   burnt_air_mg: Of air_mg what met fuel at the stoichiometric ratio [mg].
--   air_ms: Time that air_mg and burnt_air_mg cover [ms].
--   burnt_air_calculated_mg: Of air_calculated_mg what met fuel [mg].
--   air_calculated_ms: Time that air_calculated_mg covers [ms].
--   burnt_air_per_litre_mg: Burnt air by speed and density for each litre of displacement, filled wholly [mg/l].
--   air_per_litre_ms: Time that burnt_air_per_litre_mg covers [ms].
--   fuel_cut_ms: Overrun without fuel [ms]; NULL: the car does not tell.
--   revision: How often late data changed the row [count].
--   revised_at: When the last of that data was pushed; NULL: never.
CREATE VIEW analyst.vehicle_minute WITH (security_invoker='true') AS
 SELECT m.vehicle,
    m.minute_at,
    m.trip_start_at,
    m.readings,
    m.disputed_readings,
    m.speed_readings,
    m.integrated_ms,
    m.distance_mm,
    m.idle_ms,
    m.holes,
    m.sharp_accelerations,
    m.sharp_brakings,
    m.max_speed_m_per_h,
    m.rpm_ms,
    m.milli_turns,
    m.max_rpm_milli,
    m.air_mg,
    m.air_calculated_mg,
    m.max_coolant_milli_c,
    m.min_voltage_mv,
    m.max_voltage_mv,
    m.max_acceleration_mm_per_s2,
    m.max_braking_mm_per_s2,
    m.acceleration_mm2_per_s3,
    m.braking_mm2_per_s3,
    m.fuel_rate_ul,
    m.fuel_rate_ms,
    m.burnt_air_mg,
    m.air_ms,
    m.burnt_air_calculated_mg,
    m.air_calculated_ms,
    m.burnt_air_per_litre_mg,
    m.air_per_litre_ms,
    m.fuel_cut_ms,
    m.revision,
    m.revised_at
   FROM drover.vehicle_minute m;
GRANT SELECT ON TABLE analyst.vehicle_minute TO drover_reader, drover_sight;

-- Grain: what a weather service said of an hour and a cell of its grid, as long as it is kept. Key: source, cell_millideg, latitude_index, longitude_index, hour_at. Fresh: when a trip, ride or survey needs it. People see cells of 0.1 degrees and more.
--   source: Service.
--   cell_millideg: Side of the cell [1/1000 degree].
--   latitude_index: Cell from the south pole [index].
--   longitude_index: Cell from the 180th meridian [index].
--   hour_at: Start of the hour.
--   latitude_deg: Middle of the cell [degrees].
--   longitude_deg: Middle of the cell [degrees].
--   temperature_c: Temperature [°C].
--   wind_speed_mps: Wind [m/s].
--   wind_gust_mps: Gusts [m/s].
--   wind_direction_deg: Where the wind comes from [degrees].
--   cloud_cover_pct: Clouds [%].
--   precipitation_mm_per_h: Rain and snow [mm/h].
--   humidity_pct: Relative humidity [%].
--   pressure_hpa: Air pressure [hPa].
--   condition_code: The service's own code [code].
CREATE VIEW analyst.weather_hour WITH (security_barrier='true') AS
 SELECT w.source,
    w.cell_millideg,
    w.latitude_index,
    w.longitude_index,
    w.hour_at,
    ((w.answer ->> 'latitude'::text))::double precision AS latitude_deg,
    ((w.answer ->> 'longitude'::text))::double precision AS longitude_deg,
    ((w.answer ->> 'temperature_c'::text))::double precision AS temperature_c,
    ((w.answer ->> 'wind_speed_mps'::text))::double precision AS wind_speed_mps,
    ((w.answer ->> 'wind_gust_mps'::text))::double precision AS wind_gust_mps,
    ((w.answer ->> 'wind_direction_deg'::text))::double precision AS wind_direction_deg,
    ((w.answer ->> 'cloud_cover_pct'::text))::double precision AS cloud_cover_pct,
    ((w.answer ->> 'precipitation_mm_per_h'::text))::double precision AS precipitation_mm_per_h,
    ((w.answer ->> 'humidity_pct'::text))::double precision AS humidity_pct,
    ((w.answer ->> 'pressure_hpa'::text))::double precision AS pressure_hpa,
    (((w.answer ->> 'condition_code'::text))::double precision)::integer AS condition_code
   FROM drover.weather_hour w
  WHERE (( SELECT analyst.has_role(VARIADIC ARRAY['researcher'::text, 'analyst'::text, 'dispatcher'::text, 'fleet_manager'::text]) AS has_role) AND ((w.cell_millideg >= 100) OR ( SELECT analyst.sees_sightings('exact'::text) AS sees_sightings)));
GRANT SELECT ON TABLE analyst.weather_hour TO drover_reader, drover_researcher, drover_sight;

-- Litres by the best of the methods that cover nine tenths of the time that the longest of them covers, as
-- Sources/Domain/Trips/Fuel.swift has it; no row: unknown.
CREATE FUNCTION analyst.fuel(a_fuel text, a_displacement_cc integer, an_efficiency_pct double precision, rate_ul bigint, rate_ms bigint, burnt_mg bigint, air_ms bigint, calculated_mg bigint, calculated_ms bigint, per_litre_mg bigint, per_litre_ms bigint) RETURNS TABLE(fuel_l double precision, fuel_method text)
    LANGUAGE sql IMMUTABLE ROWS 1 PARALLEL SAFE
    AS $$
    SELECT way.litres, way.method FROM (
        SELECT m.*, max(m.ms) OVER () AS longest FROM (
            SELECT CASE coalesce(a_fuel, 'gasoline') WHEN 'gasoline' THEN 14.7 * 745 WHEN 'ethanol' THEN 9.0 * 789 WHEN 'methanol' THEN 6.47 * 791
                WHEN 'lpg' THEN 15.6 * 538 WHEN 'cng' THEN 17.2 * 2567 / 3.785411784 END::double precision * 1000 AS air_mg_per_l) f
        CROSS JOIN LATERAL (VALUES
            (1, 'fuel_rate', CASE WHEN a_fuel IS DISTINCT FROM 'electric' THEN rate_ul / 1e6::double precision END, coalesce(rate_ms, 0)),
            (2, 'maf', burnt_mg / f.air_mg_per_l, coalesce(air_ms, 0)),
            (3, 'maf_calculated', calculated_mg / f.air_mg_per_l, coalesce(calculated_ms, 0)),
            (4, 'speed_density', per_litre_mg * (a_displacement_cc / 1000::double precision * coalesce(an_efficiency_pct / 100, 0.8))
                / f.air_mg_per_l, coalesce(per_litre_ms, 0))
        ) AS m (rank, method, litres, ms) WHERE m.litres IS NOT NULL
    ) AS way WHERE way.ms >= 0.9 * way.longest ORDER BY way.rank LIMIT 1
$$;

-- Roles that see what is nobody's in particular: visits of tours, the weather.
CREATE FUNCTION analyst.has_role(VARIADIC some_roles text[]) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.sees_all() OR drover.sight_roles() && some_roles
$$;
REVOKE ALL ON FUNCTION analyst.has_role(VARIADIC some_roles text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION analyst.has_role(VARIADIC some_roles text[]) TO drover_reader, drover_researcher, drover_sight;

-- A person sees them with the roles of drover.sees_sightings, a program of the installation by its own.
CREATE FUNCTION analyst.sees_sightings(how text) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.is_program() OR coalesce(drover.sees_sightings(how), false)
$$;
REVOKE ALL ON FUNCTION analyst.sees_sightings(how text) FROM PUBLIC;
GRANT ALL ON FUNCTION analyst.sees_sightings(how text) TO drover_reader, drover_researcher, drover_sight;


-- MARK: drover

CREATE SCHEMA drover;
GRANT USAGE ON SCHEMA drover TO drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_sight, drover_survey, drover_writer;

CREATE TABLE drover.account (
    account text NOT NULL,
    mail text,  -- as it was written; NULL: erased
    first_name text DEFAULT ''::text NOT NULL,
    last_name text DEFAULT ''::text NOT NULL,
    roles text[] DEFAULT '{}'::text[] NOT NULL,
    units text DEFAULT 'metric'::text NOT NULL,
    zone text DEFAULT 'UTC'::text NOT NULL,
    password bytea,
    salt bytea,
    memory_kib integer,
    passes integer,
    made_at timestamptz DEFAULT now() NOT NULL,
    confirmed_at timestamptz,  -- the mail address is theirs
    disabled_at timestamptz,
    CONSTRAINT account_pkey PRIMARY KEY (account),
    CONSTRAINT account_account_check CHECK ((account ~ '^[A-Za-z0-9._-]{1,64}$'::text)),
    CONSTRAINT account_check CHECK ((((password IS NULL) = (salt IS NULL)) AND ((password IS NULL) = (memory_kib IS NULL)) AND ((password IS NULL) = (passes IS NULL)))),
    CONSTRAINT account_first_name_check CHECK ((octet_length(first_name) <= 200)),
    CONSTRAINT account_is_not_the_installation CHECK ((account <> 'installation'::text)),
    CONSTRAINT account_last_name_check CHECK ((octet_length(last_name) <= 200)),
    CONSTRAINT account_mail_check CHECK (((octet_length(mail) >= 3) AND (octet_length(mail) <= 254))),
    CONSTRAINT account_password_check CHECK ((octet_length(password) = 32)),
    CONSTRAINT account_roles_check CHECK ((roles <@ ARRAY['farmer'::text, 'dealer'::text, 'developer'::text, 'driver'::text, 'fleet_manager'::text, 'rider'::text, 'ride_driver'::text, 'dispatcher'::text, 'surveyor'::text, 'researcher'::text, 'ranger'::text, 'analyst'::text, 'operator'::text, 'administrator'::text])),
    CONSTRAINT account_salt_check CHECK ((octet_length(salt) = 16)),
    CONSTRAINT account_units_check CHECK ((units = ANY (ARRAY['metric'::text, 'us'::text]))),
    CONSTRAINT account_zone_check CHECK ((octet_length(zone) <= 64))
);
CREATE UNIQUE INDEX account_by_mail ON drover.account USING btree (lower(mail));
CREATE CONSTRAINT TRIGGER audit AFTER INSERT OR UPDATE OF roles, password, confirmed_at, disabled_at ON drover.account DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_row();
CREATE TRIGGER account_neighbours AFTER UPDATE OF roles ON drover.account FOR EACH ROW WHEN ((old.roles IS DISTINCT FROM new.roles)) EXECUTE FUNCTION drover.keep_neighbours_apart();
CREATE TRIGGER erase_second_factor AFTER UPDATE OF mail ON drover.account FOR EACH ROW WHEN (((old.mail IS NOT NULL) AND (new.mail IS NULL))) EXECUTE FUNCTION drover.erase_second_factor();
CREATE TRIGGER forget_code_tries AFTER UPDATE OF password ON drover.account FOR EACH ROW WHEN ((old.password IS DISTINCT FROM new.password)) EXECUTE FUNCTION drover.forget_code_tries();
CREATE TRIGGER revoke_beyond_roles AFTER UPDATE OF roles ON drover.account FOR EACH ROW WHEN ((old.roles IS DISTINCT FROM new.roles)) EXECUTE FUNCTION drover.revoke_beyond_roles();
GRANT SELECT (account, mail, roles, units, zone, confirmed_at, disabled_at) ON TABLE drover.account TO drover_relay;

-- Browsers that somebody has logged in with before, by the digest of a cookie: others' guesses do not shut them out.
CREATE TABLE drover.account_device (
    account text NOT NULL,
    digest bytea NOT NULL,
    last_used_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT account_device_pkey PRIMARY KEY (account, digest),
    CONSTRAINT account_device_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT account_device_digest_check CHECK ((octet_length(digest) = 32))
);

CREATE TABLE drover.account_identity (
    issuer text NOT NULL,
    subject text NOT NULL,
    account text NOT NULL,
    linked_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT account_identity_pkey PRIMARY KEY (issuer, subject),
    CONSTRAINT account_identity_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT account_identity_issuer_check CHECK (((octet_length(issuer) >= 1) AND (octet_length(issuer) <= 2000))),
    CONSTRAINT account_identity_subject_check CHECK (((octet_length(subject) >= 1) AND (octet_length(subject) <= 255)))
);
CREATE INDEX account_identity_by_account ON drover.account_identity USING btree (account);

-- Links that are mailed or printed, each good once.
CREATE TABLE drover.account_link (
    digest bytea NOT NULL,
    account text NOT NULL,
    purpose text NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT account_link_pkey PRIMARY KEY (digest),
    CONSTRAINT account_link_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT account_link_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT account_link_purpose_check CHECK ((purpose = ANY (ARRAY['confirm'::text, 'password'::text])))
);
CREATE INDEX account_link_by_account ON drover.account_link USING btree (account);

-- Logins of people in psql, made by `drover account psql`.
CREATE TABLE drover.account_login (
    login text NOT NULL,
    account text NOT NULL,
    CONSTRAINT account_login_pkey PRIMARY KEY (login),
    CONSTRAINT account_login_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account)
);
CREATE CONSTRAINT TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON drover.account_login DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_row();

-- Ten for an account, gone when used. 80 bits of chance: one fast digest is enough.
CREATE TABLE drover.account_recovery_code (
    account text NOT NULL,
    digest bytea NOT NULL,
    CONSTRAINT account_recovery_code_pkey PRIMARY KEY (account, digest),
    CONSTRAINT account_recovery_code_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT account_recovery_code_digest_check CHECK ((octet_length(digest) = 32))
);

CREATE TABLE drover.account_second_factor (
    account text NOT NULL,
    secret bytea,  -- sealed: Sources/Platform/Crypto/CodeKey.swift. NULL: none is on
    next_secret bytea,  -- shown, and not confirmed by a code yet
    next_at timestamptz,
    on_since timestamptz,
    last_step bigint DEFAULT 0 NOT NULL,  -- of 30 s since 1970: the newest of which a code was taken, so that each is good once
    tries integer DEFAULT 0 NOT NULL,  -- since the last code that was right
    tries_since timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT account_second_factor_pkey PRIMARY KEY (account),
    CONSTRAINT account_second_factor_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT account_second_factor_check CHECK ((((secret IS NULL) = (on_since IS NULL)) AND ((next_secret IS NULL) = (next_at IS NULL)))),
    CONSTRAINT account_second_factor_next_secret_check CHECK (((octet_length(next_secret) >= 40) AND (octet_length(next_secret) <= 200))),
    CONSTRAINT account_second_factor_secret_check CHECK (((octet_length(secret) >= 40) AND (octet_length(secret) <= 200)))
);
CREATE CONSTRAINT TRIGGER audit AFTER UPDATE OF secret ON drover.account_second_factor DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((new.secret IS NOT NULL) AND (new.secret IS DISTINCT FROM old.secret))) EXECUTE FUNCTION drover.audit_second_factor();
CREATE CONSTRAINT TRIGGER audit_off AFTER DELETE ON drover.account_second_factor DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((old.secret IS NOT NULL)) EXECUTE FUNCTION drover.audit_second_factor();

-- Salts of mail addresses that nobody has are made of this, so that they look like all others and stay the same.
CREATE TABLE drover.account_secret (
    is_only boolean DEFAULT true NOT NULL,
    secret bytea NOT NULL,
    CONSTRAINT account_secret_pkey PRIMARY KEY (is_only),
    CONSTRAINT account_secret_is_only_check CHECK (is_only)
);

CREATE TABLE drover.account_session (
    digest bytea NOT NULL,
    number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    account text NOT NULL,
    agent text NOT NULL,  -- what the browser calls itself
    is_kept boolean NOT NULL,  -- stays logged in for weeks
    made_at timestamptz DEFAULT now() NOT NULL,
    last_used_at timestamptz DEFAULT now() NOT NULL,  -- to five minutes: a row is not written with each request
    awaits_code boolean DEFAULT false NOT NULL,  -- The password was right and the code is still to come: such a session opens nothing, whatever function looks at it.
    CONSTRAINT account_session_pkey PRIMARY KEY (digest),
    CONSTRAINT account_session_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT account_session_agent_check CHECK ((octet_length(agent) <= 300)),
    CONSTRAINT account_session_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT account_session_number_key UNIQUE (number)
);
CREATE INDEX account_session_by_account ON drover.account_session USING btree (account, made_at);
CREATE TRIGGER await_code BEFORE INSERT ON drover.account_session FOR EACH ROW EXECUTE FUNCTION drover.await_code();

-- An account's settings stand in every partition, so once a partition.
CREATE TABLE drover.account_settings (
    topic_partition integer NOT NULL,
    account text NOT NULL,
    in_force_at timestamptz NOT NULL,
    settings text NOT NULL,  -- JSON: Sources/Domain/Alerts/Drivers/DriverSettings.swift
    record_id text NOT NULL,
    record_offset bigint,  -- Where an account's settings stand on the log: a car that is taken up again alone is judged by what its partition knew there. Null: from before, long ago.
    judged_from_at timestamptz,
    reached_vehicle text,
    reached_all_offset bigint,  -- the tick at which it had come to all
    CONSTRAINT account_settings_pkey PRIMARY KEY (topic_partition, account, in_force_at)
);
CREATE INDEX account_settings_by_account ON drover.account_settings USING btree (account, in_force_at);
ALTER TABLE drover.account_settings ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true), each of: drover_reader
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_writer
CREATE POLICY sight ON drover.account_settings FOR SELECT TO drover_sight USING ((account = ( SELECT drover.sight_account() AS sight_account)));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.account_settings TO drover_writer;
GRANT SELECT ON TABLE drover.account_settings TO drover_reader, drover_sight;

-- Who tried to log in or asked for mail, known or not: so limits tell nobody who is known.
CREATE TABLE drover.account_try (
    try_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    mail text NOT NULL,  -- in lower case
    remote text NOT NULL,  -- the client's address
    is_mail boolean NOT NULL,  -- a mail was asked for
    tried_at timestamptz DEFAULT now() NOT NULL,
    device bytea,  -- of one that is known, or of a session; NULL: of a stranger
    CONSTRAINT account_try_pkey PRIMARY KEY (try_id)
);
CREATE INDEX account_try_by_mail ON drover.account_try USING btree (mail, tried_at);
CREATE INDEX account_try_by_remote ON drover.account_try USING btree (remote, tried_at);
CREATE INDEX account_try_by_time ON drover.account_try USING btree (tried_at);

CREATE TABLE drover.acknowledgement (
    vehicle text NOT NULL,
    record_id text NOT NULL,
    alert_id text NOT NULL,
    acknowledged_at timestamptz NOT NULL,
    acknowledged_by text NOT NULL,
    note text,
    CONSTRAINT acknowledgement_pkey PRIMARY KEY (vehicle, record_id)
);
CREATE INDEX acknowledgement_by_alert ON drover.acknowledgement USING btree (alert_id, acknowledged_at);
ALTER TABLE drover.acknowledgement ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.acknowledgement FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (EXISTS ( SELECT
   FROM drover.alert a
  WHERE (a.alert_id = acknowledgement.alert_id)))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.acknowledgement TO drover_writer;
GRANT SELECT ON TABLE drover.acknowledgement TO drover_reader, drover_relay, drover_sight;

CREATE TABLE drover.alert (
    alert_id text NOT NULL,  -- vehicle, parameter and opening reading, see Alerts/Episode.swift
    vehicle text NOT NULL,
    model text NOT NULL,
    parameter text NOT NULL,  -- the name as shown to people
    unit text NOT NULL,
    severity text NOT NULL,
    state text NOT NULL,
    test text NOT NULL,
    threshold double precision,
    since_at timestamptz NOT NULL,  -- when the condition began
    opened_at timestamptz NOT NULL,  -- when it had held long enough
    opening_value double precision,
    worst_value double precision,
    worst_at timestamptz NOT NULL,
    resolved_at timestamptz,
    audience text NOT NULL,
    recommended double precision,
    advice text,
    rules_version text NOT NULL,
    first_opened_at timestamptz NOT NULL,
    revision integer DEFAULT 0 NOT NULL,  -- how often what had been told was corrected
    revised_at timestamptz,  -- when the record that made the last correction was pushed
    told_at timestamptz,
    resolved_told_at timestamptz,
    kind text DEFAULT 'machine'::text NOT NULL,
    account text,  -- of a car: whose limits it is about; model is empty then
    CONSTRAINT alert_pkey PRIMARY KEY (alert_id),
    CONSTRAINT alert_audience_check CHECK ((audience = ANY (ARRAY['farmer'::text, 'dealer'::text, 'developer'::text]))),
    CONSTRAINT alert_kind_check CHECK ((kind = ANY (ARRAY['car'::text, 'machine'::text]))),
    CONSTRAINT alert_severity_check CHECK ((severity = ANY (ARRAY['warning'::text, 'critical'::text]))),
    CONSTRAINT alert_state_check CHECK ((state = ANY (ARRAY['due_soon'::text, 'open'::text, 'resolved'::text, 'withdrawn'::text]))),
    CONSTRAINT alert_test_check CHECK ((test = ANY (ARRAY['above'::text, 'below'::text, 'absent'::text])))
);
CREATE INDEX alert_by_account ON drover.alert USING btree (account, opened_at) WHERE (account IS NOT NULL);
-- What judging again can touch is looked up by an alert's end, too.
CREATE INDEX alert_by_end ON drover.alert USING btree (vehicle, resolved_at) WHERE ((kind = 'machine'::text) AND (state <> 'withdrawn'::text));
CREATE INDEX alert_by_first_opening ON drover.alert USING btree (vehicle, first_opened_at);
CREATE INDEX alert_by_vehicle ON drover.alert USING btree (vehicle, opened_at);
CREATE INDEX alert_open ON drover.alert USING btree (opened_at) WHERE (state = ANY (ARRAY['open'::text, 'due_soon'::text]));
-- The map, Home and the list of vehicles ask for the open alerts of each vehicle: not by way of all that it ever had.
CREATE INDEX alert_open_by_vehicle ON drover.alert USING btree (vehicle) WHERE (state = ANY (ARRAY['open'::text, 'due_soon'::text]));
CREATE INDEX alert_open_of_cars ON drover.alert USING btree (vehicle) WHERE ((kind = 'car'::text) AND (state = 'open'::text));
-- Alerts that are over, the latest first.
CREATE INDEX alert_resolved ON drover.alert USING btree (resolved_at, alert_id) WHERE (state = 'resolved'::text);
ALTER TABLE drover.alert ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.alert FOR SELECT TO drover_sight USING ((((kind = 'machine'::text) AND (audience = ANY (( SELECT drover.seen_audiences() AS seen_audiences)::text[])) AND (( SELECT drover.sees_all() AS sees_all) OR (vehicle IN ( SELECT drover.seen('machine'::text) AS seen)) OR ((vehicle IN ( SELECT drover.seen_partly('machine'::text) AS seen_partly)) AND drover.sees_at('machine'::text, vehicle, opened_at)))) OR ((kind = 'car'::text) AND ((account = ( SELECT drover.sight_account() AS sight_account)) OR ( SELECT drover.sees_all() AS sees_all) OR (vehicle IN ( SELECT drover.seen('car'::text) AS seen)) OR ((vehicle IN ( SELECT drover.seen_partly('car'::text) AS seen_partly)) AND drover.sees_at('car'::text, vehicle, opened_at))))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.alert TO drover_writer;
GRANT SELECT ON TABLE drover.alert TO drover_reader, drover_relay, drover_sight;

-- What was told of an account's alerts, in the order in which it became visible (OutboxStore takes the account's lock before
-- it asks for an id), so that who comes back after an id misses nothing. Kept for a week.
CREATE TABLE drover.alert_event (
    event_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    account text NOT NULL,
    record_id text NOT NULL,  -- as on drover.alerts
    record text NOT NULL,  -- the JSON value as it goes there
    made_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT alert_event_pkey PRIMARY KEY (event_id)
);
CREATE INDEX alert_event_by_account ON drover.alert_event USING btree (account, event_id);
CREATE INDEX alert_event_by_time ON drover.alert_event USING btree (made_at);
CREATE TRIGGER alert_event_tell AFTER INSERT ON drover.alert_event FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_alert_event();
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.alert_event TO drover_writer;
GRANT SELECT ON TABLE drover.alert_event TO drover_reader;

-- What people say of alerts beside having seen them: who takes care of one, a comment, that nobody has it any more, that it is not to be told.
-- Each is a record on the log of its vehicle (docs/machines.md), so a replay writes the same rows.
CREATE TABLE drover.alert_triage (
    vehicle text NOT NULL,
    record_id text NOT NULL,
    alert_id text NOT NULL,
    said_at timestamptz NOT NULL,
    said_by text NOT NULL,
    word text NOT NULL,
    account text,  -- who is to take care of it; NULL: nobody
    until_at timestamptz,  -- muted until then; NULL: until it is over
    note text,
    CONSTRAINT alert_triage_pkey PRIMARY KEY (vehicle, record_id),
    CONSTRAINT alert_triage_word_check CHECK ((word = ANY (ARRAY['assigned'::text, 'comment'::text, 'reopened'::text, 'muted'::text])))
);
CREATE INDEX alert_triage_by_alert ON drover.alert_triage USING btree (alert_id, said_at);
ALTER TABLE drover.alert_triage ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.alert_triage FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (EXISTS ( SELECT
   FROM drover.alert a
  WHERE (a.alert_id = alert_triage.alert_id)))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.alert_triage TO drover_writer;
GRANT SELECT ON TABLE drover.alert_triage TO drover_reader, drover_relay, drover_sight;

CREATE TABLE drover.assignment (
    vehicle text NOT NULL,
    assigned_at timestamptz NOT NULL,
    account text,  -- NULL: nobody
    record_id text NOT NULL,
    assigned_by text NOT NULL,
    CONSTRAINT assignment_pkey PRIMARY KEY (vehicle, assigned_at)
);
CREATE INDEX assignment_by_account ON drover.assignment USING btree (account);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.assignment TO drover_writer;
GRANT SELECT ON TABLE drover.assignment TO drover_reader;

CREATE TABLE drover.audit_entry (
    sequence bigint NOT NULL,
    at timestamptz NOT NULL,
    action text NOT NULL,
    actor bytea,  -- who did it; NULL: not known, or somebody with a login of the database
    subject bytea,  -- to whom, or whose it is
    remote bytea,  -- from where
    detail text NOT NULL,  -- JSON, as the hash has it; names nobody
    hash bytea NOT NULL,
    CONSTRAINT audit_entry_pkey PRIMARY KEY (sequence),
    CONSTRAINT audit_entry_action_check CHECK ((action ~ '^[a-z_]{1,40}$'::text)),
    CONSTRAINT audit_entry_detail_check CHECK (((octet_length(detail) <= 4000) AND (detail !~ '[\n\r]'::text))),
    CONSTRAINT audit_entry_hash_check CHECK ((octet_length(hash) = 32))
);
CREATE INDEX audit_entry_by_time ON drover.audit_entry USING btree (at);

-- Who appends holds this row until the end of the transaction, and takes no other lock after it.
CREATE TABLE drover.audit_head (
    is_only boolean DEFAULT true NOT NULL,
    sequence bigint NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT audit_head_pkey PRIMARY KEY (is_only),
    CONSTRAINT audit_head_is_only_check CHECK (is_only)
);

-- Whom an entry means: it holds the digest alone. The salt makes a digest that has lost its row tell nothing, even to who guesses names.
CREATE TABLE drover.audit_name (
    digest bytea NOT NULL,
    account text NOT NULL,  -- with whom it is erased; '': with nobody
    said text NOT NULL,  -- the account, or an address that it came from
    salt bytea NOT NULL,
    CONSTRAINT audit_name_pkey PRIMARY KEY (digest),
    CONSTRAINT audit_name_account_check CHECK ((octet_length(account) <= 256)),
    CONSTRAINT audit_name_account_said_key UNIQUE (account, said),
    CONSTRAINT audit_name_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT audit_name_said_check CHECK ((octet_length(said) <= 256)),
    CONSTRAINT audit_name_salt_check CHECK ((octet_length(salt) = 32))
);

-- What happens often is an entry at its first time in a minute or an hour, and one with how often when that is over.
CREATE TABLE drover.audit_tally (
    action text NOT NULL,
    bucket_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    key bytea NOT NULL,
    is_known boolean NOT NULL,
    actor text,
    subject text,
    remote text,
    detail text NOT NULL,
    times bigint DEFAULT 1 NOT NULL,
    CONSTRAINT audit_tally_pkey PRIMARY KEY (action, bucket_at, key)
);
CREATE INDEX audit_tally_by_end ON drover.audit_tally USING btree (ends_at);

-- Dispatch: campuses, their rides and vehicles, and each decision with its reasons.
CREATE TABLE drover.campus (
    campus text NOT NULL,
    topic_partition integer NOT NULL,
    name text NOT NULL,
    settings text NOT NULL,  -- the record that said them last, as on drover.dispatch
    state bytea NOT NULL,  -- itineraries and who waits: Sources/Domain/Routing/Dispatch/CampusPacked.swift
    record_offset bigint NOT NULL,  -- of the last record in it
    likelihoods bytea,
    hour_at timestamptz,
    hour_speed_kmh double precision,  -- NULL: the campus's own
    CONSTRAINT campus_pkey PRIMARY KEY (campus)
);
CREATE INDEX campus_by_partition ON drover.campus USING btree (topic_partition);
CREATE TRIGGER campus_neighbours AFTER INSERT ON drover.campus FOR EACH ROW EXECUTE FUNCTION drover.keep_neighbours_apart();
ALTER TABLE drover.campus ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.campus FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (campus IN ( SELECT b.campus
   FROM drover.bound_people() b(campus, person, role, name)))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.campus TO drover_writer;
GRANT SELECT ON TABLE drover.campus TO drover_gateway, drover_reader;
GRANT SELECT (campus, topic_partition, name, settings, record_offset) ON TABLE drover.campus TO drover_sight;

-- Whose car it was from a time on: registrations over time, where drover.registration has the latest.
CREATE TABLE drover.car_owner (
    vehicle text NOT NULL,
    owned_at timestamptz NOT NULL,
    account text,  -- NULL: nobody's
    record_id text NOT NULL,
    CONSTRAINT car_owner_pkey PRIMARY KEY (vehicle, owned_at)
);
-- Whose cars are touched by an account's settings.
CREATE INDEX car_owner_by_account ON drover.car_owner USING btree (account);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.car_owner TO drover_writer;
GRANT SELECT ON TABLE drover.car_owner TO drover_reader;

-- Cars of a partition that are judged again because its clock was set back: those whose latest reading is not before since_at. They are
-- noted in car_watch some at each tick, in the order of their names (docs/decisions/0011-what-drivers-are-told.md). Two rows a partition at
-- most: what goes on, and what was asked for since.
CREATE TABLE drover.car_spreading (
    topic_partition integer NOT NULL,
    asked_offset bigint NOT NULL,  -- the record that asked for it first
    since_at timestamptz NOT NULL,
    after_vehicle text,  -- up to this car they are noted; NULL: none is
    CONSTRAINT car_spreading_pkey PRIMARY KEY (topic_partition, asked_offset)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.car_spreading TO drover_writer;

-- What a car said it supports: the row is its latest answer.
CREATE TABLE drover.car_support (
    vehicle text NOT NULL,
    seen_at timestamptz NOT NULL,
    record_id text NOT NULL,
    pids text[] NOT NULL,
    CONSTRAINT car_support_pkey PRIMARY KEY (vehicle)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.car_support TO drover_writer;
GRANT SELECT ON TABLE drover.car_support TO drover_gateway, drover_reader;

-- Drivers' alerts are judged from memory as readings come, and at ticks from what is stored (docs/decisions/0011-what-drivers-are-told.md). What a
-- worker that takes a partition over has to know of them; a car that is silent for an hour has no row.
CREATE TABLE drover.car_watch (
    vehicle text NOT NULL,
    topic_partition integer NOT NULL,
    state bytea,
    next_offset bigint,
    from_at timestamptz,
    until_at timestamptz,
    asked_offset bigint,
    is_late boolean,
    is_latest boolean,
    arrived_at timestamptz,
    codes_offset bigint,
    CONSTRAINT car_watch_pkey PRIMARY KEY (vehicle),
    CONSTRAINT car_watch_check CHECK (((state IS NULL) = (next_offset IS NULL))),
    CONSTRAINT car_watch_check1 CHECK ((num_nulls(from_at, until_at, asked_offset, is_late, is_latest) = ANY (ARRAY[0, 5])))
)
WITH (fillfactor='50');
CREATE INDEX car_watch_by_partition ON drover.car_watch USING btree (topic_partition);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.car_watch TO drover_writer;

-- Who asked for a code or handed one in, whether or not there is such a person: so limits tell nobody who is known.
CREATE TABLE drover.code_request (
    request_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    campus text NOT NULL,
    person text NOT NULL,
    is_try boolean NOT NULL,  -- a code was handed in
    asked_at timestamptz DEFAULT now() NOT NULL,
    asker text,  -- Who asked for one, or tried one: `account miller`, or `address 192.0.2.1`. NULL: by the program before.
    CONSTRAINT code_request_pkey PRIMARY KEY (request_id)
);
CREATE INDEX code_request_by_asker ON drover.code_request USING btree (asker, asked_at) WHERE (asker IS NOT NULL);
CREATE INDEX code_request_by_person ON drover.code_request USING btree (campus, person, asked_at);
CREATE INDEX code_request_by_time ON drover.code_request USING btree (asked_at);

-- A dealer's own class and tags of a machine that was confirmed to them: nobody's but theirs, neither the owner's nor an administrator's.
-- No result: it stands in a table that the page changes, and on no topic. It ends with the dealership.
CREATE TABLE drover.dealer_mark (
    account text NOT NULL,
    vehicle text NOT NULL,
    class text,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT dealer_mark_pkey PRIMARY KEY (account, vehicle),
    CONSTRAINT dealer_mark_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account),
    CONSTRAINT dealer_mark_check CHECK (((class IS NOT NULL) OR (cardinality(tags) > 0))),
    CONSTRAINT dealer_mark_class_check CHECK (((octet_length(class) >= 1) AND (octet_length(class) <= 64))),
    CONSTRAINT dealer_mark_tags_check CHECK (((cardinality(tags) <= 20) AND (array_position(tags, NULL::text) IS NULL))),
    CONSTRAINT dealer_mark_vehicle_check CHECK ((vehicle ~ '^[A-Za-z0-9._-]{1,64}$'::text))
);
ALTER TABLE drover.dealer_mark ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON drover.dealer_mark FOR SELECT TO drover_sight USING (((account = ( SELECT drover.sight_account() AS sight_account)) AND (vehicle IN ( SELECT drover.seen_partly('machine'::text) AS seen_partly))));
GRANT SELECT ON TABLE drover.dealer_mark TO drover_reader, drover_sight;

-- A dealer asks for a machine by its serial number; its owner confirms, and can end it. The past stays hidden unless shared.
CREATE TABLE drover.dealership (
    dealership_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    vehicle text NOT NULL,
    dealer text NOT NULL,
    asked_at timestamptz DEFAULT now() NOT NULL,
    confirmed_at timestamptz,
    confirmed_by text,
    shares_past boolean DEFAULT false NOT NULL,
    ended_at timestamptz,
    ended_by text,
    CONSTRAINT dealership_pkey PRIMARY KEY (dealership_id),
    CONSTRAINT dealership_check CHECK ((((confirmed_at IS NULL) = (confirmed_by IS NULL)) AND ((ended_at IS NULL) = (ended_by IS NULL)))),
    CONSTRAINT dealership_dealer_fkey FOREIGN KEY (dealer) REFERENCES drover.account(account),
    CONSTRAINT dealership_vehicle_check CHECK ((vehicle ~ '^[A-Za-z0-9._-]{1,64}$'::text))
);
CREATE INDEX dealership_by_dealer ON drover.dealership USING btree (dealer) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX dealership_open ON drover.dealership USING btree (vehicle, dealer) WHERE (ended_at IS NULL);
CREATE CONSTRAINT TRIGGER audit AFTER INSERT OR UPDATE OF confirmed_at, ended_at ON drover.dealership DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_row();
CREATE TRIGGER dealership_forget AFTER UPDATE OF ended_at ON drover.dealership FOR EACH ROW WHEN (((new.ended_at IS NOT NULL) AND (old.ended_at IS NULL))) EXECUTE FUNCTION drover.forget_marks();
GRANT SELECT (vehicle, dealer, confirmed_at, ended_at) ON TABLE drover.dealership TO drover_relay;

-- What boxes wrote for their developers, as it was fetched: a row a download. Not in the log of records: nothing follows
-- from it. PostgreSQL compresses the bytes.
CREATE TABLE drover.debug_log (
    debug_log_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    vehicle text NOT NULL,
    fetched_at timestamptz DEFAULT now() NOT NULL,
    first_at timestamptz,  -- of the lines that begin with a time; NULL: none does
    last_at timestamptz,
    error_lines integer NOT NULL,  -- by the level beside the time: Sources/Domain/Codecs/MTG/DebugLogText.swift
    warning_lines integer NOT NULL,
    info_lines integer NOT NULL,
    debug_lines integer NOT NULL,
    other_lines integer NOT NULL,
    log bytea NOT NULL,
    CONSTRAINT debug_log_pkey PRIMARY KEY (debug_log_id),
    CONSTRAINT debug_log_log_check CHECK ((octet_length(log) <= 16777216))
);
CREATE INDEX debug_log_by_vehicle ON drover.debug_log USING btree (vehicle, debug_log_id);
ALTER TABLE drover.debug_log ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_debug
CREATE POLICY sight ON drover.debug_log FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR ('developer'::text = ANY (( SELECT drover.sight_roles() AS sight_roles)::text[]))));
GRANT DELETE, INSERT, SELECT ON TABLE drover.debug_log TO drover_debug;
GRANT SELECT ON TABLE drover.debug_log TO drover_sight;

CREATE TABLE drover.dispatch_decision (
    campus text NOT NULL,
    record_offset bigint NOT NULL,  -- of the record that asked for it, in the campus's partition
    made_at timestamptz NOT NULL,
    decision text NOT NULL,  -- Sources/Domain/Routing/Dispatch/DecisionText.swift
    why jsonb NOT NULL,
    CONSTRAINT dispatch_decision_pkey PRIMARY KEY (campus, record_offset)
);
CREATE INDEX dispatch_decision_by_time ON drover.dispatch_decision USING btree (campus, made_at);
ALTER TABLE drover.dispatch_decision ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.dispatch_decision FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (campus IN ( SELECT drover.dispatched_campuses() AS dispatched_campuses))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.dispatch_decision TO drover_writer;
GRANT SELECT ON TABLE drover.dispatch_decision TO drover_reader, drover_sight;

-- Who drove, by what was uploaded; and who was assigned.
CREATE TABLE drover.driving (
    vehicle text NOT NULL,
    from_at timestamptz NOT NULL,
    until_at timestamptz NOT NULL,
    account text NOT NULL,
    record_id text NOT NULL,
    CONSTRAINT driving_pkey PRIMARY KEY (vehicle, record_id)
);
CREATE INDEX driving_by_account ON drover.driving USING btree (account, until_at);
-- What adjoins a drive that goes on now is found from its end.
CREATE INDEX driving_by_end ON drover.driving USING btree (vehicle, until_at);
CREATE INDEX driving_by_time ON drover.driving USING btree (vehicle, from_at);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.driving TO drover_writer;
GRANT SELECT ON TABLE drover.driving TO drover_reader;

-- Vehicles that nobody owns: who wrote about one first goes on, and nobody else may. Once it has an owner or a fleet, these count.
CREATE TABLE drover.first_writer (
    kind text NOT NULL,
    vehicle text NOT NULL,
    account text NOT NULL,  -- perhaps a name that does not log in
    wrote_at timestamptz DEFAULT now() NOT NULL,
    is_over boolean DEFAULT false NOT NULL,  -- it has been in a fleet: nobody's again, it is not this account's
    over_at timestamptz,  -- Since when it is in a fleet. A drive that the first writer only announced, as uploads of before this could, is not theirs beyond that.
    CONSTRAINT first_writer_pkey PRIMARY KEY (kind, vehicle),
    CONSTRAINT first_writer_kind_check CHECK ((kind = ANY (ARRAY['car'::text, 'machine'::text]))),
    CONSTRAINT first_writer_vehicle_check CHECK ((vehicle ~ '^[A-Za-z0-9._-]{1,64}$'::text))
);
CREATE INDEX first_writer_by_account ON drover.first_writer USING btree (account);
ALTER TABLE drover.first_writer ENABLE ROW LEVEL SECURITY;

CREATE TABLE drover.fleet (
    fleet text NOT NULL,
    name text NOT NULL,
    part_of text,  -- nested once
    made_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT fleet_pkey PRIMARY KEY (fleet),
    CONSTRAINT fleet_check CHECK ((part_of <> fleet)),
    CONSTRAINT fleet_fleet_check CHECK ((fleet ~ '^[A-Za-z0-9._-]{1,64}$'::text)),
    CONSTRAINT fleet_name_check CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 200))),
    CONSTRAINT fleet_part_of_fkey FOREIGN KEY (part_of) REFERENCES drover.fleet(fleet)
);
CREATE INDEX fleet_by_part_of ON drover.fleet USING btree (part_of) WHERE (part_of IS NOT NULL);
CREATE TRIGGER fleet_check BEFORE INSERT OR UPDATE ON drover.fleet FOR EACH ROW EXECUTE FUNCTION drover.check_fleet();
CREATE TRIGGER fleet_neighbours AFTER INSERT OR UPDATE OF part_of ON drover.fleet FOR EACH STATEMENT EXECUTE FUNCTION drover.keep_neighbours_apart();

CREATE TABLE drover.fleet_member (
    fleet text NOT NULL,
    account text NOT NULL,
    CONSTRAINT fleet_member_pkey PRIMARY KEY (fleet, account),
    CONSTRAINT fleet_member_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account),
    CONSTRAINT fleet_member_fleet_fkey FOREIGN KEY (fleet) REFERENCES drover.fleet(fleet) ON DELETE CASCADE
);
CREATE INDEX fleet_member_by_account ON drover.fleet_member USING btree (account);
CREATE CONSTRAINT TRIGGER audit AFTER INSERT OR DELETE ON drover.fleet_member DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_row();
CREATE TRIGGER member_neighbours AFTER DELETE OR UPDATE ON drover.fleet_member FOR EACH STATEMENT EXECUTE FUNCTION drover.keep_neighbours_apart();

CREATE TABLE drover.fleet_vehicle (
    fleet text NOT NULL,
    kind text NOT NULL,
    vehicle text NOT NULL,
    CONSTRAINT fleet_vehicle_pkey PRIMARY KEY (fleet, kind, vehicle),
    CONSTRAINT fleet_vehicle_fleet_fkey FOREIGN KEY (fleet) REFERENCES drover.fleet(fleet) ON DELETE CASCADE,
    CONSTRAINT fleet_vehicle_kind_check CHECK ((kind = ANY (ARRAY['car'::text, 'machine'::text]))),
    CONSTRAINT fleet_vehicle_vehicle_check CHECK ((vehicle ~ '^[A-Za-z0-9._-]{1,64}$'::text))
);
CREATE INDEX fleet_vehicle_by_vehicle ON drover.fleet_vehicle USING btree (kind, vehicle);
CREATE TRIGGER first_writer AFTER INSERT ON drover.fleet_vehicle FOR EACH ROW EXECUTE FUNCTION drover.end_first_writer();

CREATE TABLE drover.forward (
    site text NOT NULL,
    survey text NOT NULL,
    version integer NOT NULL,
    account text NOT NULL,  -- that handed the survey in
    state text DEFAULT 'waiting'::text NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    try_at timestamptz DEFAULT now() NOT NULL,  -- not before
    made_at timestamptz DEFAULT now() NOT NULL,
    settled_at timestamptz,
    status integer,  -- of the last answer (HTTP); NULL: there was none
    answer text,  -- the collector's words, or what went wrong
    CONSTRAINT forward_pkey PRIMARY KEY (site, survey, version),
    CONSTRAINT forward_answer_check CHECK ((octet_length(answer) <= 500)),
    CONSTRAINT forward_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'refused'::text, 'stopped'::text])))
);
CREATE INDEX forward_by_state ON drover.forward USING btree (state, made_at);
CREATE INDEX forward_by_time ON drover.forward USING btree (try_at) WHERE (state = 'waiting'::text);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.forward TO drover_writer;
GRANT SELECT (site, survey, version) ON TABLE drover.forward TO drover_relay;
GRANT SELECT (tries), UPDATE (tries) ON TABLE drover.forward TO drover_relay;
GRANT UPDATE (state, try_at, settled_at, status, answer) ON TABLE drover.forward TO drover_relay;

-- Until when the collector wants to be left alone, for all relays.
CREATE TABLE drover.forward_pause (
    is_only boolean DEFAULT true NOT NULL,
    until_at timestamptz NOT NULL,
    CONSTRAINT forward_pause_pkey PRIMARY KEY (is_only),
    CONSTRAINT forward_pause_is_only_check CHECK (is_only)
);
GRANT INSERT, SELECT, UPDATE ON TABLE drover.forward_pause TO drover_relay;

-- Addresses. What was asked for is kept as a digest only: people's addresses are nobody else's business.
CREATE TABLE drover.geocode (
    source text NOT NULL,
    is_reverse boolean NOT NULL,
    question bytea NOT NULL,
    latitude integer,  -- NULL: there is no such place
    longitude integer,
    label text,
    kept_until timestamptz NOT NULL,
    CONSTRAINT geocode_pkey PRIMARY KEY (source, is_reverse, question),
    CONSTRAINT geocode_check CHECK ((((latitude IS NULL) = (longitude IS NULL)) AND ((latitude IS NULL) = (label IS NULL))))
);
CREATE INDEX geocode_by_end ON drover.geocode USING btree (kept_until);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.geocode TO drover_api, drover_gateway, drover_writer;

-- Health scans: asked for, answered, or handed in by a phone.
CREATE TABLE drover.health_scan (
    vehicle text NOT NULL,
    scan_id text NOT NULL,  -- the request's id, else the result's
    asked_at timestamptz,
    asked_by text,
    expires_at timestamptz,  -- nobody waits for it any more
    scanned_at timestamptz,
    scanned_by text,
    is_done boolean,  -- the car answered
    answer text,  -- the count of codes, or the reason and what to do
    stored text[],  -- mode 03
    pending text[],  -- mode 07
    permanent text[],  -- mode 0A
    is_lamp_on boolean,
    not_ready text[],
    vin text,
    freeze_frame text,  -- JSON
    CONSTRAINT health_scan_pkey PRIMARY KEY (vehicle, scan_id)
);
CREATE INDEX health_scan_open ON drover.health_scan USING btree (expires_at) WHERE (scanned_at IS NULL);
ALTER TABLE drover.health_scan ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.health_scan FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (vehicle IN ( SELECT drover.seen('car'::text) AS seen)) OR ((vehicle IN ( SELECT drover.seen_partly('car'::text) AS seen_partly)) AND drover.sees_at('car'::text, vehicle, COALESCE(asked_at, scanned_at)))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.health_scan TO drover_writer;
GRANT SELECT ON TABLE drover.health_scan TO drover_gateway, drover_reader, drover_sight;

CREATE UNLOGGED TABLE drover.live_trip (
    vehicle text NOT NULL,
    start_at timestamptz,
    end_at timestamptz,
    readings integer,
    disputed_readings integer,
    speed_readings integer,
    integrated_ms bigint,
    distance_mm bigint,
    idle_ms bigint,
    holes integer,
    sharp_accelerations integer,
    sharp_brakings integer,
    max_speed_m_per_h integer,
    rpm_ms bigint,
    milli_turns bigint,
    max_rpm_milli integer,
    air_mg bigint,
    air_calculated_mg bigint,
    max_coolant_milli_c integer,
    min_voltage_mv integer,
    max_voltage_mv integer,
    max_acceleration_mm_per_s2 integer,
    max_braking_mm_per_s2 integer,
    acceleration_mm2_per_s3 bigint,
    braking_mm2_per_s3 bigint,
    fuel_rate_ul bigint,
    fuel_rate_ms bigint,
    burnt_air_mg bigint,
    air_ms bigint,
    burnt_air_calculated_mg bigint,
    air_calculated_ms bigint,
    burnt_air_per_litre_mg bigint,
    air_per_litre_ms bigint,
    fuel_cut_ms bigint,
    minute_at timestamptz NOT NULL,  -- start of the open minute
    samples bytea NOT NULL,
    from_before boolean DEFAULT false NOT NULL,
    CONSTRAINT live_trip_pkey PRIMARY KEY (vehicle)
);
ALTER TABLE drover.live_trip ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.live_trip FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (vehicle IN ( SELECT drover.seen('car'::text) AS seen)) OR ((vehicle IN ( SELECT drover.seen_partly('car'::text) AS seen_partly)) AND drover.sees_at('car'::text, vehicle, start_at)) OR ((vehicle IN ( SELECT drover.driven() AS driven)) AND drover.drove(vehicle, start_at, end_at))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.live_trip TO drover_writer;
GRANT SELECT ON TABLE drover.live_trip TO drover_reader, drover_sight;

-- A photo of a single machine, by who keeps it or by its dealer: for whoever knows the machine. No result, and on no topic.
CREATE TABLE drover.machine_photo (
    vehicle text NOT NULL,
    account text NOT NULL,
    photo text NOT NULL,  -- digest of the content
    media_type text NOT NULL,
    content bytea NOT NULL,
    kept_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT machine_photo_pkey PRIMARY KEY (vehicle),
    CONSTRAINT machine_photo_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account),
    CONSTRAINT machine_photo_content_check CHECK ((octet_length(content) <= 524288)),
    CONSTRAINT machine_photo_media_type_check CHECK ((media_type = ANY (ARRAY['image/jpeg'::text, 'image/png'::text, 'image/webp'::text]))),
    CONSTRAINT machine_photo_photo_check CHECK ((photo ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT machine_photo_vehicle_check CHECK ((vehicle ~ '^[A-Za-z0-9._-]{1,64}$'::text))
);
ALTER TABLE drover.machine_photo ENABLE ROW LEVEL SECURITY;
CREATE POLICY sight ON drover.machine_photo FOR SELECT TO drover_page USING ((( SELECT drover.sees_all() AS sees_all) OR (vehicle IN ( SELECT drover.known('machine'::text) AS known))));
GRANT SELECT ON TABLE drover.machine_photo TO drover_page;

CREATE TABLE drover.machine_reading (
    vehicle text NOT NULL,
    read_at timestamptz NOT NULL,
    reading_id text NOT NULL,
    model text NOT NULL,
    serial text,
    firmware text,
    engine_hours_h double precision,
    engine_turn_on_count bigint,
    key_turn_on_count bigint,
    fuel_level_gal double precision,
    coolant_c double precision,
    hydraulic_oil_c double precision,
    tire_pressure_kpa double precision,
    gps_available boolean,
    gps_fix_at timestamptz,
    latitude_deg double precision,
    longitude_deg double precision,
    rda_license boolean,
    wdt_license boolean,
    machine_sync boolean,
    connected_devices bigint,
    connected_device_names text[],
    last_cell_call_in_at timestamptz,
    last_reprogramming_ok boolean,
    last_reprogramming_at timestamptz,
    alert_state bytea NOT NULL,  -- the alert engine's state after this reading: where late data starts again
    is_reporting boolean DEFAULT false NOT NULL,  -- Expected to go on reporting: only then is silence judged.
    record_offset bigint,  -- Where a reading's record stands in its partition (vehicle.topic_partition): an alert can show what is behind it.
    contact boolean,  -- Said by the gateway that polls the box, in a row of its own: whether it answers. NULL in what the machine itself says.
    is_partial boolean DEFAULT false NOT NULL,  -- What the reading lacks says nothing: one of several that tell a part of one state each (ISO 15143-3).
    machine_id text,  -- What the box calls the machine (Machine ID), with each reading; and the one it said last, which people search by. Readings from before have none: the records of their boxes did not carry it.
    CONSTRAINT machine_reading_pkey PRIMARY KEY (vehicle, read_at)
)
PARTITION BY RANGE (read_at);
ALTER TABLE drover.machine_reading ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.machine_reading FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (vehicle IN ( SELECT drover.seen('machine'::text) AS seen)) OR ((vehicle IN ( SELECT drover.seen_partly('machine'::text) AS seen_partly)) AND drover.sees_at('machine'::text, vehicle, read_at))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.machine_reading TO drover_writer;
GRANT SELECT ON TABLE drover.machine_reading TO drover_reader, drover_sight;

-- Machines whose readings wait to be judged again: those not before from_at, a piece at each tick of their partition, until from until_at
-- on the state after one of them comes out as it was (docs/decisions/0022-judged-in-pieces.md). A reading that was not judged yet has an
-- empty alert_state.
CREATE TABLE drover.machine_rejudging (
    vehicle text NOT NULL,
    topic_partition integer NOT NULL,
    from_at timestamptz NOT NULL,
    until_at timestamptz NOT NULL,
    asked_offset bigint NOT NULL,
    is_late boolean NOT NULL,
    has_begun boolean NOT NULL,
    again_from_at timestamptz,
    again_until_at timestamptz,
    CONSTRAINT machine_rejudging_pkey PRIMARY KEY (vehicle)
);
CREATE INDEX machine_rejudging_by_partition ON drover.machine_rejudging USING btree (topic_partition);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.machine_rejudging TO drover_writer;

-- What is to be judged again of all machines of a partition (rules for an old time, a clock that is set back): of those whose latest
-- reading is not before since_at, the readings from from_at on. They are noted in machine_rejudging a piece at each tick, in the order of
-- their names (docs/decisions/0022-judged-in-pieces.md). Two rows a partition at most: what goes on, and what was asked for since.
CREATE TABLE drover.machine_spreading (
    topic_partition integer NOT NULL,
    asked_offset bigint NOT NULL,
    since_at timestamptz NOT NULL,
    from_at timestamptz NOT NULL,
    until_at timestamptz NOT NULL,
    after_vehicle text,
    CONSTRAINT machine_spreading_pkey PRIMARY KEY (topic_partition, asked_offset)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.machine_spreading TO drover_writer;

-- Mail to be sent, written in the transaction that it tells of; `drover notify` deletes it when the server has taken it.
CREATE TABLE drover.mail (
    mail_id text NOT NULL,  -- of the Message-ID: the same at each try
    recipient text NOT NULL,
    subject text NOT NULL,
    body bytea NOT NULL,  -- UTF-8
    is_sealed boolean DEFAULT false NOT NULL,  -- the body is encrypted: Sources/Platform/Crypto/CodeKey.swift
    made_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,  -- nobody needs it any more
    tries integer DEFAULT 0 NOT NULL,
    try_at timestamptz DEFAULT now() NOT NULL,  -- not before
    refused text,  -- why it was given up; kept for a week
    html bytea,
    leave_url bytea,  -- where one click ends such mails (RFC 8058); encrypted alike
    refers_to text[] DEFAULT '{}'::text[] NOT NULL,  -- mail_id of mails that it belongs to
    is_for_person boolean DEFAULT false NOT NULL,  -- Codes are for people of a roster, whose mail address an account that ended may have, too.
    CONSTRAINT mail_pkey PRIMARY KEY (mail_id),
    CONSTRAINT mail_body_check CHECK ((octet_length(body) <= 1000000)),
    CONSTRAINT mail_html_check CHECK ((octet_length(html) <= 4000000)),
    CONSTRAINT mail_leave_url_check CHECK ((octet_length(leave_url) <= 2000)),
    CONSTRAINT mail_mail_id_check CHECK ((mail_id ~ '^[A-Za-z0-9-]{1,64}$'::text)),
    CONSTRAINT mail_refers_to_check CHECK ((cardinality(refers_to) <= 20))
);
CREATE INDEX mail_by_time ON drover.mail USING btree (try_at) WHERE (refused IS NULL);
CREATE TRIGGER mail_tell AFTER INSERT ON drover.mail FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_mail();
GRANT DELETE, INSERT, SELECT ON TABLE drover.mail TO drover_relay;
GRANT UPDATE (tries, try_at, refused) ON TABLE drover.mail TO drover_relay;

CREATE TABLE drover.mail_file (
    mail_id text NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT mail_file_pkey PRIMARY KEY (mail_id, name),
    CONSTRAINT mail_file_content_check CHECK ((octet_length(content) <= 25000000)),
    CONSTRAINT mail_file_mail_id_fkey FOREIGN KEY (mail_id) REFERENCES drover.mail(mail_id) ON DELETE CASCADE,
    CONSTRAINT mail_file_media_type_check CHECK ((media_type ~ '^[a-z]+/[A-Za-z0-9.+-]{1,100}$'::text)),
    CONSTRAINT mail_file_name_check CHECK ((name ~ '^[A-Za-z0-9][A-Za-z0-9._ -]{0,120}$'::text))
);
GRANT INSERT, SELECT ON TABLE drover.mail_file TO drover_relay;

CREATE TABLE drover.migration (
    number integer NOT NULL,
    name text NOT NULL,
    digest text NOT NULL,
    applied_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT migration_pkey PRIMARY KEY (number)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.migration TO drover_writer;
GRANT SELECT ON TABLE drover.migration TO drover_gateway, drover_reader, drover_relay;

-- One occasion that one account is told of, or is not, and why. `round`: of a repeat or step its number, of a correction the
-- alert's revision.
CREATE TABLE drover.notice (
    notice_id text NOT NULL,  -- of the columns up to round: the same whenever it is decided
    alert_id text NOT NULL,
    account text NOT NULL,
    occasion text NOT NULL,
    round integer NOT NULL,
    vehicle text NOT NULL,
    relation text NOT NULL,  -- why this account: owner, driver, dealer, developer, or for whom it steps in
    manner text NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,  -- why so, for people
    decided_at timestamptz DEFAULT now() NOT NULL,
    due_at timestamptz NOT NULL,
    settled_at timestamptz,
    CONSTRAINT notice_pkey PRIMARY KEY (notice_id),
    CONSTRAINT notice_manner_check CHECK ((manner = ANY (ARRAY['at_once'::text, 'daily'::text, 'never'::text]))),
    CONSTRAINT notice_notice_id_check CHECK ((notice_id ~ '^n-[0-9a-f]{32}$'::text)),
    CONSTRAINT notice_occasion_check CHECK ((occasion = ANY (ARRAY['opened'::text, 'worse'::text, 'repeated'::text, 'escalated'::text, 'resolved'::text, 'corrected'::text, 'withdrawn'::text]))),
    CONSTRAINT notice_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'told'::text, 'not_told'::text])))
);
CREATE INDEX notice_by_account ON drover.notice USING btree (account, decided_at);
CREATE INDEX notice_by_alert ON drover.notice USING btree (alert_id, account);
CREATE INDEX notice_due ON drover.notice USING btree (due_at) WHERE (state = 'waiting'::text);
ALTER TABLE drover.notice ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true), each of: drover_reader
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_relay
CREATE POLICY sight ON drover.notice FOR SELECT TO drover_sight USING (((account = ( SELECT drover.sight_account() AS sight_account)) OR ( SELECT drover.sees_all() AS sees_all)));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.notice TO drover_relay;
GRANT SELECT ON TABLE drover.notice TO drover_reader, drover_sight;

CREATE TABLE drover.notice_event (
    event_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    alert_id text NOT NULL,
    transition text NOT NULL,
    told_at timestamptz NOT NULL,  -- when the record that says it was pushed
    CONSTRAINT notice_event_pkey PRIMARY KEY (event_id),
    CONSTRAINT notice_event_transition_check CHECK ((transition = ANY (ARRAY['opened'::text, 'worse'::text, 'resolved'::text, 'revised'::text, 'withdrawn'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_insert_threshold='-1');
CREATE TRIGGER notice_event_tell AFTER INSERT ON drover.notice_event FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_notice_event();
GRANT DELETE, SELECT, UPDATE ON TABLE drover.notice_event TO drover_relay;
GRANT INSERT, SELECT ON TABLE drover.notice_event TO drover_writer;

-- What goes out on one channel: some notices of one account.
CREATE TABLE drover.notice_message (
    message_id text NOT NULL,  -- of the account, the channel and the notices
    account text NOT NULL,
    channel text NOT NULL,
    manner text NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    payload bytea,  -- encrypted; NULL: a mail (drover.mail has it), or settled
    tries integer DEFAULT 0 NOT NULL,
    try_at timestamptz DEFAULT now() NOT NULL,
    answer text,  -- the last one
    settled_at timestamptz,
    mailed_at timestamptz,  -- refused, so it was told by mail instead
    link bytea,  -- digest of what its link acknowledges with
    link_expires_at timestamptz,
    link_used_at timestamptz,
    has_answered boolean,  -- Whether whom it goes to answered at the latest try, with whatever: that of their account and channel. NULL: nobody was asked yet. Three messages of one customer to a server that said nothing held up another's critical alert for half a minute.
    CONSTRAINT notice_message_pkey PRIMARY KEY (message_id),
    CONSTRAINT notice_message_answer_check CHECK ((octet_length(answer) <= 500)),
    CONSTRAINT notice_message_channel_check CHECK ((channel = ANY (ARRAY['mail'::text, 'push'::text, 'webhook'::text]))),
    CONSTRAINT notice_message_link_check CHECK ((octet_length(link) = 32)),
    CONSTRAINT notice_message_message_id_check CHECK ((message_id ~ '^notice-[0-9a-f]{32}$'::text)),
    CONSTRAINT notice_message_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'refused'::text])))
);
CREATE INDEX notice_message_by_account ON drover.notice_message USING btree (account, made_at);
CREATE INDEX notice_message_due ON drover.notice_message USING btree (try_at) WHERE ((state = 'waiting'::text) AND (channel <> 'mail'::text));
CREATE INDEX notice_message_next ON drover.notice_message USING btree (((has_answered IS FALSE)), try_at) WHERE ((state = 'waiting'::text) AND (channel <> 'mail'::text));
CREATE INDEX notice_message_refused ON drover.notice_message USING btree (settled_at) WHERE ((state = 'refused'::text) AND (channel <> 'mail'::text) AND (mailed_at IS NULL));
CREATE UNIQUE INDEX notice_message_by_link ON drover.notice_message USING btree (link);
CREATE TRIGGER notice_message_tell AFTER INSERT ON drover.notice_message FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_notice_message();
ALTER TABLE drover.notice_message ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true), each of: drover_reader
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_relay
CREATE POLICY sight ON drover.notice_message FOR SELECT TO drover_sight USING (((account = ( SELECT drover.sight_account() AS sight_account)) OR ( SELECT drover.sees_all() AS sees_all)));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.notice_message TO drover_relay;
GRANT SELECT (message_id, account, channel, manner, state, made_at, tries, try_at, answer, settled_at, link_used_at) ON TABLE drover.notice_message TO drover_reader, drover_sight;

-- What an account wants. No row: the standards that stand here.
CREATE TABLE drover.notice_setting (
    account text NOT NULL,
    critical_manner text DEFAULT 'at_once'::text NOT NULL,
    critical_channels text[] DEFAULT '{mail,push,webhook}'::text[] NOT NULL,
    warning_manner text DEFAULT 'daily'::text NOT NULL,
    warning_channels text[] DEFAULT '{mail,webhook}'::text[] NOT NULL,
    daily_minute smallint DEFAULT 420 NOT NULL,  -- of the local day: 07:00
    quiet_from smallint,  -- minutes of the local day
    quiet_until smallint,
    quiet_critical boolean DEFAULT false NOT NULL,  -- quiet hours hold critical ones back, too
    backlog text DEFAULT 'daily'::text NOT NULL,
    repeat_min integer DEFAULT 240 NOT NULL,  -- 0: never
    made_machines boolean DEFAULT false NOT NULL,  -- a developer: also of machines that are seen as their maker
    webhook_url text,
    webhook_key bytea,  -- encrypted: Sources/Platform/Crypto/CodeKey.swift
    mail_ended_at timestamptz,  -- by one click in a mail
    CONSTRAINT notice_setting_pkey PRIMARY KEY (account),
    CONSTRAINT notice_setting_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT notice_setting_backlog_check CHECK ((backlog = ANY (ARRAY['as_usual'::text, 'daily'::text, 'never'::text]))),
    CONSTRAINT notice_setting_check CHECK ((((quiet_from IS NULL) = (quiet_until IS NULL)) AND ((webhook_url IS NULL) = (webhook_key IS NULL)))),
    CONSTRAINT notice_setting_critical_channels_check CHECK ((critical_channels <@ ARRAY['mail'::text, 'push'::text, 'webhook'::text])),
    CONSTRAINT notice_setting_critical_manner_check CHECK ((critical_manner = ANY (ARRAY['at_once'::text, 'daily'::text, 'never'::text]))),
    CONSTRAINT notice_setting_daily_minute_check CHECK (((daily_minute >= 0) AND (daily_minute <= 1439))),
    CONSTRAINT notice_setting_quiet_from_check CHECK (((quiet_from >= 0) AND (quiet_from <= 1439))),
    CONSTRAINT notice_setting_quiet_until_check CHECK (((quiet_until >= 0) AND (quiet_until <= 1439))),
    CONSTRAINT notice_setting_repeat_min_check CHECK (((repeat_min = 0) OR ((repeat_min >= 15) AND (repeat_min <= 10080)))),
    CONSTRAINT notice_setting_warning_channels_check CHECK ((warning_channels <@ ARRAY['mail'::text, 'push'::text, 'webhook'::text])),
    CONSTRAINT notice_setting_warning_manner_check CHECK ((warning_manner = ANY (ARRAY['at_once'::text, 'daily'::text, 'never'::text]))),
    CONSTRAINT notice_setting_webhook_key_check CHECK ((octet_length(webhook_key) <= 200)),
    CONSTRAINT notice_setting_webhook_url_check CHECK ((octet_length(webhook_url) <= 1000))
);
ALTER TABLE drover.notice_setting ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON drover.notice_setting TO drover_page USING ((account = ( SELECT drover.sight_account() AS sight_account))) WITH CHECK ((account = ( SELECT drover.sight_account() AS sight_account)));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.notice_setting TO drover_page;

-- Whom to tell when this account does not acknowledge a critical alert in time.
CREATE TABLE drover.notice_step (
    account text NOT NULL,
    step smallint NOT NULL,
    after_min integer NOT NULL,
    colleague text NOT NULL,
    CONSTRAINT notice_step_pkey PRIMARY KEY (account, step),
    CONSTRAINT notice_step_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT notice_step_after_min_check CHECK (((after_min >= 5) AND (after_min <= 1440))),
    CONSTRAINT notice_step_colleague_fkey FOREIGN KEY (colleague) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT notice_step_step_check CHECK (((step >= 1) AND (step <= 3)))
);
ALTER TABLE drover.notice_step ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON drover.notice_step TO drover_page USING ((account = ( SELECT drover.sight_account() AS sight_account))) WITH CHECK (((account = ( SELECT drover.sight_account() AS sight_account)) AND (colleague IN ( SELECT c.account
   FROM drover.colleagues() c(account, name)))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.notice_step TO drover_page;

CREATE TABLE drover.notice_told (
    message_id text NOT NULL,
    notice_id text NOT NULL,
    CONSTRAINT notice_told_pkey PRIMARY KEY (message_id, notice_id),
    CONSTRAINT notice_told_message_id_fkey FOREIGN KEY (message_id) REFERENCES drover.notice_message(message_id) ON DELETE CASCADE,
    CONSTRAINT notice_told_notice_id_fkey FOREIGN KEY (notice_id) REFERENCES drover.notice(notice_id) ON DELETE CASCADE
);
CREATE INDEX notice_told_by_notice ON drover.notice_told USING btree (notice_id);
ALTER TABLE drover.notice_told ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true), each of: drover_reader
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_relay
CREATE POLICY sight ON drover.notice_told FOR SELECT TO drover_sight USING ((notice_id IN ( SELECT n.notice_id
   FROM drover.notice n)));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.notice_told TO drover_relay;
GRANT SELECT ON TABLE drover.notice_told TO drover_reader, drover_sight;

CREATE TABLE drover.outbox (
    outbox_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    topic text NOT NULL,
    key text NOT NULL,
    record_id text NOT NULL,  -- stable: a repeat of the same fact carries the same id
    record text NOT NULL,  -- the JSON value as it goes out
    made_at timestamptz DEFAULT now() NOT NULL,
    refused text,  -- why the broker will not take it; set aside for a person
    CONSTRAINT outbox_pkey PRIMARY KEY (outbox_id)
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_insert_threshold='-1');
CREATE INDEX outbox_refused ON drover.outbox USING btree (topic, made_at) WHERE (refused IS NOT NULL);
CREATE TRIGGER outbox_tell AFTER INSERT ON drover.outbox FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_outbox();
GRANT DELETE, SELECT ON TABLE drover.outbox TO drover_relay;
GRANT INSERT, SELECT ON TABLE drover.outbox TO drover_writer;
GRANT UPDATE (refused) ON TABLE drover.outbox TO drover_relay;

-- Calls by slice of a period (`CallBudget`). Old slices are deleted.
CREATE TABLE drover.outside_call (
    budget text NOT NULL,
    period text NOT NULL,
    slice bigint NOT NULL,
    calls integer NOT NULL,
    CONSTRAINT outside_call_pkey PRIMARY KEY (budget, period, slice),
    CONSTRAINT outside_call_calls_check CHECK ((calls > 0)),
    CONSTRAINT outside_call_period_check CHECK ((period = ANY (ARRAY['min'::text, 'h'::text, 'day'::text, 'month'::text])))
);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.outside_call TO drover_api, drover_gateway, drover_writer;
GRANT SELECT ON TABLE drover.outside_call TO drover_reader;

-- A row a service. The breaker and the waiting are by service, the spacing by budget (the row of the same name).
CREATE TABLE drover.outside_service (
    service text NOT NULL,  -- weather, weather-history, travel, geocoder
    failures integer DEFAULT 0 NOT NULL,  -- in a row
    open_until timestamptz,  -- left alone until then; NULL: it is asked
    trial_until timestamptz,  -- one call tries whether it is back
    wait_until timestamptz,  -- it said so itself (429, Retry-After)
    spaced_until timestamptz,  -- when the next call may begin
    answered_at timestamptz,
    failed_at timestamptz,
    fault text,  -- the last one
    dropped_values bigint DEFAULT 0 NOT NULL,  -- impossible, or in an unknown unit
    CONSTRAINT outside_service_pkey PRIMARY KEY (service)
);
GRANT INSERT, SELECT, UPDATE ON TABLE drover.outside_service TO drover_api, drover_gateway, drover_writer;
GRANT SELECT ON TABLE drover.outside_service TO drover_reader;

-- The fence: a worker moves next_offset by compare-and-set in the transaction that writes the results, so a
-- partition has one writer whatever the consumer group believes.
CREATE TABLE drover.partition_progress (
    topic text NOT NULL,
    partition integer NOT NULL,
    next_offset bigint NOT NULL,
    clock_at timestamptz,  -- the greatest tick seen
    replay_offset bigint NOT NULL,  -- records from here to next_offset are not in every row yet
    replay_clock_at timestamptz,  -- the clock at replay_offset
    last_record_hash bigint,  -- of the record before next_offset: a log that was replaced is recognised
    partition_count integer,
    topic_id text,
    create_time_before bigint,  -- records before this offset may be stamped by their senders: a person accepted them
    clock_waits text,
    replay_clock_waits text,  -- the same at replay_offset
    generation bigint DEFAULT 0 NOT NULL,  -- How often vehicles were set apart or came back. Who has loaded a partition before that writes nothing of it any more.
    CONSTRAINT partition_progress_pkey PRIMARY KEY (topic, partition)
);
CREATE TRIGGER dispatch_progress_tell AFTER INSERT OR UPDATE ON drover.partition_progress FOR EACH ROW WHEN ((new.topic = 'drover.dispatch'::text)) EXECUTE FUNCTION drover.tell_dispatch_progress();
CREATE TRIGGER fleet_progress_tell AFTER INSERT OR UPDATE ON drover.partition_progress FOR EACH ROW WHEN ((new.topic = ANY (ARRAY['drover.cars'::text, 'drover.machines'::text]))) EXECUTE FUNCTION drover.tell_fleet_progress();
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.partition_progress TO drover_writer;
GRANT SELECT ON TABLE drover.partition_progress TO drover_reader, drover_relay;
GRANT SELECT (topic, partition, replay_offset) ON TABLE drover.partition_progress TO drover_page;

-- The partitions there are. A period is a day, a month or a year (UTC); no two of a table overlap.
CREATE TABLE drover.period (
    relation text NOT NULL,
    from_at timestamptz NOT NULL,
    to_at timestamptz NOT NULL,
    partition text NOT NULL,
    CONSTRAINT period_pkey PRIMARY KEY (relation, from_at),
    CONSTRAINT period_check CHECK ((to_at > from_at)),
    CONSTRAINT period_partition_key UNIQUE (partition),
    CONSTRAINT period_relation_check CHECK ((relation = ANY (ARRAY['vehicle_minute'::text, 'machine_reading'::text])))
);
GRANT SELECT ON TABLE drover.period TO drover_reader, drover_writer;

-- Of what width new partitions are: a month, or a day where a month is too much to drop at once.
CREATE TABLE drover.period_width (
    relation text NOT NULL,
    width text DEFAULT 'month'::text NOT NULL,
    CONSTRAINT period_width_pkey PRIMARY KEY (relation),
    CONSTRAINT period_width_relation_check CHECK ((relation = ANY (ARRAY['vehicle_minute'::text, 'machine_reading'::text]))),
    CONSTRAINT period_width_width_check CHECK ((width = ANY (ARRAY['day'::text, 'month'::text])))
);
GRANT SELECT ON TABLE drover.period_width TO drover_reader, drover_writer;

CREATE TABLE drover.person (
    campus text NOT NULL,
    person text NOT NULL,  -- as the campus calls them
    role text NOT NULL,
    name text NOT NULL,
    mail text NOT NULL,
    imported_at timestamptz DEFAULT now() NOT NULL,
    left_at timestamptz,  -- no longer on the roster
    disabled_at timestamptz,  -- by a person; another import does not undo it
    CONSTRAINT person_pkey PRIMARY KEY (campus, person),
    CONSTRAINT person_role_check CHECK ((role = ANY (ARRAY['rider'::text, 'ride_driver'::text, 'dispatcher'::text])))
);

CREATE TABLE drover.person_account (
    campus text NOT NULL,
    person text NOT NULL,
    account text NOT NULL,
    bound_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT person_account_pkey PRIMARY KEY (campus, person),
    CONSTRAINT person_account_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT person_account_campus_person_fkey FOREIGN KEY (campus, person) REFERENCES drover.person(campus, person) ON DELETE CASCADE
);
CREATE INDEX person_account_by_account ON drover.person_account USING btree (account);

-- One code a person; a new one takes the old one's place. The digest's key is in no table: Sources/Platform/Crypto/CodeKey.swift.
CREATE TABLE drover.person_code (
    campus text NOT NULL,
    person text NOT NULL,
    digest bytea NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT person_code_pkey PRIMARY KEY (campus, person),
    CONSTRAINT person_code_campus_person_fkey FOREIGN KEY (campus, person) REFERENCES drover.person(campus, person) ON DELETE CASCADE,
    CONSTRAINT person_code_digest_check CHECK ((octet_length(digest) = 32))
);

-- Photos of people, by their content. Not on the log: profiles name them, and nothing is decided by them.
CREATE TABLE drover.person_photo (
    campus text NOT NULL,
    person text NOT NULL,
    photo text NOT NULL,  -- digest of the content
    media_type text NOT NULL,
    content bytea NOT NULL,
    kept_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT person_photo_pkey PRIMARY KEY (campus, person, photo),
    CONSTRAINT person_photo_content_check CHECK ((octet_length(content) <= 524288)),
    CONSTRAINT person_photo_media_type_check CHECK ((media_type = ANY (ARRAY['image/jpeg'::text, 'image/png'::text, 'image/webp'::text]))),
    CONSTRAINT person_photo_photo_check CHECK ((photo ~ '^[0-9a-f]{64}$'::text))
);
CREATE INDEX person_photo_by_content ON drover.person_photo USING btree (campus, photo);
ALTER TABLE drover.person_photo ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.person_photo FOR SELECT TO drover_page USING ((( SELECT drover.sees_all() AS sees_all) OR (campus IN ( SELECT drover.dispatched_campuses() AS dispatched_campuses)) OR ((campus, person) IN ( SELECT b.campus,
    b.person
   FROM drover.bound_people() b(campus, person, role, name))) OR (EXISTS ( SELECT
   FROM (drover.ride r
     JOIN drover.ride_vehicle v ON (((v.campus = r.campus) AND (v.vehicle = r.vehicle))))
  WHERE ((r.campus = person_photo.campus) AND (r.ended_at IS NULL) AND ((person_photo.person = r.rider) OR (person_photo.person = v.driver)))))));
GRANT SELECT ON TABLE drover.person_photo TO drover_api, drover_page;

CREATE TABLE drover.person_token (
    digest bytea NOT NULL,
    campus text NOT NULL,
    person text NOT NULL,
    device text NOT NULL,  -- as its owner calls it
    made_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    last_used_at timestamptz,  -- to the hour: a row is not written with each request
    CONSTRAINT person_token_pkey PRIMARY KEY (digest),
    CONSTRAINT person_token_campus_person_fkey FOREIGN KEY (campus, person) REFERENCES drover.person(campus, person) ON DELETE CASCADE,
    CONSTRAINT person_token_digest_check CHECK ((octet_length(digest) = 32))
);
CREATE INDEX person_token_by_person ON drover.person_token USING btree (campus, person, made_at);
CREATE CONSTRAINT TRIGGER audit_added AFTER INSERT ON drover.person_token DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_person_token();
CREATE CONSTRAINT TRIGGER audit_revoked AFTER UPDATE OF revoked_at ON drover.person_token DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION drover.audit_person_token();

-- Downloads that a person has asked for, and how they ended: both came over the log, in this order or the other.
CREATE TABLE drover.poll_request (
    vehicle text NOT NULL,
    request_id text NOT NULL,
    asked_at timestamptz,
    asked_by text,
    expires_at timestamptz,  -- nobody waits for it any more
    answered_at timestamptz,
    is_done boolean,  -- the box gave what it has
    answer text,  -- what it gave, or the reason and what to do
    wants text,  -- What is asked of a box; NULL: readings, as before this migration.
    CONSTRAINT poll_request_pkey PRIMARY KEY (vehicle, request_id),
    CONSTRAINT poll_request_wants_check CHECK ((wants = 'debug_log'::text))
);
CREATE INDEX poll_request_open ON drover.poll_request USING btree (expires_at) WHERE (answered_at IS NULL);
ALTER TABLE drover.poll_request ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.poll_request FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (vehicle IN ( SELECT drover.seen('machine'::text) AS seen)) OR ((vehicle IN ( SELECT drover.seen_partly('machine'::text) AS seen_partly)) AND drover.sees_at('machine'::text, vehicle, COALESCE(asked_at, answered_at)))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.poll_request TO drover_writer;
GRANT SELECT ON TABLE drover.poll_request TO drover_gateway, drover_reader, drover_sight;

-- A browser that pages may push to (W3C Push API).
CREATE TABLE drover.push_subscription (
    endpoint text NOT NULL,
    account text NOT NULL,
    p256dh bytea NOT NULL,
    auth bytea NOT NULL,
    agent text NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT push_subscription_pkey PRIMARY KEY (endpoint),
    CONSTRAINT push_subscription_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT push_subscription_agent_check CHECK ((octet_length(agent) <= 300)),
    CONSTRAINT push_subscription_auth_check CHECK ((octet_length(auth) = 16)),
    CONSTRAINT push_subscription_endpoint_check CHECK (((endpoint ~ '^https://'::text) AND (octet_length(endpoint) <= 1000))),
    CONSTRAINT push_subscription_p256dh_check CHECK ((octet_length(p256dh) = 65))
);
CREATE INDEX push_subscription_by_account ON drover.push_subscription USING btree (account);
ALTER TABLE drover.push_subscription ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_relay
CREATE POLICY own ON drover.push_subscription TO drover_page USING ((account = ( SELECT drover.sight_account() AS sight_account)));
GRANT DELETE ON TABLE drover.push_subscription TO drover_page;
GRANT DELETE, SELECT ON TABLE drover.push_subscription TO drover_relay;
GRANT SELECT (endpoint, account, agent, made_at) ON TABLE drover.push_subscription TO drover_page;

-- Vehicles that cannot be written, set apart from their partition: one refused by the database holds up no other. Each stands where
-- its partition stood when it was set apart, as in drover.partition_progress; its rows are those up to there.
CREATE TABLE drover.quarantine (
    topic text NOT NULL,
    partition integer NOT NULL,
    vehicle text NOT NULL,
    reason text NOT NULL,
    held_at timestamptz DEFAULT now() NOT NULL,
    next_offset bigint NOT NULL,
    clock_at timestamptz,
    replay_offset bigint NOT NULL,
    replay_clock_at timestamptz,
    last_record_hash bigint,
    clock_waits text,
    replay_clock_waits text,
    CONSTRAINT quarantine_pkey PRIMARY KEY (topic, partition, vehicle)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.quarantine TO drover_writer;

-- For whom a connection asks. A row is there as long as the transaction that wrote it, for nobody else to see: it is rolled back.
CREATE UNLOGGED TABLE drover.question (
    pid integer NOT NULL,
    account text NOT NULL,
    CONSTRAINT question_pkey PRIMARY KEY (pid)
);

-- What people say of a vehicle: its name, its model, how it is reached. A row is the latest registration record of its
-- topic partition by (registered_at, record_id), so that order and repeats do not matter.
CREATE TABLE drover.registration (
    kind text NOT NULL,
    vehicle text NOT NULL,
    topic_partition integer NOT NULL,
    registered_at timestamptz NOT NULL,  -- the record's own time
    record_id text NOT NULL,  -- of two records of one time the larger counts
    name text,  -- as people call it
    model text,  -- as in tractors.xml
    host text,  -- the box that is polled; NULL: upload only
    port integer,
    certificate_sha256 text,  -- the box's, pinned; NULL: plain TCP
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    is_disabled boolean DEFAULT false NOT NULL,  -- kept, not polled, not judged
    account text,  -- who owns the car
    vin text,
    make text,
    year integer,
    fuel text,
    tank_l double precision,
    displacement_cc integer,
    volumetric_efficiency_pct double precision,
    CONSTRAINT registration_pkey PRIMARY KEY (kind, vehicle),
    CONSTRAINT registration_certificate_sha256_check CHECK ((certificate_sha256 ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT registration_check CHECK (((host IS NULL) = (port IS NULL))),
    CONSTRAINT registration_fuel_check CHECK ((fuel = ANY (ARRAY['gasoline'::text, 'diesel'::text, 'ethanol'::text, 'methanol'::text, 'lpg'::text, 'cng'::text, 'electric'::text]))),
    CONSTRAINT registration_kind_check CHECK ((kind = ANY (ARRAY['car'::text, 'machine'::text]))),
    CONSTRAINT registration_port_check CHECK (((port >= 1) AND (port <= 65535)))
);
ALTER TABLE drover.registration ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.registration FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR ((kind = 'car'::text) AND (vehicle IN ( SELECT drover.known('car'::text) AS known))) OR ((kind = 'machine'::text) AND (vehicle IN ( SELECT drover.known('machine'::text) AS known)))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.registration TO drover_writer;
GRANT SELECT ON TABLE drover.registration TO drover_gateway, drover_reader;
GRANT SELECT (kind, vehicle, name) ON TABLE drover.registration TO drover_relay;
GRANT SELECT (kind, vehicle, topic_partition, registered_at, name, model, tags, is_disabled, account, vin, make, year, fuel, tank_l, displacement_cc, volumetric_efficiency_pct) ON TABLE drover.registration TO drover_sight;

-- What could not be decoded. The primary key makes a repeat harmless.
CREATE TABLE drover.rejected (
    topic text NOT NULL,
    partition integer NOT NULL,
    record_offset bigint NOT NULL,
    reason text NOT NULL,
    first_bytes bytea NOT NULL,
    last_offset bigint NOT NULL,
    records bigint DEFAULT 1 NOT NULL,
    pushed_at timestamptz,
    retried_at timestamptz,
    CONSTRAINT rejected_pkey PRIMARY KEY (topic, partition, record_offset)
);
CREATE INDEX rejected_by_time ON drover.rejected USING btree (pushed_at);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.rejected TO drover_writer;
GRANT DELETE, SELECT ON TABLE drover.rejected TO drover_relay;

-- The relay's, as long as its session lives: a lock of this table, in a transaction that does nothing else and so holds back no
-- vacuum. Who may not write here cannot take it.
CREATE TABLE drover.relay_turn (
    nothing boolean
);
GRANT UPDATE ON TABLE drover.relay_turn TO drover_relay;

-- Limits of the installation in whose place others of the same time were set, until these have come to all cars of the partition
-- (docs/decisions/0028-limits-of-the-installation.md): two of one time at most. The one said last stands in account_settings, whose
-- columns these are.
CREATE TABLE drover.replaced_limits (
    topic_partition integer NOT NULL,
    in_force_at timestamptz NOT NULL,
    record_id text NOT NULL,
    settings text NOT NULL,
    record_offset bigint NOT NULL,
    judged_from_at timestamptz NOT NULL,
    reached_vehicle text,
    reached_all_offset bigint,
    CONSTRAINT replaced_limits_pkey PRIMARY KEY (topic_partition, in_force_at, record_id)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.replaced_limits TO drover_writer;

CREATE TABLE drover.report_run (
    schedule_id bigint NOT NULL,
    due_at timestamptz NOT NULL,
    is_asked boolean DEFAULT false NOT NULL,  -- out of turn, by a person
    state text DEFAULT 'waiting'::text NOT NULL,
    first_date text,  -- the days it is of
    last_date text,
    tries integer DEFAULT 0 NOT NULL,
    try_at timestamptz DEFAULT now() NOT NULL,  -- not before: late data has a while to come, a failed one waits
    reason text,  -- why the last try failed, or what could not be done
    made_at timestamptz,  -- when what is kept here was made
    took_ms integer,
    rows integer,
    name text,  -- of the file
    media_type text,
    bytes integer,
    digest bytea,  -- SHA-256
    content bytea,  -- NULL: too large, or too old, to be kept here
    facts bytea,  -- its rows, to tell what late data changed
    mails integer DEFAULT 0 NOT NULL,  -- that were written
    look_at timestamptz,  -- whether late data has changed it; NULL: not again
    revision integer DEFAULT 0 NOT NULL,  -- so often it has
    change text,  -- what the last of these changed
    wants_mail boolean DEFAULT false NOT NULL,  -- somebody asks for the revised one to be mailed
    CONSTRAINT report_run_pkey PRIMARY KEY (schedule_id, due_at),
    CONSTRAINT report_run_content_check CHECK ((octet_length(content) <= 20000000)),
    CONSTRAINT report_run_facts_check CHECK ((octet_length(facts) <= 20000000)),
    CONSTRAINT report_run_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES drover.report_schedule(schedule_id) ON DELETE CASCADE,
    CONSTRAINT report_run_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'done'::text, 'failed'::text])))
);
CREATE INDEX report_run_to_look_at ON drover.report_run USING btree (look_at) WHERE (look_at IS NOT NULL);
CREATE INDEX report_run_to_mail ON drover.report_run USING btree (due_at) WHERE wants_mail;
CREATE INDEX report_run_waiting ON drover.report_run USING btree (try_at) WHERE (state = 'waiting'::text);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.report_run TO drover_relay;

CREATE TABLE drover.report_schedule (
    schedule_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    shipped text,  -- name of one that comes with Drover; off until somebody takes it
    account text,  -- whose rights it has; NULL: nobody's yet
    report text NOT NULL,
    span text NOT NULL,  -- the last one that is over when it falls due
    narrowed_to text DEFAULT ''::text NOT NULL,  -- a vehicle, campus, site or tour
    fleet text DEFAULT ''::text NOT NULL,
    format text NOT NULL,
    units text DEFAULT 'metric'::text NOT NULL,
    cron text NOT NULL,  -- Sources/People/Reports/Schedules/CronTimes.swift
    zone text DEFAULT 'UTC'::text NOT NULL,
    mail_to text[] DEFAULT '{}'::text[] NOT NULL,  -- accounts
    is_filed boolean DEFAULT false NOT NULL,  -- also written into the operator's folder of reports
    is_enabled boolean DEFAULT true NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    planned_until timestamptz DEFAULT now() NOT NULL,  -- all that fell due until then stands in the ledger
    next_due_at timestamptz,  -- NULL: not yet known, or never again
    left_out_at timestamptz,  -- what fell due before was left out at the last catching up: it was too much
    trouble text,  -- why nothing can fall due
    shipped_cron text,
    CONSTRAINT report_schedule_pkey PRIMARY KEY (schedule_id),
    CONSTRAINT report_schedule_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account),
    CONSTRAINT report_schedule_check CHECK (((NOT is_enabled) OR (account IS NOT NULL))),
    CONSTRAINT report_schedule_cron_check CHECK (((octet_length(cron) >= 9) AND (octet_length(cron) <= 200))),
    CONSTRAINT report_schedule_fleet_check CHECK ((octet_length(fleet) <= 64)),
    CONSTRAINT report_schedule_format_check CHECK ((format = ANY (ARRAY['html'::text, 'csv'::text, 'json'::text, 'xlsx'::text, 'pdf'::text, 'table'::text]))),
    CONSTRAINT report_schedule_mail_to_check CHECK ((cardinality(mail_to) <= 50)),
    CONSTRAINT report_schedule_narrowed_to_check CHECK ((octet_length(narrowed_to) <= 200)),
    CONSTRAINT report_schedule_report_check CHECK ((report ~ '^[a-z-]{1,40}$'::text)),
    CONSTRAINT report_schedule_shipped_key UNIQUE (shipped),
    CONSTRAINT report_schedule_span_check CHECK ((span = ANY (ARRAY['day'::text, 'week'::text, 'month'::text]))),
    CONSTRAINT report_schedule_units_check CHECK ((units = ANY (ARRAY['metric'::text, 'us'::text]))),
    CONSTRAINT report_schedule_zone_check CHECK ((octet_length(zone) <= 64))
);
CREATE INDEX report_schedule_by_account ON drover.report_schedule USING btree (account);
CREATE CONSTRAINT TRIGGER audit AFTER INSERT OR DELETE OR UPDATE OF account, cron, mail_to, is_enabled ON drover.report_schedule DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_row();
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.report_schedule TO drover_relay;

-- From when on raw rows are whole: `drover retention` has deleted what was before. What `drover verify` compares begins there.
CREATE TABLE drover.retained (
    relation text NOT NULL,
    from_at timestamptz NOT NULL,
    ran_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT retained_pkey PRIMARY KEY (relation)
);
GRANT SELECT ON TABLE drover.retained TO drover_reader, drover_writer;

CREATE TABLE drover.ride (
    campus text NOT NULL,
    request text NOT NULL,
    rider text NOT NULL,
    state text NOT NULL,
    reason text,
    passengers integer NOT NULL,
    description text,
    from_latitude_deg double precision NOT NULL,
    from_longitude_deg double precision NOT NULL,
    from_address text,
    to_latitude_deg double precision NOT NULL,
    to_longitude_deg double precision NOT NULL,
    to_address text,
    requested_at timestamptz NOT NULL,
    vehicle text,
    place_in_line integer,
    pickup_at timestamptz,  -- expected, or when it was
    dropoff_at timestamptz,  -- expected, or when it was
    ended_at timestamptz,
    sign_at timestamptz NOT NULL,  -- the rider's last sign of life
    CONSTRAINT ride_pkey PRIMARY KEY (campus, request),
    CONSTRAINT ride_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'assigned'::text, 'on_board'::text, 'done'::text, 'cancelled'::text, 'expired'::text, 'refused'::text, 'ended'::text]))) NOT VALID
);
CREATE INDEX ride_by_end ON drover.ride USING btree (campus, ended_at);
CREATE INDEX ride_by_rider ON drover.ride USING btree (campus, rider, requested_at);
-- Today's rides beside those of the last weeks.
CREATE INDEX ride_by_time ON drover.ride USING btree (campus, requested_at);
CREATE INDEX ride_outstanding ON drover.ride USING btree (campus) WHERE (ended_at IS NULL);
CREATE INDEX ride_outstanding_of_rider ON drover.ride USING btree (campus, rider) WHERE (ended_at IS NULL);
ALTER TABLE drover.ride ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.ride FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (campus IN ( SELECT drover.dispatched_campuses() AS dispatched_campuses)) OR ((campus, rider) IN ( SELECT b.campus,
    b.person
   FROM drover.bound_people() b(campus, person, role, name)
  WHERE (b.role = 'rider'::text))) OR (((ended_at IS NULL) OR (ended_at > (now() - '01:00:00'::interval))) AND ((campus, vehicle) IN ( SELECT d.campus,
    d.vehicle
   FROM drover.driven_vehicles() d(campus, vehicle))))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.ride TO drover_writer;
GRANT SELECT ON TABLE drover.ride TO drover_gateway, drover_reader, drover_sight;

CREATE TABLE drover.ride_vehicle (
    campus text NOT NULL,
    vehicle text NOT NULL,
    driver text NOT NULL,
    driver_name text NOT NULL,
    driver_photo text,
    capacity integer NOT NULL,
    latitude_deg double precision NOT NULL,
    longitude_deg double precision NOT NULL,
    seen_at timestamptz NOT NULL,  -- when it was there
    state text NOT NULL,
    is_alarmed boolean NOT NULL,  -- silent with passengers on board, until somebody looks after them
    sign_at timestamptz NOT NULL,  -- the driver's last sign of life
    stops text[] NOT NULL,  -- `request p` or `request d`, in order
    is_silent boolean DEFAULT false NOT NULL,  -- its last position is too old: nobody is planned on it
    CONSTRAINT ride_vehicle_pkey PRIMARY KEY (campus, vehicle),
    CONSTRAINT ride_vehicle_state_check CHECK ((state = ANY (ARRAY['in_service'::text, 'leaving'::text, 'out'::text])))
);
CREATE INDEX ride_vehicle_by_driver ON drover.ride_vehicle USING btree (campus, driver);
ALTER TABLE drover.ride_vehicle ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.ride_vehicle FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (campus IN ( SELECT b.campus
   FROM drover.bound_people() b(campus, person, role, name)))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.ride_vehicle TO drover_writer;
GRANT SELECT ON TABLE drover.ride_vehicle TO drover_gateway, drover_reader, drover_sight;

CREATE TABLE drover.rider (
    campus text NOT NULL,
    rider text NOT NULL,
    name text NOT NULL,
    photo text,
    CONSTRAINT rider_pkey PRIMARY KEY (campus, rider)
);
ALTER TABLE drover.rider ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.rider FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (campus IN ( SELECT drover.dispatched_campuses() AS dispatched_campuses)) OR ((campus, rider) IN ( SELECT b.campus,
    b.person
   FROM drover.bound_people() b(campus, person, role, name))) OR (EXISTS ( SELECT
   FROM drover.ride r
  WHERE ((r.campus = rider.campus) AND (r.rider = rider.rider) AND (r.ended_at IS NULL) AND ((r.campus, r.vehicle) IN ( SELECT d.campus,
            d.vehicle
           FROM drover.driven_vehicles() d(campus, vehicle))))))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.rider TO drover_writer;
GRANT SELECT ON TABLE drover.rider TO drover_reader, drover_sight;

-- What was changed of thresholds in pages, by whom. Of a model, or of one machine. The rules themselves stand on the log.
CREATE TABLE drover.rule_edit (
    edit_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    edited_at timestamptz DEFAULT now() NOT NULL,
    account text NOT NULL,
    model text,
    vehicle text,
    version text NOT NULL,
    changes text[] NOT NULL,
    CONSTRAINT rule_edit_pkey PRIMARY KEY (edit_id),
    CONSTRAINT rule_edit_check CHECK (((model IS NULL) <> (vehicle IS NULL))),
    CONSTRAINT rule_edit_version_check CHECK ((octet_length(version) <= 64))
);
CREATE INDEX rule_edit_by_time ON drover.rule_edit USING btree (edited_at DESC);
ALTER TABLE drover.rule_edit ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true), each of: drover_reader
CREATE POLICY sight ON drover.rule_edit FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR ((model IS NOT NULL) AND (( SELECT drover.sight_roles() AS sight_roles) && ARRAY['fleet_manager'::text, 'developer'::text, 'farmer'::text])) OR (vehicle IN ( SELECT drover.seen('machine'::text) AS seen))));
GRANT SELECT ON TABLE drover.rule_edit TO drover_reader, drover_sight;

-- The rule sets of each partition of drover.machines. Of two with one time the one whose version sorts last counts.
CREATE TABLE drover.rule_set (
    topic_partition integer NOT NULL,
    in_force_at timestamptz NOT NULL,
    version text NOT NULL,
    rules text NOT NULL,  -- Sources/Domain/Alerts/Rules/RuleText.swift
    record_offset bigint NOT NULL,
    CONSTRAINT rule_set_pkey PRIMARY KEY (topic_partition, in_force_at)
);
-- Rule sets as somebody may read them: rules of models are known to all who read fleets, those of single machines name machines of everybody, so
-- a person gets those of machines that they know (Sources/Domain/Alerts/Rules/RuleText.swift: models, then machines, each with its rules in the lines
-- below it).
CREATE INDEX rule_set_by_version ON drover.rule_set USING btree (version);
ALTER TABLE drover.rule_set ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true), each of: drover_reader
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_writer
CREATE POLICY sight ON drover.rule_set FOR SELECT TO drover_sight USING (( SELECT drover.reads_fleets() AS reads_fleets));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.rule_set TO drover_writer;
GRANT SELECT ON TABLE drover.rule_set TO drover_page, drover_reader;
GRANT SELECT (topic_partition, in_force_at, version, record_offset) ON TABLE drover.rule_set TO drover_sight;

-- What people say of machines and alerts, as it came over the log. Of two services of one time the larger record id
-- counts.
CREATE TABLE drover.service (
    vehicle text NOT NULL,
    done_at timestamptz NOT NULL,
    record_id text NOT NULL,
    engine_hours_h double precision NOT NULL,
    recorded_by text NOT NULL,
    note text,
    CONSTRAINT service_pkey PRIMARY KEY (vehicle, done_at)
);
ALTER TABLE drover.service ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.service FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (vehicle IN ( SELECT drover.seen('machine'::text) AS seen)) OR ((vehicle IN ( SELECT drover.seen_partly('machine'::text) AS seen_partly)) AND drover.sees_at('machine'::text, vehicle, done_at))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.service TO drover_writer;
GRANT SELECT ON TABLE drover.service TO drover_reader, drover_sight;

-- One row a sighting of the newest version of its survey, by year. Weather is that of its place and hour.
CREATE TABLE drover.sighting (
    site text NOT NULL,
    survey text NOT NULL,
    sighting integer NOT NULL,  -- 0, 1 … as handed in
    seen_at timestamptz NOT NULL,  -- its own time, else the survey's start
    local_date date NOT NULL,
    species text NOT NULL,  -- accepted name; as given where none is known
    given_name text NOT NULL,
    taxon text,  -- key of the taxonomy; NULL: not known
    individuals integer NOT NULL,
    latitude_deg double precision,
    longitude_deg double precision,
    uncertainty_m integer,
    section text,
    habitat text,
    conditions text,
    behaviour text,
    certainty text,
    life_stage text,
    sex text,
    mark text,
    light_lux integer,
    photos text[] DEFAULT '{}'::text[] NOT NULL,
    animals text,
    plants text,
    comments text,
    own_weather jsonb DEFAULT '{}'::jsonb NOT NULL,
    temperature_c double precision,  -- of the service, and where it has it from
    wind_speed_mps double precision,
    wind_direction_deg double precision,
    cloud_cover_pct double precision,
    weather_at timestamptz,
    weather_source text,
    is_sensitive boolean DEFAULT false NOT NULL,
    is_blurred boolean DEFAULT false NOT NULL,  -- a sensitive species was seen at its site
    needs_review boolean DEFAULT false NOT NULL,
    review_reason text,
    others jsonb DEFAULT '{}'::jsonb NOT NULL,
    shown_latitude_deg double precision GENERATED ALWAYS AS (CASE WHEN is_blurred THEN drover.cell_latitude(latitude_deg) ELSE latitude_deg END) STORED,
    shown_longitude_deg double precision GENERATED ALWAYS AS (CASE WHEN is_blurred THEN drover.cell_longitude(longitude_deg) ELSE longitude_deg END) STORED,
    CONSTRAINT sighting_pkey PRIMARY KEY (site, survey, sighting, seen_at),
    CONSTRAINT sighting_individuals_check CHECK ((individuals >= 0))
)
PARTITION BY RANGE (seen_at);
CREATE INDEX sighting_blurred ON ONLY drover.sighting USING btree (site) WHERE is_blurred;
CREATE INDEX sighting_by_place ON ONLY drover.sighting USING btree (latitude_deg, longitude_deg);
CREATE INDEX sighting_by_shown_place ON ONLY drover.sighting USING btree (shown_latitude_deg, shown_longitude_deg);
CREATE INDEX sighting_by_site ON ONLY drover.sighting USING btree (site, seen_at);
CREATE INDEX sighting_by_species ON ONLY drover.sighting USING btree (species, seen_at);
CREATE INDEX sighting_by_time ON ONLY drover.sighting USING brin (seen_at);
CREATE INDEX sighting_sensitive ON ONLY drover.sighting USING btree (site) WHERE is_sensitive;
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.sighting TO drover_writer;
GRANT SELECT ON TABLE drover.sighting TO drover_researcher;

-- Counts by species, site, week of the year (ISO 8601), behaviour and band of temperature: made again from the sightings
-- whenever one of them changes. A text that is not given is ''.
CREATE TABLE drover.sighting_week (
    site text NOT NULL,
    species text NOT NULL,
    iso_year integer NOT NULL,
    iso_week integer NOT NULL,
    behaviour text NOT NULL,
    temperature_band text NOT NULL,  -- of 5 °C, by its lower end: `15`; '' while it is not known
    sightings bigint NOT NULL,
    individuals bigint NOT NULL,
    CONSTRAINT sighting_week_pkey PRIMARY KEY (site, species, iso_year, iso_week, behaviour, temperature_band),
    CONSTRAINT sighting_week_iso_week_check CHECK (((iso_week >= 1) AND (iso_week <= 53)))
);
CREATE INDEX sighting_week_by_species ON drover.sighting_week USING btree (species, iso_year, iso_week);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.sighting_week TO drover_writer;
GRANT SELECT ON TABLE drover.sighting_week TO drover_reader, drover_researcher;

-- Nobody is told of these alerts meanwhile. One of no vehicle stands in every partition, so once a partition.
CREATE TABLE drover.silence (
    topic_partition integer NOT NULL,
    record_id text NOT NULL,
    vehicle text,  -- NULL: every machine
    model text,  -- NULL: every model
    parameter text,  -- as shown to people; NULL: every parameter
    from_at timestamptz NOT NULL,
    until_at timestamptz NOT NULL,
    silenced_by text NOT NULL,
    note text,
    CONSTRAINT silence_pkey PRIMARY KEY (topic_partition, record_id)
);
ALTER TABLE drover.silence ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.silence FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR ((vehicle IS NULL) AND ( SELECT drover.reads_fleets() AS reads_fleets)) OR (vehicle IN ( SELECT drover.known('machine'::text) AS known))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.silence TO drover_writer;
GRANT SELECT ON TABLE drover.silence TO drover_reader, drover_relay, drover_sight;

-- Which species were seen at a site in a month, by cells of one degree; made again like the weeks.
CREATE TABLE drover.species_season (
    site text NOT NULL,
    latitude_cell integer NOT NULL,  -- floor of the degrees
    longitude_cell integer NOT NULL,
    year integer NOT NULL,
    month integer NOT NULL,
    species text NOT NULL,
    surveys bigint NOT NULL,
    CONSTRAINT species_season_pkey PRIMARY KEY (site, latitude_cell, longitude_cell, year, month, species),
    CONSTRAINT species_season_month_check CHECK (((month >= 1) AND (month <= 12))),
    CONSTRAINT species_season_surveys_check CHECK ((surveys > 0))
);
-- Out of place and out of season: what a reviewer should look at because the deployment's own records never had it there.
-- Nothing of it is stored: each new survey changes what is unusual of the others (docs/decisions/0014).
CREATE INDEX species_season_by_cell ON drover.species_season USING btree (latitude_cell, longitude_cell, month);
CREATE INDEX species_season_by_name ON drover.species_season USING btree (species, latitude_cell, longitude_cell, month);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.species_season TO drover_writer;
GRANT SELECT ON TABLE drover.species_season TO drover_reader;

-- Surveys and their sightings: what was handed in, every version of it, and what is looked for.
CREATE TABLE drover.survey (
    site text NOT NULL,
    survey text NOT NULL,  -- the client's id
    version integer NOT NULL,  -- 0 as it was handed in, then one a review
    account text NOT NULL,
    submitted_by text NOT NULL,  -- token or person
    submitted_at timestamptz NOT NULL,
    site_name text,
    route text,
    started_at timestamptz NOT NULL,
    stopped_at timestamptz NOT NULL,
    utc_offset_min integer NOT NULL,
    local_date date NOT NULL,  -- of the start, by the surveyors' clocks
    latitude_deg double precision,  -- of the first place that it names; NULL: it names none
    longitude_deg double precision,
    line text,  -- encoded polyline of the waypoints, 5 decimals
    distance_m double precision,  -- by waypoints, else by sections
    pace_mps double precision,
    protocol text,
    gate text,  -- NULL: the protocol has no rules
    gate_reasons text[] DEFAULT '{}'::text[] NOT NULL,
    observers integer,
    expertise text,  -- the highest of the surveyors
    comments text,
    forward_to text,
    own_weather jsonb DEFAULT '{}'::jsonb NOT NULL,
    service_weather jsonb DEFAULT '[]'::jsonb NOT NULL,  -- by hour: Sources/Domain/Codecs/Services/WeatherAnswer.swift
    weather_missing integer NOT NULL,  -- hours of it that no service has told of yet
    needs_review boolean NOT NULL,  -- it holds a species that is not known
    sightings integer NOT NULL,
    individuals bigint NOT NULL,
    revised_at timestamptz,  -- NULL: as handed in
    others jsonb DEFAULT '{}'::jsonb NOT NULL,
    topic_partition integer NOT NULL,
    is_blurred boolean DEFAULT false NOT NULL,  -- A sensitive species was seen at its site: kept here as it is with sightings, since a walk may have none.
    CONSTRAINT survey_pkey PRIMARY KEY (site, survey),
    CONSTRAINT survey_gate_check CHECK ((gate = ANY (ARRAY['within'::text, 'outside'::text, 'unknown'::text])))
);
CREATE INDEX survey_blurred ON drover.survey USING btree (site) WHERE is_blurred;
CREATE INDEX survey_by_account ON drover.survey USING btree (account, submitted_at);
CREATE INDEX survey_by_time ON drover.survey USING btree (started_at);
CREATE INDEX survey_to_review ON drover.survey USING btree (submitted_at) WHERE needs_review;
CREATE INDEX survey_without_weather ON drover.survey USING btree (submitted_at, site, survey) WHERE (weather_missing > 0);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.survey TO drover_writer;
GRANT SELECT ON TABLE drover.survey TO drover_researcher;
GRANT SELECT (site, survey, account, submitted_at, started_at, stopped_at, latitude_deg, longitude_deg, weather_missing) ON TABLE drover.survey TO drover_gateway;
GRANT SELECT (site, survey, version, account, submitted_at, started_at, stopped_at, utc_offset_min, local_date, distance_m, pace_mps, protocol, gate, gate_reasons, observers, expertise, weather_missing, needs_review, sightings, individuals, revised_at, topic_partition) ON TABLE drover.survey TO drover_reader;

-- Photos by the digest of what is kept of them. Nobody but the owner reads them through the database.
CREATE TABLE drover.survey_photo (
    photo text NOT NULL,
    account text NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL,
    kept_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT survey_photo_pkey PRIMARY KEY (photo),
    CONSTRAINT survey_photo_content_check CHECK ((octet_length(content) <= 5242880)),
    CONSTRAINT survey_photo_media_type_check CHECK ((media_type = ANY (ARRAY['image/jpeg'::text, 'image/png'::text, 'image/webp'::text]))),
    CONSTRAINT survey_photo_photo_check CHECK ((photo ~ '^[0-9a-f]{64}$'::text))
);
CREATE INDEX survey_photo_by_account ON drover.survey_photo USING btree (account, kept_at);
GRANT SELECT ON TABLE drover.survey_photo TO drover_researcher;

-- A survey is promised here before it goes to the log, and marked when the broker has it: between the two a client that
-- got no answer hands it in again, and nobody hands in anything else under its id.
CREATE TABLE drover.survey_receipt (
    site text NOT NULL,
    survey text NOT NULL,
    number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    digest bytea NOT NULL,  -- of its contents (`SurveyReceiver`)
    account text NOT NULL,
    token_id text NOT NULL,
    received_at timestamptz DEFAULT date_trunc('milliseconds'::text, clock_timestamp()) NOT NULL,
    partition integer,  -- where it stands on drover.sightings; NULL: nobody said yet
    record_offset bigint,
    CONSTRAINT survey_receipt_pkey PRIMARY KEY (site, survey),
    CONSTRAINT survey_receipt_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT survey_receipt_number_key UNIQUE (number)
);
-- What somebody handed in and what became of it, the newest first, before a receipt's number.
CREATE INDEX survey_receipt_by_account ON drover.survey_receipt USING btree (account, number);

-- Sessions of XML-RPC clients, which stand for a token: digests on both sides.
CREATE TABLE drover.survey_session (
    session bytea NOT NULL,
    token bytea NOT NULL,
    opened_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT survey_session_pkey PRIMARY KEY (session),
    CONSTRAINT survey_session_session_check CHECK ((octet_length(session) = 32)),
    CONSTRAINT survey_session_token_fkey FOREIGN KEY (token) REFERENCES drover.token(digest) ON DELETE CASCADE
);
CREATE INDEX survey_session_by_token ON drover.survey_session USING btree (token, opened_at);

-- Each version as it stands on the log. Personal data is in it: nobody but workers and those who may see it reads this.
CREATE TABLE drover.survey_version (
    site text NOT NULL,
    survey text NOT NULL,
    version integer NOT NULL,
    record_id text NOT NULL,
    record_offset bigint NOT NULL,  -- in the site's partition
    said_at timestamptz NOT NULL,
    account text NOT NULL,
    said_by text NOT NULL,
    note text,
    based_on integer,  -- NULL: as it was handed in
    body text NOT NULL,  -- JSON to the letter: whether it comes again is a comparison
    CONSTRAINT survey_version_pkey PRIMARY KEY (site, survey, version)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.survey_version TO drover_writer;

-- Reviews that came before the version they were made from: logs can be merged.
CREATE TABLE drover.survey_waiting (
    site text NOT NULL,
    survey text NOT NULL,
    based_on integer NOT NULL,
    record_id text NOT NULL,
    record_offset bigint NOT NULL,
    said_at timestamptz NOT NULL,
    account text NOT NULL,
    said_by text NOT NULL,
    note text,
    body text NOT NULL,
    CONSTRAINT survey_waiting_pkey PRIMARY KEY (site, survey, based_on)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.survey_waiting TO drover_writer;

-- What services said of a survey's hours, also before the survey itself came.
CREATE TABLE drover.survey_weather (
    site text NOT NULL,
    survey text NOT NULL,
    hour_at timestamptz NOT NULL,
    answer text NOT NULL,  -- Sources/Domain/Codecs/Services/WeatherAnswer.swift
    CONSTRAINT survey_weather_pkey PRIMARY KEY (site, survey, hour_at)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.survey_weather TO drover_writer;
GRANT SELECT (site, survey, hour_at) ON TABLE drover.survey_weather TO drover_gateway;

-- People. Apart from all else, so that a role may see sightings and not who saw them.
CREATE TABLE drover.surveyor (
    site text NOT NULL,
    survey text NOT NULL,
    surveyor integer NOT NULL,  -- 0, 1 … as handed in
    role text NOT NULL,
    name text NOT NULL,
    expertise text,
    mail text,
    phone text,
    CONSTRAINT surveyor_pkey PRIMARY KEY (site, survey, surveyor),
    CONSTRAINT surveyor_role_check CHECK ((role = ANY (ARRAY['recorder'::text, 'observer'::text])))
);
CREATE INDEX surveyor_by_name ON drover.surveyor USING btree (name);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.surveyor TO drover_writer;
GRANT SELECT ON TABLE drover.surveyor TO drover_researcher;

-- Species, their synonyms and common names; written by `drover taxonomy load`.
CREATE TABLE drover.taxon (
    taxon text NOT NULL,
    name text NOT NULL,  -- accepted scientific name
    rank text NOT NULL,
    parent text,
    authorship text,
    is_sensitive boolean DEFAULT false NOT NULL,  -- where it lives is nobody's business
    source text NOT NULL,
    CONSTRAINT taxon_pkey PRIMARY KEY (taxon),
    CONSTRAINT taxon_name_key UNIQUE (name)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.taxon TO drover_writer;
GRANT SELECT ON TABLE drover.taxon TO drover_page, drover_reader, drover_relay;

CREATE TABLE drover.taxon_name (
    name text NOT NULL,  -- folded: lower case, single blanks
    taxon text NOT NULL,
    kind text NOT NULL,
    given text NOT NULL,  -- as it is written
    CONSTRAINT taxon_name_pkey PRIMARY KEY (name, taxon),
    CONSTRAINT taxon_name_kind_check CHECK ((kind = ANY (ARRAY['accepted'::text, 'synonym'::text, 'common'::text]))),
    CONSTRAINT taxon_name_taxon_fkey FOREIGN KEY (taxon) REFERENCES drover.taxon(taxon) ON DELETE CASCADE
);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.taxon_name TO drover_writer;
GRANT SELECT ON TABLE drover.taxon_name TO drover_page, drover_reader, drover_relay;

-- Tokens of programs. Only a digest is kept: who reads this table can show no token.
CREATE TABLE drover.token (
    token_id text NOT NULL,
    account text NOT NULL,
    name text,  -- as people call it
    scopes text[] NOT NULL,  -- what it allows: Sources/Stream/Storage/Accounts/TokenStore.swift
    digest bytea NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz,  -- NULL: never
    revoked_at timestamptz,
    last_used_at timestamptz,  -- to the hour: a row is not written with each request
    role text DEFAULT 'farmer'::text NOT NULL,
    is_own boolean DEFAULT false NOT NULL,  -- made on the account's page
    CONSTRAINT token_pkey PRIMARY KEY (token_id),
    CONSTRAINT token_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT token_digest_key UNIQUE (digest),
    CONSTRAINT token_is_not_of_the_installation CHECK ((account <> 'installation'::text)),
    CONSTRAINT token_role_check CHECK ((role = ANY (ARRAY['farmer'::text, 'dealer'::text, 'developer'::text])))
);
CREATE INDEX token_by_account ON drover.token USING btree (account);
CREATE CONSTRAINT TRIGGER audit_added AFTER INSERT ON drover.token DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_row();
CREATE CONSTRAINT TRIGGER audit_revoked AFTER UPDATE OF revoked_at ON drover.token DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION drover.audit_row();

-- A draft. All rangers work on all tours; `revision` keeps two from writing over each other.
CREATE TABLE drover.tour (
    tour text NOT NULL,
    account text NOT NULL,  -- who made it
    area text NOT NULL,
    draft text NOT NULL,  -- JSON: Sources/Domain/Tours/TourText.swift
    revision integer DEFAULT 1 NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    changed_by text NOT NULL,
    CONSTRAINT tour_pkey PRIMARY KEY (tour),
    CONSTRAINT tour_area_check CHECK (((octet_length(area) >= 1) AND (octet_length(area) <= 200))),
    CONSTRAINT tour_draft_check CHECK ((octet_length(draft) <= 1048576)),
    CONSTRAINT tour_tour_check CHECK ((tour ~ '^[A-Za-z0-9._-]{1,64}$'::text))
);
ALTER TABLE drover.tour ENABLE ROW LEVEL SECURITY;
CREATE POLICY rangers ON drover.tour TO drover_page USING ((drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text])) WITH CHECK ((drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]));
GRANT INSERT, SELECT, UPDATE ON TABLE drover.tour TO drover_page;

CREATE TABLE drover.tour_day (
    tour text NOT NULL,
    kind text NOT NULL,
    waypoint text NOT NULL,  -- '': downloads of the whole tour
    local_date date NOT NULL,
    events integer NOT NULL,
    CONSTRAINT tour_day_pkey PRIMARY KEY (tour, kind, waypoint, local_date)
);
ALTER TABLE drover.tour_day ENABLE ROW LEVEL SECURITY;
CREATE POLICY rangers ON drover.tour_day TO drover_page USING ((drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text])) WITH CHECK ((drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]));
CREATE POLICY readers ON drover.tour_day FOR SELECT TO drover_reader USING (true);
CREATE POLICY workers ON drover.tour_day TO drover_writer USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.tour_day TO drover_writer;
GRANT SELECT ON TABLE drover.tour_day TO drover_page, drover_reader;

-- What phones told, each event once.
CREATE TABLE drover.tour_event (
    tour text NOT NULL,
    event text NOT NULL,
    kind text NOT NULL,
    waypoint text NOT NULL,  -- '': a download
    version integer NOT NULL,
    happened_at timestamptz NOT NULL,
    utc_offset_min integer NOT NULL,
    local_date date NOT NULL,  -- where the visitor was
    CONSTRAINT tour_event_pkey PRIMARY KEY (tour, event),
    CONSTRAINT tour_event_kind_check CHECK ((kind = ANY (ARRAY['download'::text, 'visit'::text])))
);
CREATE INDEX tour_event_by_day ON drover.tour_event USING btree (tour, kind, waypoint, local_date);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.tour_event TO drover_writer;

-- Pictures and films, checked and cleaned, by the SHA-256 of what is kept.
CREATE TABLE drover.tour_medium (
    tour text NOT NULL,
    medium text NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL,
    kept_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT tour_medium_pkey PRIMARY KEY (tour, medium),
    CONSTRAINT tour_medium_content_check CHECK ((octet_length(content) <= 33554432)),
    CONSTRAINT tour_medium_media_type_check CHECK ((media_type = ANY (ARRAY['image/jpeg'::text, 'image/png'::text, 'image/webp'::text, 'video/mp4'::text, 'video/webm'::text]))),
    CONSTRAINT tour_medium_medium_check CHECK ((medium ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT tour_medium_tour_fkey FOREIGN KEY (tour) REFERENCES drover.tour(tour) ON DELETE CASCADE
);
ALTER TABLE ONLY drover.tour_medium ALTER COLUMN content SET STORAGE EXTERNAL;
ALTER TABLE drover.tour_medium ENABLE ROW LEVEL SECURITY;
CREATE POLICY rangers ON drover.tour_medium TO drover_page USING ((drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text])) WITH CHECK ((drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]));
GRANT DELETE, INSERT, SELECT ON TABLE drover.tour_medium TO drover_page;

-- The archive of a version, and what an earlier one lacks of it.
CREATE TABLE drover.tour_package (
    tour text NOT NULL,
    version integer NOT NULL,
    from_version integer NOT NULL,  -- 0: whole
    bytes bigint NOT NULL,
    digest bytea NOT NULL,  -- SHA-256
    CONSTRAINT tour_package_pkey PRIMARY KEY (tour, version, from_version),
    CONSTRAINT tour_package_check CHECK (((from_version >= 0) AND (from_version <= (version - 1)))),
    CONSTRAINT tour_package_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT tour_package_tour_version_fkey FOREIGN KEY (tour, version) REFERENCES drover.tour_version(tour, version)
);
CREATE TRIGGER tour_package_stays BEFORE DELETE OR UPDATE ON drover.tour_package FOR EACH STATEMENT EXECUTE FUNCTION drover.refuse_change();
ALTER TABLE drover.tour_package ENABLE ROW LEVEL SECURITY;
CREATE POLICY published ON drover.tour_package FOR SELECT TO drover_reader, drover_api USING (true);
CREATE POLICY rangers ON drover.tour_package TO drover_page USING ((drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text])) WITH CHECK ((drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]));
GRANT INSERT, SELECT ON TABLE drover.tour_package TO drover_page;
GRANT SELECT ON TABLE drover.tour_package TO drover_api;

CREATE TABLE drover.tour_package_part (
    tour text NOT NULL,
    version integer NOT NULL,
    from_version integer NOT NULL,
    number integer NOT NULL,  -- from 0, each but the last of a mebibyte
    content bytea NOT NULL,
    CONSTRAINT tour_package_part_pkey PRIMARY KEY (tour, version, from_version, number),
    CONSTRAINT tour_package_part_content_check CHECK (((octet_length(content) >= 1) AND (octet_length(content) <= 1048576))),
    CONSTRAINT tour_package_part_tour_version_from_version_fkey FOREIGN KEY (tour, version, from_version) REFERENCES drover.tour_package(tour, version, from_version)
);
ALTER TABLE ONLY drover.tour_package_part ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE TRIGGER tour_package_part_stays BEFORE DELETE OR UPDATE ON drover.tour_package_part FOR EACH STATEMENT EXECUTE FUNCTION drover.refuse_change();
ALTER TABLE drover.tour_package_part ENABLE ROW LEVEL SECURITY;
CREATE POLICY published ON drover.tour_package_part FOR SELECT TO drover_reader, drover_api USING (true);
CREATE POLICY rangers ON drover.tour_package_part TO drover_page USING ((drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text])) WITH CHECK ((drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]));
GRANT INSERT, SELECT ON TABLE drover.tour_package_part TO drover_page;
GRANT SELECT ON TABLE drover.tour_package_part TO drover_api;

-- What phones may download. Never changed once it is there.
CREATE TABLE drover.tour_version (
    tour text NOT NULL,
    version integer NOT NULL,
    area text NOT NULL,
    document text NOT NULL,  -- tour.json of the package
    files text NOT NULL,  -- JSON: the package's files and their digests, in order
    waypoint_ids text[] NOT NULL,
    published_at timestamptz DEFAULT now() NOT NULL,
    published_by text NOT NULL,
    CONSTRAINT tour_version_pkey PRIMARY KEY (tour, version),
    CONSTRAINT tour_version_tour_fkey FOREIGN KEY (tour) REFERENCES drover.tour(tour),
    CONSTRAINT tour_version_version_check CHECK (((version >= 1) AND (version <= 1000000)))
);
CREATE TRIGGER tour_version_stays BEFORE DELETE OR UPDATE ON drover.tour_version FOR EACH STATEMENT EXECUTE FUNCTION drover.refuse_change();
ALTER TABLE drover.tour_version ENABLE ROW LEVEL SECURITY;
CREATE POLICY published ON drover.tour_version FOR SELECT TO drover_reader, drover_api USING (true);
CREATE POLICY rangers ON drover.tour_version TO drover_page USING ((drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text])) WITH CHECK ((drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]));
GRANT INSERT, SELECT ON TABLE drover.tour_version TO drover_page;
GRANT SELECT ON TABLE drover.tour_version TO drover_api;

-- Travel times between rounded places (10⁻⁷ degrees) by hour of the week (0: Monday 0 to 1 o'clock, local).
CREATE TABLE drover.travel_leg (
    source text NOT NULL,
    from_latitude integer NOT NULL,
    from_longitude integer NOT NULL,
    to_latitude integer NOT NULL,
    to_longitude integer NOT NULL,
    week_hour integer NOT NULL,
    duration_ms bigint NOT NULL,
    distance_m bigint NOT NULL,
    kept_until timestamptz NOT NULL,
    CONSTRAINT travel_leg_pkey PRIMARY KEY (source, from_latitude, from_longitude, to_latitude, to_longitude, week_hour),
    CONSTRAINT travel_leg_week_hour_check CHECK (((week_hour >= 0) AND (week_hour <= 167)))
);
CREATE INDEX travel_leg_by_end ON drover.travel_leg USING btree (kept_until);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.travel_leg TO drover_api, drover_gateway, drover_writer;

-- Lines for maps, by a digest of the rounded places that they lead through.
CREATE TABLE drover.travel_line (
    source text NOT NULL,
    stops bytea NOT NULL,
    line text NOT NULL,  -- encoded polyline, 5 decimals
    duration_ms bigint NOT NULL,
    distance_m bigint NOT NULL,
    kept_until timestamptz NOT NULL,
    CONSTRAINT travel_line_pkey PRIMARY KEY (source, stops)
);
CREATE INDEX travel_line_by_end ON drover.travel_line USING btree (kept_until);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.travel_line TO drover_api, drover_gateway, drover_writer;

CREATE TABLE drover.trip (
    vehicle text NOT NULL,
    start_at timestamptz NOT NULL,
    end_at timestamptz NOT NULL,  -- time of the last reading
    is_open boolean NOT NULL,  -- the partition's clock has not passed the trip gap yet
    readings integer NOT NULL,
    disputed_readings integer NOT NULL,
    speed_readings integer NOT NULL,
    integrated_ms bigint NOT NULL,
    distance_mm bigint NOT NULL,
    idle_ms bigint NOT NULL,
    holes integer NOT NULL,
    sharp_accelerations integer NOT NULL,
    sharp_brakings integer NOT NULL,
    max_speed_m_per_h integer,
    rpm_ms bigint NOT NULL,
    milli_turns bigint NOT NULL,
    max_rpm_milli integer,
    air_mg bigint,
    air_calculated_mg bigint,
    max_coolant_milli_c integer,
    min_voltage_mv integer,
    max_voltage_mv integer,
    revision integer DEFAULT 0 NOT NULL,
    revised_at timestamptz,
    state bytea,  -- what the car's next minute depends on, beside its latest trip only
    max_acceleration_mm_per_s2 integer,
    max_braking_mm_per_s2 integer,
    acceleration_mm2_per_s3 bigint,
    braking_mm2_per_s3 bigint,
    fuel_rate_ul bigint,
    fuel_rate_ms bigint,
    burnt_air_mg bigint,
    air_ms bigint,
    burnt_air_calculated_mg bigint,
    air_calculated_ms bigint,
    burnt_air_per_litre_mg bigint,
    air_per_litre_ms bigint,
    fuel_cut_ms bigint,
    from_before boolean DEFAULT false NOT NULL,  -- the trip before it goes on in it: start_at is the border
    goes_on boolean DEFAULT false NOT NULL,
    carry bytea,
    CONSTRAINT trip_pkey PRIMARY KEY (vehicle, start_at),
    CONSTRAINT trip_has_an_end CHECK ((end_at <= date_trunc('day'::text, ((start_at + '48:00:00'::interval) - '00:00:00.000001'::interval), 'UTC'::text))) NOT VALID
)
WITH (fillfactor='50');
CREATE INDEX trip_by_start ON drover.trip USING btree (start_at);
ALTER TABLE drover.trip ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.trip FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (vehicle IN ( SELECT drover.seen('car'::text) AS seen)) OR ((vehicle IN ( SELECT drover.seen_partly('car'::text) AS seen_partly)) AND drover.sees_at('car'::text, vehicle, start_at)) OR ((vehicle IN ( SELECT drover.driven() AS driven)) AND drover.drove(vehicle, start_at, end_at))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.trip TO drover_writer;
GRANT SELECT ON TABLE drover.trip TO drover_reader, drover_sight;
GRANT SELECT (vehicle, start_at, is_open) ON TABLE drover.trip TO drover_gateway;

-- Where a driver's own start or stop cuts the drive.
CREATE TABLE drover.trip_mark (
    vehicle text NOT NULL,
    marked_at timestamptz NOT NULL,
    is_start boolean NOT NULL,  -- a reading of that very time begins the next trip; else it ends this one
    record_id text NOT NULL,
    marked_by text NOT NULL,
    CONSTRAINT trip_mark_pkey PRIMARY KEY (vehicle, marked_at, is_start)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.trip_mark TO drover_writer;
GRANT SELECT ON TABLE drover.trip_mark TO drover_reader;

-- What a driver says of the trip that trip_at lies in: a row is the latest record of its kind by (noted_at, record_id).
CREATE TABLE drover.trip_note (
    vehicle text NOT NULL,
    trip_at timestamptz NOT NULL,
    is_discard boolean NOT NULL,  -- else a tag
    tag text,  -- NULL: the tag is taken away
    noted_at timestamptz NOT NULL,
    record_id text NOT NULL,
    noted_by text NOT NULL,
    CONSTRAINT trip_note_pkey PRIMARY KEY (vehicle, trip_at, is_discard)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.trip_note TO drover_writer;
GRANT SELECT ON TABLE drover.trip_note TO drover_reader;

-- By which limits trips are made, from the log of each partition of drover.cars (docs/decisions/0024-trip-rules-on-the-log.md). A trip is
-- made by the set in force when it begins. The row of 1990 is what a partition began with, before any set.
CREATE TABLE drover.trip_rules (
    topic_partition integer NOT NULL,
    in_force_at timestamptz NOT NULL,
    gap_ms bigint NOT NULL,
    trip_gap_ms bigint NOT NULL,
    sharp_mm_per_s2 bigint NOT NULL,
    sharp_merge_ms bigint NOT NULL,
    sharp_least_m_per_h bigint NOT NULL,
    sharp_hold_ms bigint NOT NULL,
    record_offset bigint,  -- the record that says so; null: the row of 1990, until a record tells of it
    CONSTRAINT trip_rules_pkey PRIMARY KEY (topic_partition, in_force_at)
);
ALTER TABLE drover.trip_rules ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true), each of: drover_reader
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_writer
CREATE POLICY sight ON drover.trip_rules FOR SELECT TO drover_sight USING (( SELECT drover.reads_fleets() AS reads_fleets));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.trip_rules TO drover_writer;
GRANT SELECT ON TABLE drover.trip_rules TO drover_reader, drover_sight;

-- Where each trip began: the first place that its first stretch of a minute holds. Rows of trips that an older program wrote
-- are missing until late readings correct them; a replay has them all.
CREATE TABLE drover.trip_start (
    vehicle text NOT NULL,
    start_at timestamptz NOT NULL,
    latitude_deg double precision,  -- NULL: no reading of that minute has a place
    longitude_deg double precision,
    lacks_weather boolean NOT NULL,  -- a place, and no service has told of its hour yet
    CONSTRAINT trip_start_pkey PRIMARY KEY (vehicle, start_at)
);
CREATE INDEX trip_start_without_weather ON drover.trip_start USING btree (start_at, vehicle) WHERE lacks_weather;
ALTER TABLE drover.trip_start ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.trip_start FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (vehicle IN ( SELECT drover.seen('car'::text) AS seen)) OR ((vehicle IN ( SELECT drover.seen_partly('car'::text) AS seen_partly)) AND drover.sees_at('car'::text, vehicle, start_at)) OR ((vehicle IN ( SELECT drover.driven() AS driven)) AND drover.drove(vehicle, start_at, start_at))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.trip_start TO drover_writer;
GRANT SELECT ON TABLE drover.trip_start TO drover_gateway, drover_reader, drover_sight;

-- Trips without readings: what a phone reported, as it reported it. Never part of sums that are made from readings.
CREATE TABLE drover.trip_summary (
    vehicle text NOT NULL,
    record_id text NOT NULL,
    start_at timestamptz NOT NULL,
    end_at timestamptz NOT NULL,
    account text NOT NULL,  -- who reported it
    basis text DEFAULT 'no readings'::text NOT NULL,
    distance_km double precision,
    average_speed_kmh double precision,
    max_speed_kmh double precision,
    fuel_l double precision,
    average_mpg double precision,
    idle_s double precision,
    max_coolant_c double precision,
    sharp_accelerations integer,
    sharp_brakings integer,
    note text,
    CONSTRAINT trip_summary_pkey PRIMARY KEY (vehicle, record_id),
    CONSTRAINT trip_summary_basis_check CHECK ((basis = 'no readings'::text))
);
CREATE INDEX trip_summary_by_start ON drover.trip_summary USING btree (vehicle, start_at);
ALTER TABLE drover.trip_summary ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.trip_summary FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (vehicle IN ( SELECT drover.seen('car'::text) AS seen)) OR ((vehicle IN ( SELECT drover.seen_partly('car'::text) AS seen_partly)) AND drover.sees_at('car'::text, vehicle, start_at)) OR (account = ( SELECT drover.sight_account() AS sight_account))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.trip_summary TO drover_writer;
GRANT SELECT ON TABLE drover.trip_summary TO drover_reader, drover_sight;

-- What services said of an hour and a cell of their grid, for a car: the answer that was fetched last.
CREATE TABLE drover.trip_weather (
    vehicle text NOT NULL,
    hour_at timestamptz NOT NULL,
    cell_millideg integer NOT NULL,
    latitude_index integer NOT NULL,  -- from the south pole
    longitude_index integer NOT NULL,  -- from the 180th meridian
    fetched_at timestamptz NOT NULL,
    answer text NOT NULL,  -- JSON: Sources/Domain/Codecs/Services/WeatherAnswer.swift
    CONSTRAINT trip_weather_pkey PRIMARY KEY (vehicle, hour_at, cell_millideg, latitude_index, longitude_index)
);
ALTER TABLE drover.trip_weather ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.trip_weather FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (vehicle IN ( SELECT drover.seen('car'::text) AS seen)) OR ((vehicle IN ( SELECT drover.seen_partly('car'::text) AS seen_partly)) AND drover.sees_at('car'::text, vehicle, hour_at))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.trip_weather TO drover_writer;
GRANT SELECT ON TABLE drover.trip_weather TO drover_reader, drover_sight;

CREATE TABLE drover.turn (
    what text NOT NULL,
    slot integer NOT NULL,  -- of what there is one for each account, vehicle and so on: 1,024 that they share; else 0
    CONSTRAINT turn_pkey PRIMARY KEY (what, slot)
);

CREATE TABLE drover.vehicle (
    kind text NOT NULL,
    vehicle text NOT NULL,
    model text,
    topic_partition integer NOT NULL,
    last_reading_at timestamptz,
    next_deadline_at timestamptz,  -- When the clock opens the machine's next alert; NULL: never.
    machine_id text,
    machine_id_at timestamptz,  -- the reading that said so
    CONSTRAINT vehicle_pkey PRIMARY KEY (kind, vehicle),
    CONSTRAINT vehicle_kind_check CHECK ((kind = ANY (ARRAY['car'::text, 'machine'::text])))
)
WITH (fillfactor='50');
-- A page of a partition's machines, in the order in which they are noted, whatever the database sorts by. No column of it changes with
-- readings.
CREATE INDEX machine_by_name ON drover.vehicle USING btree (topic_partition, vehicle COLLATE "C") WHERE (kind = 'machine'::text);
CREATE INDEX vehicle_by_partition ON drover.vehicle USING btree (kind, topic_partition, vehicle);
-- A worker goes through a partition's cars in this order.
CREATE INDEX vehicle_cars_by_name ON drover.vehicle USING btree (topic_partition, vehicle COLLATE "C") WHERE (kind = 'car'::text);
ALTER TABLE drover.vehicle ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.vehicle FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR ((kind = 'car'::text) AND (vehicle IN ( SELECT drover.known('car'::text) AS known))) OR ((kind = 'machine'::text) AND (vehicle IN ( SELECT drover.known('machine'::text) AS known)))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.vehicle TO drover_writer;
GRANT SELECT ON TABLE drover.vehicle TO drover_reader, drover_sight;

-- The last change that a page sent of a vehicle: until it is committed, the next one waits; and an id that somebody has asked for
-- is not somebody else's.
CREATE TABLE drover.vehicle_change (
    kind text NOT NULL,
    vehicle text NOT NULL,
    record_id text NOT NULL,
    account text NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT vehicle_change_pkey PRIMARY KEY (kind, vehicle),
    CONSTRAINT vehicle_change_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account),
    CONSTRAINT vehicle_change_kind_check CHECK ((kind = ANY (ARRAY['car'::text, 'machine'::text]))),
    CONSTRAINT vehicle_change_record_id_check CHECK ((record_id ~ '^[A-Za-z0-9._-]{1,64}$'::text)),
    CONSTRAINT vehicle_change_vehicle_check CHECK ((vehicle ~ '^[A-Za-z0-9._-]{1,64}$'::text))
);
CREATE INDEX vehicle_change_by_account ON drover.vehicle_change USING btree (account);

-- Days in UTC. A reader's day in another zone is made from trips and minutes (Queries/reports).
CREATE TABLE drover.vehicle_day (
    vehicle text NOT NULL,
    day_at timestamptz NOT NULL,  -- 00:00 UTC
    readings integer NOT NULL,
    disputed_readings integer NOT NULL,
    speed_readings integer NOT NULL,
    integrated_ms bigint NOT NULL,
    distance_mm bigint NOT NULL,
    idle_ms bigint NOT NULL,
    holes integer NOT NULL,
    sharp_accelerations integer NOT NULL,
    sharp_brakings integer NOT NULL,
    max_speed_m_per_h integer,
    rpm_ms bigint NOT NULL,
    milli_turns bigint NOT NULL,
    max_rpm_milli integer,
    air_mg bigint,
    air_calculated_mg bigint,
    max_coolant_milli_c integer,
    min_voltage_mv integer,
    max_voltage_mv integer,
    revision integer DEFAULT 0 NOT NULL,
    revised_at timestamptz,
    max_acceleration_mm_per_s2 integer,
    max_braking_mm_per_s2 integer,
    acceleration_mm2_per_s3 bigint,
    braking_mm2_per_s3 bigint,
    fuel_rate_ul bigint,
    fuel_rate_ms bigint,
    burnt_air_mg bigint,
    air_ms bigint,
    burnt_air_calculated_mg bigint,
    air_calculated_ms bigint,
    burnt_air_per_litre_mg bigint,
    air_per_litre_ms bigint,
    fuel_cut_ms bigint,
    CONSTRAINT vehicle_day_pkey PRIMARY KEY (vehicle, day_at)
)
WITH (fillfactor='50');
ALTER TABLE drover.vehicle_day ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.vehicle_day FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (vehicle IN ( SELECT drover.seen('car'::text) AS seen)) OR ((vehicle IN ( SELECT drover.seen_partly('car'::text) AS seen_partly)) AND drover.sees_at('car'::text, vehicle, day_at))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.vehicle_day TO drover_writer;
GRANT SELECT ON TABLE drover.vehicle_day TO drover_reader, drover_sight;

-- One row a vehicle and minute that holds readings: what the minute adds up to, and its samples, packed
-- (docs/packed-samples.md). An interval between two samples belongs to the minute of the later one.
CREATE TABLE drover.vehicle_minute (
    vehicle text NOT NULL,
    minute_at timestamptz NOT NULL,
    trip_start_at timestamptz NOT NULL,
    readings integer NOT NULL,
    disputed_readings integer NOT NULL,
    speed_readings integer NOT NULL,
    integrated_ms bigint NOT NULL,
    distance_mm bigint NOT NULL,
    idle_ms bigint NOT NULL,
    holes integer NOT NULL,
    sharp_accelerations integer NOT NULL,
    sharp_brakings integer NOT NULL,
    max_speed_m_per_h integer,
    rpm_ms bigint NOT NULL,  -- time covered by rpm
    milli_turns bigint NOT NULL,  -- crankshaft turns over that time, in thousandths
    max_rpm_milli integer,
    air_mg bigint,
    air_calculated_mg bigint,
    max_coolant_milli_c integer,
    min_voltage_mv integer,
    max_voltage_mv integer,
    samples bytea NOT NULL,
    revision integer DEFAULT 0 NOT NULL,
    revised_at timestamptz,
    max_acceleration_mm_per_s2 integer,  -- greatest change of speed over one second
    max_braking_mm_per_s2 integer,
    acceleration_mm2_per_s3 bigint,  -- severity: integral of the squared smoothed acceleration
    braking_mm2_per_s3 bigint,
    fuel_rate_ul bigint,  -- by the engine's own rate (PID 5E)
    fuel_rate_ms bigint,  -- time that it covers
    burnt_air_mg bigint,  -- of air_mg what met fuel at the stoichiometric ratio
    air_ms bigint,  -- time that both cover
    burnt_air_calculated_mg bigint,
    air_calculated_ms bigint,
    burnt_air_per_litre_mg bigint,  -- speed-density, for each litre of displacement, filled wholly
    air_per_litre_ms bigint,
    fuel_cut_ms bigint,  -- overrun without fuel; NULL: the car does not tell
    CONSTRAINT vehicle_minute_pkey PRIMARY KEY (vehicle, minute_at)
)
PARTITION BY RANGE (minute_at);
ALTER TABLE drover.vehicle_minute ENABLE ROW LEVEL SECURITY;
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true) WITH CHECK (true), each of: drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_survey, drover_writer
CREATE POLICY sight ON drover.vehicle_minute FOR SELECT TO drover_sight USING ((( SELECT drover.sees_all() AS sees_all) OR (vehicle IN ( SELECT drover.seen('car'::text) AS seen)) OR ((vehicle IN ( SELECT drover.seen_partly('car'::text) AS seen_partly)) AND drover.sees_at('car'::text, vehicle, minute_at)) OR ((vehicle IN ( SELECT drover.driven() AS driven)) AND drover.drove(vehicle, minute_at, (minute_at + '00:01:00'::interval)))));
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.vehicle_minute TO drover_writer;
GRANT SELECT ON TABLE drover.vehicle_minute TO drover_reader, drover_sight;

-- What somebody looks at while it drives: the running trip with its open minute, of watched cars only, so that it costs nothing
-- that nobody looks. Neither table is a result: they are empty after a crash and filled again while somebody looks.
CREATE UNLOGGED TABLE drover.watched (
    vehicle text NOT NULL,
    until_at timestamptz NOT NULL,
    CONSTRAINT watched_pkey PRIMARY KEY (vehicle)
);
GRANT DELETE, SELECT ON TABLE drover.watched TO drover_writer;
GRANT SELECT ON TABLE drover.watched TO drover_reader;

-- Weather by cell of a grid and hour.
CREATE TABLE drover.weather_hour (
    source text NOT NULL,
    cell_millideg integer NOT NULL,
    latitude_index integer NOT NULL,  -- from the south pole
    longitude_index integer NOT NULL,  -- from the 180th meridian
    hour_at timestamptz NOT NULL,
    answer jsonb NOT NULL,  -- Sources/Domain/Codecs/Services/WeatherAnswer.swift
    kept_until timestamptz NOT NULL,
    CONSTRAINT weather_hour_pkey PRIMARY KEY (source, cell_millideg, latitude_index, longitude_index, hour_at)
);
CREATE INDEX weather_hour_by_end ON drover.weather_hour USING btree (kept_until);
GRANT DELETE, INSERT, SELECT, UPDATE ON TABLE drover.weather_hour TO drover_gateway, drover_writer;
GRANT SELECT ON TABLE drover.weather_hour TO drover_reader;

-- Alerts as people see them: who has seen them first since nobody had them, with whom they are, and whether somebody wants not to be told.
-- Of two silences of one scope the later one counts, so that one that ends now takes the other back; so it is with mutes of one alert.
-- Services are counted in engine hours (docs/machines.md), and nothing else is.
CREATE VIEW drover.alert_now WITH (security_invoker='true') AS
 SELECT alert.alert_id,
    alert.vehicle,
    alert.model,
    alert.parameter,
    alert.unit,
    alert.severity,
    alert.state,
    alert.test,
    alert.threshold,
    alert.since_at,
    alert.opened_at,
    alert.opening_value,
    alert.worst_value,
    alert.worst_at,
    alert.resolved_at,
    alert.audience,
    alert.recommended,
    alert.advice,
    alert.rules_version,
    alert.first_opened_at,
    alert.revision,
    alert.revised_at,
    alert.told_at,
    alert.resolved_told_at,
    alert.kind,
    alert.account,
    seen.acknowledged_at,
    seen.acknowledged_by,
    seen.note AS acknowledgement_note,
        CASE
            WHEN mute.is_later THEN mute.until_at
            ELSE silence.until_at
        END AS silenced_until_at,
        CASE
            WHEN mute.is_later THEN mute.said_by
            ELSE silence.silenced_by
        END AS silenced_by,
    with_whom.account AS assigned_to,
    with_whom.said_at AS assigned_at,
    with_whom.said_by AS assigned_by,
    COALESCE((mute.is_later AND mute.is_to_its_end), false) AS is_muted_to_its_end,
    ((alert.kind = 'machine'::text) AND (alert.parameter = 'Engine Hours'::text) AND (alert.test = 'above'::text)) AS is_service
   FROM ((((drover.alert
     LEFT JOIN LATERAL ( SELECT a.acknowledged_at,
            a.acknowledged_by,
            a.note
           FROM drover.acknowledgement a
          WHERE ((a.alert_id = alert.alert_id) AND (a.vehicle = alert.vehicle) AND (NOT (EXISTS ( SELECT
                   FROM drover.alert_triage t
                  WHERE ((t.alert_id = a.alert_id) AND (t.vehicle = a.vehicle) AND (t.word = 'reopened'::text) AND (t.said_at >= a.acknowledged_at))))))
          ORDER BY a.acknowledged_at, a.record_id
         LIMIT 1) seen ON (true))
     LEFT JOIN LATERAL ( SELECT s.until_at,
            s.silenced_by
           FROM ( SELECT DISTINCT ON (s_1.vehicle, s_1.model, s_1.parameter) s_1.until_at,
                    s_1.silenced_by
                   FROM drover.silence s_1
                  WHERE ((s_1.from_at <= now()) AND ((s_1.vehicle IS NULL) OR (s_1.vehicle = alert.vehicle)) AND ((s_1.model IS NULL) OR (s_1.model = alert.model)) AND ((s_1.parameter IS NULL) OR (s_1.parameter = alert.parameter)))
                  ORDER BY s_1.vehicle, s_1.model, s_1.parameter, s_1.from_at DESC, s_1.record_id DESC) s
          WHERE (s.until_at > now())
          ORDER BY s.until_at DESC
         LIMIT 1) silence ON (true))
     LEFT JOIN LATERAL ( SELECT t.account,
            t.said_at,
            t.said_by
           FROM drover.alert_triage t
          WHERE ((t.alert_id = alert.alert_id) AND (t.vehicle = alert.vehicle) AND (t.word = 'assigned'::text))
          ORDER BY t.said_at DESC, t.record_id DESC
         LIMIT 1) with_whom ON ((with_whom.account IS NOT NULL)))
     LEFT JOIN LATERAL ( SELECT m.until_at,
            m.said_by,
            m.is_to_its_end,
            ((m.until_at > now()) AND (m.until_at > COALESCE(silence.until_at, '-infinity'::timestamp with time zone))) AS is_later
           FROM ( SELECT COALESCE(t.until_at, '2100-01-01 00:00:00+00'::timestamp with time zone) AS until_at,
                    (t.until_at IS NULL) AS is_to_its_end,
                    t.said_by
                   FROM drover.alert_triage t
                  WHERE ((t.alert_id = alert.alert_id) AND (t.vehicle = alert.vehicle) AND (t.word = 'muted'::text) AND (t.said_at <= now()))
                  ORDER BY t.said_at DESC, t.record_id DESC
                 LIMIT 1) m) mute ON (true));
GRANT SELECT ON TABLE drover.alert_now TO drover_reader, drover_relay, drover_sight, drover_writer;

-- The same of the running trips that are looked at.
CREATE VIEW drover.live_trip_now WITH (security_barrier='true') AS
 SELECT t.vehicle,
    t.start_at,
    t.end_at,
    true AS is_open,
    t.readings,
    t.disputed_readings,
    t.speed_readings,
    t.integrated_ms,
    t.distance_mm,
    t.idle_ms,
    t.holes,
    t.sharp_accelerations,
    t.sharp_brakings,
    t.max_speed_m_per_h,
    t.rpm_ms,
    t.milli_turns,
    t.max_rpm_milli,
    t.air_mg,
    t.air_calculated_mg,
    t.max_coolant_milli_c,
    t.min_voltage_mv,
    t.max_voltage_mv,
    t.max_acceleration_mm_per_s2,
    t.max_braking_mm_per_s2,
    t.acceleration_mm2_per_s3,
    t.braking_mm2_per_s3,
    t.fuel_rate_ul,
    t.fuel_rate_ms,
    t.burnt_air_mg,
    t.air_ms,
    t.burnt_air_calculated_mg,
    t.air_calculated_ms,
    t.burnt_air_per_litre_mg,
    t.air_per_litre_ms,
    t.fuel_cut_ms,
    0 AS revision,
    NULL::timestamp with time zone AS revised_at,
    context.tag,
    context.discarded_at,
    context.driver,
    context.owner,
    context.fuel,
    context.tank_l,
    context.displacement_cc,
    context.volumetric_efficiency_pct,
    context.settings,
    weather.weather,
    weather.weather_source,
    weather.weather_fetched_at,
    weather.weather_temperature_c,
    weather.weather_wind_speed_mps,
    weather.weather_wind_gust_mps,
    weather.weather_wind_direction_deg,
    weather.weather_cloud_cover_pct,
    weather.weather_precipitation_mm_per_h,
    weather.weather_humidity_pct,
    weather.weather_pressure_hpa,
    weather.weather_condition_code,
    t.from_before,
    false AS goes_on,
    t.minute_at,
    t.samples
   FROM drover.live_trip t,
    LATERAL ( SELECT tag.tag,
            discard.noted_at,
            COALESCE(upload.account, assigned.account) AS "coalesce",
            car.account,
            car.fuel,
            car.tank_l,
            car.displacement_cc,
            car.volumetric_efficiency_pct,
            settings.settings
           FROM (((((((( SELECT) always
             LEFT JOIN drover.vehicle v ON (((v.kind = 'car'::text) AND (v.vehicle = t.vehicle))))
             LEFT JOIN drover.registration car ON (((car.kind = 'car'::text) AND (car.vehicle = t.vehicle))))
             LEFT JOIN LATERAL ( SELECT n.tag
                   FROM drover.trip_note n
                  WHERE ((n.vehicle = t.vehicle) AND (NOT n.is_discard) AND ((n.trip_at >= t.start_at) AND (n.trip_at <= t.end_at)))
                  ORDER BY n.noted_at DESC, (n.record_id COLLATE "C") DESC
                 LIMIT 1) tag ON (true))
             LEFT JOIN LATERAL ( SELECT n.noted_at
                   FROM drover.trip_note n
                  WHERE ((n.vehicle = t.vehicle) AND n.is_discard AND ((n.trip_at >= t.start_at) AND (n.trip_at <= t.end_at)))
                  ORDER BY n.noted_at, (n.record_id COLLATE "C")
                 LIMIT 1) discard ON (true))
             LEFT JOIN LATERAL ( SELECT d.account
                   FROM drover.driving d
                  WHERE ((d.vehicle = t.vehicle) AND (d.from_at <= t.end_at) AND (d.until_at >= t.start_at))
                  ORDER BY d.from_at DESC, (d.record_id COLLATE "C") DESC
                 LIMIT 1) upload ON (true))
             LEFT JOIN LATERAL ( SELECT a.account
                   FROM drover.assignment a
                  WHERE ((a.vehicle = t.vehicle) AND (a.assigned_at <= t.start_at))
                  ORDER BY a.assigned_at DESC
                 LIMIT 1) assigned ON (true))
             LEFT JOIN LATERAL ( SELECT s.settings
                   FROM drover.account_settings s
                  WHERE ((s.topic_partition = v.topic_partition) AND (s.account = COALESCE(upload.account, assigned.account, car.account)) AND (s.in_force_at <= t.end_at))
                  ORDER BY s.in_force_at DESC
                 LIMIT 1) settings ON (true))) context(tag, discarded_at, driver, owner, fuel, tank_l, displacement_cc, volumetric_efficiency_pct, settings),
    LATERAL ( SELECT told.answer,
            (((told.value ->> 'source'::text) || ' '::text) || (told.value ->> 'model'::text)) AS "?column?",
            told.fetched_at,
            drover.readable_number(told.value, 'temperature_c'::text) AS float8,
            drover.readable_number(told.value, 'wind_speed_mps'::text) AS float8,
            drover.readable_number(told.value, 'wind_gust_mps'::text) AS float8,
            drover.readable_number(told.value, 'wind_direction_deg'::text) AS float8,
            drover.readable_number(told.value, 'cloud_cover_pct'::text) AS float8,
            drover.readable_number(told.value, 'precipitation_mm_per_h'::text) AS float8,
            drover.readable_number(told.value, 'humidity_pct'::text) AS float8,
            drover.readable_number(told.value, 'pressure_hpa'::text) AS float8,
            (drover.readable_number(told.value, 'condition_code'::text))::integer AS int4
           FROM (( SELECT) always
             LEFT JOIN LATERAL ( SELECT w.answer,
                    drover.readable_json(w.answer) AS value,
                    w.fetched_at
                   FROM (drover.trip_start s
                     JOIN drover.trip_weather w ON (((w.vehicle = s.vehicle) AND (w.hour_at = date_trunc('hour'::text, s.start_at, 'UTC'::text)) AND drover.is_in_cell(s.latitude_deg, s.longitude_deg, w.cell_millideg, w.latitude_index, w.longitude_index))))
                  WHERE ((s.vehicle = t.vehicle) AND (s.start_at = t.start_at) AND (drover.readable_json(w.answer) IS NOT NULL))
                  ORDER BY w.fetched_at DESC, (w.answer COLLATE "C") DESC
                 LIMIT 1) told ON (true))) weather(weather, weather_source, weather_fetched_at, weather_temperature_c, weather_wind_speed_mps, weather_wind_gust_mps, weather_wind_direction_deg, weather_cloud_cover_pct, weather_precipitation_mm_per_h, weather_humidity_pct, weather_pressure_hpa, weather_condition_code)
  WHERE (( SELECT drover.sees_all() AS sees_all) OR (t.vehicle IN ( SELECT drover.seen('car'::text) AS seen)) OR ((t.vehicle IN ( SELECT drover.seen_partly('car'::text) AS seen_partly)) AND drover.sees_at('car'::text, t.vehicle, t.start_at)) OR ((t.vehicle IN ( SELECT drover.driven() AS driven)) AND drover.drove(t.vehicle, t.start_at, t.end_at)));
GRANT SELECT ON TABLE drover.live_trip_now TO drover_reader, drover_sight;

CREATE VIEW drover.rule_set_seen AS
 SELECT s.topic_partition,
    s.in_force_at,
    s.version,
        CASE
            WHEN ( SELECT drover.sees_all() AS sees_all) THEN s.rules
            ELSE (split_part(s.rules, '
machine	'::text, 1) || COALESCE(( SELECT string_agg(('
machine	'::text || part.text), ''::text ORDER BY part.number) AS string_agg
               FROM unnest(string_to_array(s.rules, '
machine	'::text)) WITH ORDINALITY part(text, number)
              WHERE ((part.number > 1) AND (split_part(part.text, '
'::text, 1) IN ( SELECT drover.known('machine'::text) AS known)))), ''::text))
        END AS rules
   FROM drover.rule_set s
  WHERE (( SELECT drover.is_program() AS is_program) OR ( SELECT drover.reads_fleets() AS reads_fleets));
GRANT SELECT ON TABLE drover.rule_set_seen TO drover_reader, drover_relay, drover_sight, drover_writer;

CREATE VIEW drover.seen_sighting_exact AS
 SELECT e.occurrence,
    e.event,
    e.site,
    e.site_name,
    e.route,
    e.survey,
    e.version,
    e.sighting,
    e.seen_at,
    e.local_date,
    e.started_at,
    e.stopped_at,
    e.utc_offset_min,
    e.species,
    e.given_name,
    e.taxon,
    e.individuals,
    e.latitude_deg,
    e.longitude_deg,
    e.uncertainty_m,
    e.generalization,
    e.section,
    e.habitat,
    e.conditions,
    e.behaviour,
    e.certainty,
    e.life_stage,
    e.sex,
    e.mark,
    e.light_lux,
    e.photos,
    e.animals,
    e.plants,
    e.comments,
    e.own_weather,
    e.temperature_c,
    e.wind_speed_mps,
    e.wind_direction_deg,
    e.cloud_cover_pct,
    e.weather_at,
    e.weather_source,
    e.protocol,
    e.gate,
    e.observers,
    e.distance_m,
    e.needs_review,
    e.is_sensitive,
    e.others,
    e.event_latitude_deg,
    e.event_longitude_deg,
    e.event_comments,
    e.event_others
   FROM drover.sighting_exact e
  WHERE ( SELECT drover.sees_sightings('exact'::text) AS sees_sightings);
GRANT SELECT ON TABLE drover.seen_sighting_exact TO drover_page;

CREATE VIEW drover.seen_sighting_own AS
 SELECT e.occurrence,
    e.event,
    e.site,
    e.site_name,
    e.route,
    e.survey,
    e.version,
    e.sighting,
    e.seen_at,
    e.local_date,
    e.started_at,
    e.stopped_at,
    e.utc_offset_min,
    e.species,
    e.given_name,
    e.taxon,
    e.individuals,
    e.latitude_deg,
    e.longitude_deg,
    e.uncertainty_m,
    e.generalization,
    e.section,
    e.habitat,
    e.conditions,
    e.behaviour,
    e.certainty,
    e.life_stage,
    e.sex,
    e.mark,
    e.light_lux,
    e.photos,
    e.animals,
    e.plants,
    e.comments,
    e.own_weather,
    e.temperature_c,
    e.wind_speed_mps,
    e.wind_direction_deg,
    e.cloud_cover_pct,
    e.weather_at,
    e.weather_source,
    e.protocol,
    e.gate,
    e.observers,
    e.distance_m,
    e.needs_review,
    e.is_sensitive,
    e.others,
    e.event_latitude_deg,
    e.event_longitude_deg,
    e.event_comments,
    e.event_others
   FROM drover.sighting_exact e
  WHERE (( SELECT drover.sees_sightings('own'::text) AS sees_sightings) AND ((e.site, e.survey) IN ( SELECT s.site,
            s.survey
           FROM drover.survey s
          WHERE (s.account = ( SELECT drover.sight_account() AS sight_account)))));
GRANT SELECT ON TABLE drover.seen_sighting_own TO drover_page;

CREATE VIEW drover.seen_sighting_shown AS
 SELECT e.occurrence,
    e.event,
    e.site,
    e.site_name,
    e.route,
    e.survey,
    e.version,
    e.sighting,
    e.seen_at,
    e.local_date,
    e.started_at,
    e.stopped_at,
    e.utc_offset_min,
    e.species,
    e.given_name,
    e.taxon,
    e.individuals,
    e.latitude_deg,
    e.longitude_deg,
    e.uncertainty_m,
    e.generalization,
    e.section,
    e.habitat,
    e.conditions,
    e.behaviour,
    e.certainty,
    e.life_stage,
    e.sex,
    e.mark,
    e.light_lux,
    e.photos,
    e.animals,
    e.plants,
    e.comments,
    e.own_weather,
    e.temperature_c,
    e.wind_speed_mps,
    e.wind_direction_deg,
    e.cloud_cover_pct,
    e.weather_at,
    e.weather_source,
    e.protocol,
    e.gate,
    e.observers,
    e.distance_m,
    e.needs_review,
    e.is_sensitive,
    e.others,
    e.event_latitude_deg,
    e.event_longitude_deg,
    e.event_comments,
    e.event_others
   FROM drover.sighting_shown e
  WHERE ( SELECT drover.sees_sightings('shown'::text) AS sees_sightings);
GRANT SELECT ON TABLE drover.seen_sighting_shown TO drover_page;

CREATE VIEW drover.seen_survey_exact AS
 SELECT e.event,
    e.site,
    e.site_name,
    e.route,
    e.survey,
    e.version,
    e.started_at,
    e.stopped_at,
    e.utc_offset_min,
    e.local_date,
    e.latitude_deg,
    e.longitude_deg,
    e.uncertainty_m,
    e.generalization,
    e.line,
    e.distance_m,
    e.pace_mps,
    e.protocol,
    e.gate,
    e.gate_reasons,
    e.observers,
    e.expertise,
    e.comments,
    e.own_weather,
    e.service_weather,
    e.weather_missing,
    e.sightings,
    e.individuals,
    e.needs_review,
    e.others,
    e.is_blurred
   FROM drover.survey_exact e
  WHERE ( SELECT drover.sees_sightings('exact'::text) AS sees_sightings);
GRANT SELECT ON TABLE drover.seen_survey_exact TO drover_page;

CREATE VIEW drover.seen_survey_own AS
 SELECT e.event,
    e.site,
    e.site_name,
    e.route,
    e.survey,
    e.version,
    e.started_at,
    e.stopped_at,
    e.utc_offset_min,
    e.local_date,
    e.latitude_deg,
    e.longitude_deg,
    e.uncertainty_m,
    e.generalization,
    e.line,
    e.distance_m,
    e.pace_mps,
    e.protocol,
    e.gate,
    e.gate_reasons,
    e.observers,
    e.expertise,
    e.comments,
    e.own_weather,
    e.service_weather,
    e.weather_missing,
    e.sightings,
    e.individuals,
    e.needs_review,
    e.others,
    e.is_blurred
   FROM drover.survey_exact e
  WHERE (( SELECT drover.sees_sightings('own'::text) AS sees_sightings) AND ((e.site, e.survey) IN ( SELECT s.site,
            s.survey
           FROM drover.survey s
          WHERE (s.account = ( SELECT drover.sight_account() AS sight_account)))));
GRANT SELECT ON TABLE drover.seen_survey_own TO drover_page;

CREATE VIEW drover.seen_survey_shown AS
 SELECT e.event,
    e.site,
    e.site_name,
    e.route,
    e.survey,
    e.version,
    e.started_at,
    e.stopped_at,
    e.utc_offset_min,
    e.local_date,
    e.latitude_deg,
    e.longitude_deg,
    e.uncertainty_m,
    e.generalization,
    e.line,
    e.distance_m,
    e.pace_mps,
    e.protocol,
    e.gate,
    e.gate_reasons,
    e.observers,
    e.expertise,
    e.comments,
    e.own_weather,
    e.service_weather,
    e.weather_missing,
    e.sightings,
    e.individuals,
    e.needs_review,
    e.others,
    e.is_blurred
   FROM drover.survey_shown e
  WHERE ( SELECT drover.sees_sightings('shown'::text) AS sees_sightings);
GRANT SELECT ON TABLE drover.seen_survey_shown TO drover_page;

CREATE VIEW drover.seen_surveyor AS
 SELECT p.site,
    p.survey,
    p.surveyor,
    p.role,
    p.name,
    p.expertise,
    p.mail,
    p.phone
   FROM drover.surveyor p
  WHERE (( SELECT drover.sees_sightings('exact'::text) AS sees_sightings) OR (( SELECT drover.sees_sightings('own'::text) AS sees_sightings) AND ((p.site, p.survey) IN ( SELECT s.site,
            s.survey
           FROM drover.survey s
          WHERE (s.account = ( SELECT drover.sight_account() AS sight_account))))));
GRANT SELECT ON TABLE drover.seen_surveyor TO drover_page;

-- Walks as reports count them: all of them, for who sees surveys as they are and for who runs the installation. No barrier, as the other seen_
-- views are none, since what is asked of it is ours alone: no login of a person may read it.
CREATE VIEW drover.seen_walk AS
 SELECT s.site,
    s.survey,
    s.local_date,
    s.started_at,
    s.stopped_at,
    s.distance_m,
    s.gate,
    s.needs_review,
    s.sightings,
    s.individuals
   FROM drover.survey s
  WHERE (( SELECT drover.sees_all() AS sees_all) OR ( SELECT drover.sees_sightings('exact'::text) AS sees_sightings));
GRANT SELECT ON TABLE drover.seen_walk TO drover_page, drover_reader;

-- Positions and people's texts as they are.
CREATE VIEW drover.sighting_exact AS
 SELECT ((((s.site || ':'::text) || s.survey) || ':'::text) || s.sighting) AS occurrence,
    ((s.site || ':'::text) || s.survey) AS event,
    s.site,
    v.site_name,
    v.route,
    s.survey,
    v.version,
    s.sighting,
    s.seen_at,
    s.local_date,
    v.started_at,
    v.stopped_at,
    v.utc_offset_min,
    s.species,
    s.given_name,
    s.taxon,
    s.individuals,
    s.latitude_deg,
    s.longitude_deg,
    s.uncertainty_m,
    NULL::text AS generalization,
    s.section,
    s.habitat,
    s.conditions,
    s.behaviour,
    s.certainty,
    s.life_stage,
    s.sex,
    s.mark,
    s.light_lux,
    s.photos,
    s.animals,
    s.plants,
    s.comments,
    s.own_weather,
    s.temperature_c,
    s.wind_speed_mps,
    s.wind_direction_deg,
    s.cloud_cover_pct,
    s.weather_at,
    s.weather_source,
    v.protocol,
    v.gate,
    v.observers,
    v.distance_m,
    s.needs_review,
    s.is_sensitive,
    s.is_blurred,
    s.others,
    v.latitude_deg AS event_latitude_deg,
    v.longitude_deg AS event_longitude_deg,
    v.comments AS event_comments,
    v.others AS event_others,
    s.shown_latitude_deg,
    s.shown_longitude_deg
   FROM (drover.sighting s
     LEFT JOIN drover.survey v ON (((v.site = s.site) AND (v.survey = s.survey))));
GRANT SELECT ON TABLE drover.sighting_exact TO drover_researcher;

-- As before, but for what surveyors measured.
CREATE VIEW drover.sighting_shown AS
 SELECT e.occurrence,
    e.event,
    e.site,
        CASE
            WHEN (NOT e.is_blurred) THEN e.site_name
            ELSE NULL::text
        END AS site_name,
        CASE
            WHEN (NOT e.is_blurred) THEN e.route
            ELSE NULL::text
        END AS route,
    e.survey,
    e.version,
    e.sighting,
    e.seen_at,
    e.local_date,
    e.started_at,
    e.stopped_at,
    e.utc_offset_min,
    e.species,
    e.given_name,
    e.taxon,
    e.individuals,
    e.shown_latitude_deg AS latitude_deg,
    e.shown_longitude_deg AS longitude_deg,
        CASE
            WHEN e.is_blurred THEN GREATEST(drover.cell_radius_m(e.latitude_deg), e.uncertainty_m)
            ELSE e.uncertainty_m
        END AS uncertainty_m,
        CASE
            WHEN e.is_blurred THEN 'Coordinates are the middle of a cell of 0.1 degrees.'::text
            ELSE NULL::text
        END AS generalization,
        CASE
            WHEN (NOT e.is_blurred) THEN e.section
            ELSE NULL::text
        END AS section,
        CASE
            WHEN (NOT e.is_blurred) THEN e.habitat
            ELSE NULL::text
        END AS habitat,
        CASE
            WHEN (NOT e.is_blurred) THEN e.conditions
            ELSE NULL::text
        END AS conditions,
    e.behaviour,
    e.certainty,
    e.life_stage,
    e.sex,
    e.mark,
    e.light_lux,
        CASE
            WHEN e.is_blurred THEN '{}'::text[]
            ELSE e.photos
        END AS photos,
        CASE
            WHEN (NOT e.is_blurred) THEN e.animals
            ELSE NULL::text
        END AS animals,
        CASE
            WHEN (NOT e.is_blurred) THEN e.plants
            ELSE NULL::text
        END AS plants,
        CASE
            WHEN (NOT e.is_blurred) THEN e.comments
            ELSE NULL::text
        END AS comments,
        CASE
            WHEN e.is_blurred THEN drover.known_weather(e.own_weather)
            ELSE e.own_weather
        END AS own_weather,
    e.temperature_c,
    e.wind_speed_mps,
    e.wind_direction_deg,
    e.cloud_cover_pct,
    e.weather_at,
    e.weather_source,
    e.protocol,
    e.gate,
    e.observers,
    e.distance_m,
    e.needs_review,
    e.is_sensitive,
        CASE
            WHEN e.is_blurred THEN '{}'::jsonb
            ELSE e.others
        END AS others,
        CASE
            WHEN e.is_blurred THEN drover.cell_latitude(e.event_latitude_deg)
            ELSE e.event_latitude_deg
        END AS event_latitude_deg,
        CASE
            WHEN e.is_blurred THEN drover.cell_longitude(e.event_longitude_deg)
            ELSE e.event_longitude_deg
        END AS event_longitude_deg,
        CASE
            WHEN (NOT e.is_blurred) THEN e.event_comments
            ELSE NULL::text
        END AS event_comments,
        CASE
            WHEN e.is_blurred THEN '{}'::jsonb
            ELSE e.event_others
        END AS event_others
   FROM drover.sighting_exact e;
GRANT SELECT ON TABLE drover.sighting_shown TO drover_reader, drover_researcher;

-- Places and people's texts as they are.
CREATE VIEW drover.survey_exact AS
 SELECT ((v.site || ':'::text) || v.survey) AS event,
    v.site,
    v.site_name,
    v.route,
    v.survey,
    v.version,
    v.started_at,
    v.stopped_at,
    v.utc_offset_min,
    v.local_date,
    v.latitude_deg,
    v.longitude_deg,
    NULL::integer AS uncertainty_m,
    NULL::text AS generalization,
    v.line,
    v.distance_m,
    v.pace_mps,
    v.protocol,
    v.gate,
    v.gate_reasons,
    v.observers,
    v.expertise,
    v.comments,
    v.own_weather,
    v.service_weather,
    v.weather_missing,
    v.sightings,
    v.individuals,
    v.needs_review,
    v.others,
    v.is_blurred
   FROM drover.survey v;
GRANT SELECT ON TABLE drover.survey_exact TO drover_researcher;

-- For everybody: as with sightings. Where the weather service was asked tells of the place as well.
CREATE VIEW drover.survey_shown AS
 SELECT e.event,
    e.site,
        CASE
            WHEN (NOT e.is_blurred) THEN e.site_name
            ELSE NULL::text
        END AS site_name,
        CASE
            WHEN (NOT e.is_blurred) THEN e.route
            ELSE NULL::text
        END AS route,
    e.survey,
    e.version,
    e.started_at,
    e.stopped_at,
    e.utc_offset_min,
    e.local_date,
        CASE
            WHEN e.is_blurred THEN drover.cell_latitude(e.latitude_deg)
            ELSE e.latitude_deg
        END AS latitude_deg,
        CASE
            WHEN e.is_blurred THEN drover.cell_longitude(e.longitude_deg)
            ELSE e.longitude_deg
        END AS longitude_deg,
        CASE
            WHEN e.is_blurred THEN drover.cell_radius_m(e.latitude_deg)
            ELSE NULL::integer
        END AS uncertainty_m,
        CASE
            WHEN e.is_blurred THEN 'Coordinates are the middle of a cell of 0.1 degrees.'::text
            ELSE NULL::text
        END AS generalization,
        CASE
            WHEN (NOT e.is_blurred) THEN e.line
            ELSE NULL::text
        END AS line,
    e.distance_m,
    e.pace_mps,
    e.protocol,
    e.gate,
    e.gate_reasons,
    e.observers,
    e.expertise,
        CASE
            WHEN (NOT e.is_blurred) THEN e.comments
            ELSE NULL::text
        END AS comments,
        CASE
            WHEN e.is_blurred THEN drover.known_weather(e.own_weather)
            ELSE e.own_weather
        END AS own_weather,
        CASE
            WHEN e.is_blurred THEN ( SELECT COALESCE(jsonb_agg((told.hour - '{latitude,longitude,cell_deg}'::text[]) ORDER BY told.number), '[]'::jsonb) AS "coalesce"
               FROM jsonb_array_elements(e.service_weather) WITH ORDINALITY told(hour, number))
            ELSE e.service_weather
        END AS service_weather,
    e.weather_missing,
    e.sightings,
    e.individuals,
    e.needs_review,
        CASE
            WHEN e.is_blurred THEN '{}'::jsonb
            ELSE e.others
        END AS others,
    e.is_blurred
   FROM drover.survey_exact e;
GRANT SELECT ON TABLE drover.survey_shown TO drover_reader, drover_researcher;

-- The newest version of each tour, as they are listed.
CREATE VIEW drover.tour_published AS
 SELECT DISTINCT ON (v.tour) v.tour,
    v.version,
    v.area,
    (v.area COLLATE "und-x-icu") AS sorted_area,
    p.bytes,
    cardinality(v.waypoint_ids) AS waypoints,
    p.digest,
    v.published_at
   FROM (drover.tour_version v
     JOIN drover.tour_package p ON (((p.tour = v.tour) AND (p.version = v.version) AND (p.from_version = 0))))
  ORDER BY v.tour, v.version DESC;
GRANT SELECT ON TABLE drover.tour_published TO drover_api, drover_reader;

-- Trips as people see them: who drove, what the driver said of them, and what their fuel is worked out from.
--
-- The driver is the account whose upload covers the end of the trip best, else who was assigned when it began. Limits, units
-- and prices are those of the driver, else of the owner, in force at the trip's end.
CREATE VIEW drover.trip_now WITH (security_barrier='true') AS
 SELECT t.vehicle,
    t.start_at,
    t.end_at,
    t.is_open,
    t.readings,
    t.disputed_readings,
    t.speed_readings,
    t.integrated_ms,
    t.distance_mm,
    t.idle_ms,
    t.holes,
    t.sharp_accelerations,
    t.sharp_brakings,
    t.max_speed_m_per_h,
    t.rpm_ms,
    t.milli_turns,
    t.max_rpm_milli,
    t.air_mg,
    t.air_calculated_mg,
    t.max_coolant_milli_c,
    t.min_voltage_mv,
    t.max_voltage_mv,
    t.max_acceleration_mm_per_s2,
    t.max_braking_mm_per_s2,
    t.acceleration_mm2_per_s3,
    t.braking_mm2_per_s3,
    t.fuel_rate_ul,
    t.fuel_rate_ms,
    t.burnt_air_mg,
    t.air_ms,
    t.burnt_air_calculated_mg,
    t.air_calculated_ms,
    t.burnt_air_per_litre_mg,
    t.air_per_litre_ms,
    t.fuel_cut_ms,
    t.revision,
    t.revised_at,
    context.tag,
    context.discarded_at,
    context.driver,
    context.owner,
    context.fuel,
    context.tank_l,
    context.displacement_cc,
    context.volumetric_efficiency_pct,
    context.settings,
    weather.weather,
    weather.weather_source,
    weather.weather_fetched_at,
    weather.weather_temperature_c,
    weather.weather_wind_speed_mps,
    weather.weather_wind_gust_mps,
    weather.weather_wind_direction_deg,
    weather.weather_cloud_cover_pct,
    weather.weather_precipitation_mm_per_h,
    weather.weather_humidity_pct,
    weather.weather_pressure_hpa,
    weather.weather_condition_code,
    t.from_before,
    t.goes_on
   FROM drover.trip t,
    LATERAL ( SELECT tag.tag,
            discard.noted_at,
            COALESCE(upload.account, assigned.account) AS "coalesce",
            car.account,
            car.fuel,
            car.tank_l,
            car.displacement_cc,
            car.volumetric_efficiency_pct,
            settings.settings
           FROM (((((((( SELECT) always
             LEFT JOIN drover.vehicle v ON (((v.kind = 'car'::text) AND (v.vehicle = t.vehicle))))
             LEFT JOIN drover.registration car ON (((car.kind = 'car'::text) AND (car.vehicle = t.vehicle))))
             LEFT JOIN LATERAL ( SELECT n.tag
                   FROM drover.trip_note n
                  WHERE ((n.vehicle = t.vehicle) AND (NOT n.is_discard) AND ((n.trip_at >= t.start_at) AND (n.trip_at <= t.end_at)))
                  ORDER BY n.noted_at DESC, (n.record_id COLLATE "C") DESC
                 LIMIT 1) tag ON (true))
             LEFT JOIN LATERAL ( SELECT n.noted_at
                   FROM drover.trip_note n
                  WHERE ((n.vehicle = t.vehicle) AND n.is_discard AND ((n.trip_at >= t.start_at) AND (n.trip_at <= t.end_at)))
                  ORDER BY n.noted_at, (n.record_id COLLATE "C")
                 LIMIT 1) discard ON (true))
             LEFT JOIN LATERAL ( SELECT d.account
                   FROM drover.driving d
                  WHERE ((d.vehicle = t.vehicle) AND (d.from_at <= t.end_at) AND (d.until_at >= t.start_at))
                  ORDER BY d.from_at DESC, (d.record_id COLLATE "C") DESC
                 LIMIT 1) upload ON (true))
             LEFT JOIN LATERAL ( SELECT a.account
                   FROM drover.assignment a
                  WHERE ((a.vehicle = t.vehicle) AND (a.assigned_at <= t.start_at))
                  ORDER BY a.assigned_at DESC
                 LIMIT 1) assigned ON (true))
             LEFT JOIN LATERAL ( SELECT s.settings
                   FROM drover.account_settings s
                  WHERE ((s.topic_partition = v.topic_partition) AND (s.account = COALESCE(upload.account, assigned.account, car.account)) AND (s.in_force_at <= t.end_at))
                  ORDER BY s.in_force_at DESC
                 LIMIT 1) settings ON (true))) context(tag, discarded_at, driver, owner, fuel, tank_l, displacement_cc, volumetric_efficiency_pct, settings),
    LATERAL ( SELECT told.answer,
            (((told.value ->> 'source'::text) || ' '::text) || (told.value ->> 'model'::text)) AS "?column?",
            told.fetched_at,
            drover.readable_number(told.value, 'temperature_c'::text) AS float8,
            drover.readable_number(told.value, 'wind_speed_mps'::text) AS float8,
            drover.readable_number(told.value, 'wind_gust_mps'::text) AS float8,
            drover.readable_number(told.value, 'wind_direction_deg'::text) AS float8,
            drover.readable_number(told.value, 'cloud_cover_pct'::text) AS float8,
            drover.readable_number(told.value, 'precipitation_mm_per_h'::text) AS float8,
            drover.readable_number(told.value, 'humidity_pct'::text) AS float8,
            drover.readable_number(told.value, 'pressure_hpa'::text) AS float8,
            (drover.readable_number(told.value, 'condition_code'::text))::integer AS int4
           FROM (( SELECT) always
             LEFT JOIN LATERAL ( SELECT w.answer,
                    drover.readable_json(w.answer) AS value,
                    w.fetched_at
                   FROM (drover.trip_start s
                     JOIN drover.trip_weather w ON (((w.vehicle = s.vehicle) AND (w.hour_at = date_trunc('hour'::text, s.start_at, 'UTC'::text)) AND drover.is_in_cell(s.latitude_deg, s.longitude_deg, w.cell_millideg, w.latitude_index, w.longitude_index))))
                  WHERE ((s.vehicle = t.vehicle) AND (s.start_at = t.start_at) AND (drover.readable_json(w.answer) IS NOT NULL))
                  ORDER BY w.fetched_at DESC, (w.answer COLLATE "C") DESC
                 LIMIT 1) told ON (true))) weather(weather, weather_source, weather_fetched_at, weather_temperature_c, weather_wind_speed_mps, weather_wind_gust_mps, weather_wind_direction_deg, weather_cloud_cover_pct, weather_precipitation_mm_per_h, weather_humidity_pct, weather_pressure_hpa, weather_condition_code)
  WHERE (( SELECT drover.sees_all() AS sees_all) OR (t.vehicle IN ( SELECT drover.seen('car'::text) AS seen)) OR ((t.vehicle IN ( SELECT drover.seen_partly('car'::text) AS seen_partly)) AND drover.sees_at('car'::text, t.vehicle, t.start_at)) OR ((t.vehicle IN ( SELECT drover.driven() AS driven)) AND drover.drove(t.vehicle, t.start_at, t.end_at)));
GRANT SELECT ON TABLE drover.trip_now TO drover_reader, drover_sight;

-- Whose session it is; no row: unknown, over, or of somebody who is disabled.
CREATE FUNCTION drover.account_of_session(a_session bytea) RETURNS TABLE(account text, mail text, first_name text, last_name text, roles text[], units text, zone text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE drover.account_session s SET last_used_at = now()
        WHERE s.digest = a_session AND s.last_used_at < now() - interval '5 minutes' AND drover.is_session_open(s);
    RETURN QUERY SELECT a.account, a.mail, a.first_name, a.last_name, a.roles, a.units, a.zone
        FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL;
END $$;
REVOKE ALL ON FUNCTION drover.account_of_session(a_session bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.account_of_session(a_session bytea) TO drover_api, drover_page;

-- Accounts, for administrators; others get none.
CREATE FUNCTION drover.accounts_administered() RETURNS TABLE(account text, mail text, name text, roles text[], state text, last_used_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT a.account, a.mail, trim(a.first_name || ' ' || a.last_name), a.roles,
        CASE WHEN a.disabled_at IS NOT NULL THEN 'disabled' WHEN a.confirmed_at IS NOT NULL THEN 'confirmed' ELSE 'not confirmed' END,
        (SELECT max(s.last_used_at) FROM drover.account_session s WHERE s.account = a.account)
    FROM drover.account a WHERE 'administrator' = ANY (drover.sight_roles())
    ORDER BY a.disabled_at IS NOT NULL, a.account LIMIT 1000
$$;
REVOKE ALL ON FUNCTION drover.accounts_administered() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.accounts_administered() TO drover_page;

-- At most twenty that hold; of revoked ones the last hundred are kept. False: too many, or scopes that the roles do not allow.
CREATE FUNCTION drover.add_own_token(a_session bytea, new_id text, a_digest bytea, a_name text, the_scopes text[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    own drover.account;
BEGIN
    SELECT a.* INTO own FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL FOR UPDATE OF a;
    IF NOT FOUND OR octet_length(a_name) > 200 OR cardinality(the_scopes) = 0 OR NOT the_scopes <@ drover.own_scopes(own.roles)
        OR 20 <= (SELECT count(*) FROM drover.token t WHERE t.account = own.account AND t.is_own AND t.revoked_at IS NULL) THEN
        RETURN false;
    END IF;
    DELETE FROM drover.token t WHERE t.token_id IN (
        SELECT o.token_id FROM drover.token o WHERE o.account = own.account AND o.is_own AND o.revoked_at IS NOT NULL
            ORDER BY o.revoked_at DESC, o.token_id OFFSET 100);
    INSERT INTO drover.token (token_id, digest, account, name, scopes, role, is_own)
        VALUES (new_id, a_digest, own.account, a_name, the_scopes, CASE WHEN 'developer' = ANY (own.roles) THEN 'developer'
            WHEN 'dealer' = ANY (own.roles) AND NOT 'farmer' = ANY (own.roles) THEN 'dealer' ELSE 'farmer' END, true);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.add_own_token(a_session bytea, new_id text, a_digest bytea, a_name text, the_scopes text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.add_own_token(a_session bytea, new_id text, a_digest bytea, a_name text, the_scopes text[]) TO drover_api;

-- For oneself: mailed to nobody else. NULL: fifty are enough.
CREATE FUNCTION drover.add_report_schedule(a_report text, a_span text, a_narrowing text, a_fleet text, a_format text, the_units text, a_cron text, a_zone text, is_mailed boolean) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    me text := drover.sight_account();
    made bigint;
BEGIN
    IF me IS NULL THEN RETURN NULL; END IF;
    PERFORM drover.take_turn('drover.report_schedule ' || me);
    IF ((SELECT count(*) FROM drover.report_schedule s WHERE s.account = me) >= 50) THEN RETURN NULL; END IF;
    INSERT INTO drover.report_schedule (account, report, span, narrowed_to, fleet, format, units, cron, zone, mail_to)
        VALUES (me, a_report, a_span, a_narrowing, a_fleet, a_format, the_units, a_cron, a_zone,
            CASE WHEN is_mailed THEN ARRAY[me] ELSE '{}' END)
        RETURNING schedule_id INTO made;
    RETURN made;
END $$;
REVOKE ALL ON FUNCTION drover.add_report_schedule(a_report text, a_span text, a_narrowing text, a_fleet text, a_format text, the_units text, a_cron text, a_zone text, is_mailed boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.add_report_schedule(a_report text, a_span text, a_narrowing text, a_fleet text, a_format text, the_units text, a_cron text, a_zone text, is_mailed boolean) TO drover_page;

-- Roles, and whether somebody may log in, by the same ways as the command. False: not by an administrator, there is no such account, or
-- nobody would be left who is one.
CREATE FUNCTION drover.administer_account(an_account text, new_roles text[], is_enabled boolean) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF (NOT 'administrator' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    PERFORM drover.take_turn('drover.account');
    IF (NOT (is_enabled AND 'administrator' = ANY (new_roles)) AND NOT EXISTS (
            SELECT FROM drover.account a WHERE a.account <> an_account AND a.disabled_at IS NULL AND a.password IS NOT NULL
                AND 'administrator' = ANY (a.roles))) THEN
        RETURN false;
    END IF;
    UPDATE drover.account a SET roles = new_roles WHERE a.account = an_account AND (a.mail IS NOT NULL OR NOT is_enabled);
    IF NOT FOUND THEN RETURN false; END IF;
    RETURN CASE WHEN is_enabled THEN drover.enable_account(an_account) ELSE drover.disable_account(an_account) END;
END $$;
REVOKE ALL ON FUNCTION drover.administer_account(an_account text, new_roles text[], is_enabled boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.administer_account(an_account text, new_roles text[], is_enabled boolean) TO drover_page;

-- False: not by an administrator, there is no such account, or nobody would be left who is one.
CREATE FUNCTION drover.administer_erasure(an_account text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF (NOT 'administrator' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    PERFORM drover.take_turn('drover.account');
    IF (NOT EXISTS (
            SELECT FROM drover.account a WHERE a.account <> an_account AND a.disabled_at IS NULL AND a.password IS NOT NULL
                AND 'administrator' = ANY (a.roles))) THEN
        RETURN false;
    END IF;
    RETURN drover.erase_account(an_account);
END $$;
REVOKE ALL ON FUNCTION drover.administer_erasure(an_account text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.administer_erasure(an_account text) TO drover_page;

-- Makes or changes a fleet with all that it holds: `vehicles` as `machine mtg-1`. False: not by an administrator, or an
-- account or fleet is not there, or fleets would be nested twice; then nothing is changed.
CREATE FUNCTION drover.administer_fleet(a_fleet text, a_name text, is_part_of text, the_vehicles text[], the_members text[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF (NOT 'administrator' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    INSERT INTO drover.fleet AS f (fleet, name, part_of) VALUES (a_fleet, a_name, is_part_of)
        ON CONFLICT (fleet) DO UPDATE SET name = EXCLUDED.name, part_of = EXCLUDED.part_of;
    DELETE FROM drover.fleet_vehicle v WHERE v.fleet = a_fleet AND v.kind || ' ' || v.vehicle <> ALL (the_vehicles);
    INSERT INTO drover.fleet_vehicle (fleet, kind, vehicle)
        SELECT DISTINCT a_fleet, split_part(v, ' ', 1), split_part(v, ' ', 2) FROM unnest(the_vehicles) v ON CONFLICT DO NOTHING;
    DELETE FROM drover.fleet_member m WHERE m.fleet = a_fleet AND m.account <> ALL (the_members);
    INSERT INTO drover.fleet_member (fleet, account) SELECT DISTINCT a_fleet, m FROM unnest(the_members) m ON CONFLICT DO NOTHING;
    RETURN true;
EXCEPTION WHEN foreign_key_violation OR check_violation THEN
    RETURN false;
END $$;
REVOKE ALL ON FUNCTION drover.administer_fleet(a_fleet text, a_name text, is_part_of text, the_vehicles text[], the_members text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.administer_fleet(a_fleet text, a_name text, is_part_of text, the_vehicles text[], the_members text[]) TO drover_page;

-- An administrator's invitation: an account with a role, in a fleet or none, and a link for its first password, mailed where mail can be
-- sent. `invited`; `known`: somebody has this mail address; `taken`: somebody has this id; `fleet`: there is no such fleet; `many`: too
-- many invitations wait; `refused`: the asker is no administrator.
CREATE FUNCTION drover.administer_invitation(new_account text, a_mail text, new_roles text[], a_fleet text, a_link bytea, new_mail_id text, a_subject text, a_body bytea) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    ends_at timestamptz := now() + interval '7 days';
BEGIN
    IF NOT 'administrator' = ANY (drover.sight_roles()) THEN RETURN 'refused'; END IF;
    PERFORM drover.take_turn('drover.account');
    IF EXISTS (SELECT FROM drover.account a WHERE lower(a.mail) = lower(a_mail)) THEN RETURN 'known'; END IF;
    IF EXISTS (SELECT FROM drover.account a WHERE a.account = new_account) THEN RETURN 'taken'; END IF;
    -- Nor that of a program, or of somebody who drove or owned a car before they had an account: they would be this one's.
    IF new_account = 'installation' OR EXISTS (SELECT FROM drover.token t WHERE t.account = new_account)
        OR EXISTS (SELECT FROM drover.car_owner o WHERE o.account = new_account)
        OR EXISTS (SELECT FROM drover.registration r WHERE r.account = new_account)
        OR EXISTS (SELECT FROM drover.assignment g WHERE g.account = new_account)
        OR EXISTS (SELECT FROM drover.driving d WHERE d.account = new_account)
        OR EXISTS (SELECT FROM drover.first_writer w WHERE w.account = new_account)
        OR EXISTS (SELECT FROM drover.account_settings s WHERE s.account = new_account) THEN RETURN 'taken'; END IF;
    IF a_fleet <> '' AND NOT EXISTS (SELECT FROM drover.fleet f WHERE f.fleet = a_fleet) THEN RETURN 'fleet'; END IF;
    DELETE FROM drover.account_link l WHERE l.expires_at < now();
    IF (SELECT count(*) FROM (SELECT FROM drover.account_link l WHERE l.purpose = 'password' LIMIT 500) waiting) = 500 THEN RETURN 'many'; END IF;
    INSERT INTO drover.account (account, mail, roles) VALUES (new_account, a_mail, new_roles);
    IF a_fleet <> '' THEN INSERT INTO drover.fleet_member (fleet, account) VALUES (a_fleet, new_account); END IF;
    INSERT INTO drover.account_link (digest, account, purpose, expires_at) VALUES (a_link, new_account, 'password', ends_at);
    IF new_mail_id IS NOT NULL THEN
        INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at)
            VALUES (new_mail_id, a_mail, a_subject, a_body, true, ends_at);
    END IF;
    RETURN 'invited';
END $$;
REVOKE ALL ON FUNCTION drover.administer_invitation(new_account text, a_mail text, new_roles text[], a_fleet text, a_link bytea, new_mail_id text, a_subject text, a_body bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.administer_invitation(new_account text, a_mail text, new_roles text[], a_fleet text, a_link bytea, new_mail_id text, a_subject text, a_body bytea) TO drover_page;

-- For functions that know of no device, and for the program before.
CREATE FUNCTION drover.admit_account_try(a_mail text, a_remote text, for_mail boolean) RETURNS boolean
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ SELECT drover.admit_account_try(a_mail, a_remote, for_mail, NULL) $$;
REVOKE ALL ON FUNCTION drover.admit_account_try(a_mail text, a_remote text, for_mail boolean) FROM PUBLIC;

-- For functions that know of no device, and for the program before.
CREATE FUNCTION drover.admit_account_try(a_mail text, a_remote text, for_mail boolean, a_device bytea) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    of_pair int; of_mail int; of_remote int; of_device int;
    since timestamptz := now() - CASE WHEN for_mail THEN interval '1 hour' ELSE interval '15 minutes' END;
    few int := CASE WHEN for_mail THEN 5 ELSE 10 END;
    is_known boolean;
BEGIN
    PERFORM drover.take_turn('drover.account_try');
    DELETE FROM drover.account_try t WHERE t.tried_at < now() - interval '1 hour';
    SELECT EXISTS (SELECT FROM drover.account a WHERE lower(a.mail) = lower(a_mail) AND (
            EXISTS (SELECT FROM drover.account_device d
                WHERE d.account = a.account AND d.digest = a_device AND d.last_used_at > now() - interval '1 year')
            OR EXISTS (SELECT FROM drover.account_session s WHERE s.account = a.account AND s.digest = a_device AND drover.is_session_open(s))))
        INTO is_known;
    IF is_known THEN
        SELECT count(*) INTO of_device FROM drover.account_try t
            WHERE t.mail = lower(a_mail) AND t.device = a_device AND t.is_mail = for_mail AND t.tried_at > since;
        IF of_device >= few THEN RETURN false; END IF;
    ELSE
        SELECT count(*) FILTER (WHERE t.remote = a_remote), count(*) INTO of_pair, of_mail FROM drover.account_try t
            WHERE t.mail = lower(a_mail) AND t.device IS NULL AND t.is_mail = for_mail AND t.tried_at > since;
        SELECT count(*) INTO of_remote FROM drover.account_try t
            WHERE t.remote = a_remote AND t.device IS NULL AND t.is_mail = for_mail AND t.tried_at > since;
        IF (of_pair >= few OR of_mail >= CASE WHEN for_mail THEN 20 ELSE 100 END
            OR of_remote >= CASE WHEN for_mail THEN 30 ELSE 100 END) THEN
            RETURN false;
        END IF;
    END IF;
    INSERT INTO drover.account_try (mail, remote, is_mail, device)
        VALUES (lower(a_mail), a_remote, for_mail, CASE WHEN is_known THEN a_device END);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.admit_account_try(a_mail text, a_remote text, for_mail boolean, a_device bytea) FROM PUBLIC;

-- Counts the request; false: too many. What somebody asks for or tries counts for who asks: of a bound for all together one account, in seconds,
-- kept all campuses from theirs, and three requests of a stranger kept a person from codes for 15 minutes, ten for a day. Of one
-- account 20 an hour, of an address, which many phones may have, 300; of these for one person three in 15 minutes, and ten a day (an address:
-- 30); of tries five or six times as many. What all together may try of one person's is beyond what a few askers can, and bounds who guesses.
CREATE FUNCTION drover.admit_code_request(for_campus text, for_person text, try boolean) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    quarter int; day int; hour int;
BEGIN
    PERFORM drover.take_turn('drover.code_request');
    DELETE FROM drover.code_request WHERE asked_at < now() - interval '1 day';
    SELECT count(*) FILTER (WHERE r.asked_at > now() - interval '15 minutes'), count(*) INTO quarter, day
        FROM drover.code_request r WHERE r.campus = for_campus AND r.person = for_person AND r.is_try = try;
    SELECT count(*) INTO hour FROM drover.code_request r
        WHERE r.is_try = try AND r.asked_at > now() - interval '1 hour';
    IF try AND (quarter >= 20 OR day >= 60 OR hour >= 5000) OR NOT try AND (quarter >= 3 OR day >= 10 OR hour >= 1000) THEN
        RETURN false;
    END IF;
    INSERT INTO drover.code_request (campus, person, is_try) VALUES (for_campus, for_person, try);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.admit_code_request(for_campus text, for_person text, try boolean) FROM PUBLIC;

-- Counts the request; false: too many. What somebody asks for or tries counts for who asks: of a bound for all together one account, in seconds,
-- kept all campuses from theirs, and three requests of a stranger kept a person from codes for 15 minutes, ten for a day. Of one
-- account 20 an hour, of an address, which many phones may have, 300; of these for one person three in 15 minutes, and ten a day (an address:
-- 30); of tries five or six times as many. What all together may try of one person's is beyond what a few askers can, and bounds who guesses.
CREATE FUNCTION drover.admit_code_request(for_campus text, for_person text, try boolean, an_asker text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    many int := CASE WHEN an_asker LIKE 'account %' THEN 1 ELSE 3 END;
    hour int; own_hour int; quarter int; own_quarter int; day int; own_day int;
BEGIN
    IF an_asker IS NULL THEN RETURN drover.admit_code_request(for_campus, for_person, try); END IF;
    an_asker := drover.code_asker(an_asker);
    PERFORM drover.take_turn('drover.code_request');
    DELETE FROM drover.code_request WHERE asked_at < now() - interval '1 day';
    SELECT count(*) FILTER (WHERE r.asked_at > now() - interval '15 minutes'), count(*),
            count(*) FILTER (WHERE r.asker = an_asker AND r.asked_at > now() - interval '15 minutes'), count(*) FILTER (WHERE r.asker = an_asker)
        INTO quarter, day, own_quarter, own_day
        FROM drover.code_request r WHERE r.campus = for_campus AND r.person = for_person AND r.is_try = try;
    SELECT count(*) INTO hour FROM drover.code_request r WHERE r.is_try = try AND r.asked_at > now() - interval '1 hour';
    SELECT count(*) INTO own_hour FROM drover.code_request r WHERE r.asker = an_asker AND r.is_try = try AND r.asked_at > now() - interval '1 hour';
    IF try AND (own_quarter >= 20 OR own_day >= 60 * many OR own_hour >= 100 * (CASE many WHEN 1 THEN 1 ELSE 15 END)
                OR quarter >= 100 OR day >= 1000 OR hour >= 5000)
        OR NOT try AND (own_quarter >= 3 OR own_day >= 10 * many OR own_hour >= 20 * (CASE many WHEN 1 THEN 1 ELSE 15 END) OR hour >= 1000) THEN
        RETURN false;
    END IF;
    INSERT INTO drover.code_request (campus, person, is_try, asker) VALUES (for_campus, for_person, try, an_asker);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.admit_code_request(for_campus text, for_person text, try boolean, an_asker text) FROM PUBLIC;

-- Counts what goes out; what is more than the statement may bring ends it before it leaves the server.
CREATE FUNCTION drover.admit_row(row_bytes integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
DECLARE
    total bigint := pg_catalog.current_setting('drover.question_bytes')::bigint - row_bytes;
BEGIN
    IF total < 0 THEN RAISE EXCEPTION 'the answer is too long' USING ERRCODE = 'program_limit_exceeded'; END IF;
    PERFORM pg_catalog.set_config('drover.question_bytes', total::text, true);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.admit_row(row_bytes integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.admit_row(row_bytes integer) TO drover_query;

-- Whom the reader can give this alert to: people they know who may take care of it. None: it is not the reader's to give.
CREATE FUNCTION drover.alert_people(an_alert text) RETURNS TABLE(account text, name text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 20
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH asked AS MATERIALIZED (
        SELECT a.kind, a.vehicle, a.audience, a.account AS driver FROM drover.alert a
        WHERE a.alert_id = an_alert AND drover.may_do('alert', a.kind, a.vehicle, now(), now())
    ), colleague AS MATERIALIZED (
        SELECT c.account FROM drover.colleagues() c
    ), known AS (
        SELECT drover.sight_account() AS account
        UNION
        SELECT m.account FROM asked JOIN drover.fleet_vehicle v ON v.kind = asked.kind AND v.vehicle = asked.vehicle
            JOIN drover.fleet f ON f.fleet = v.fleet JOIN drover.fleet_member m ON m.fleet IN (f.fleet, f.part_of)
            WHERE drover.sees_all() OR m.account IN (SELECT c.account FROM colleague c)
        UNION
        SELECT d.dealer FROM asked JOIN drover.dealership d ON d.vehicle = asked.vehicle
            WHERE asked.kind = 'machine' AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL
                AND (drover.sees_all() OR drover.is_of_its_fleet(drover.sight_account(), 'machine', asked.vehicle))
        UNION
        SELECT asked.driver FROM asked
        UNION
        SELECT p.account FROM drover.account p WHERE drover.sees_all() AND p.roles && ARRAY['operator', 'administrator']
    )
    SELECT p.account, trim(p.first_name || ' ' || p.last_name)
    FROM known JOIN drover.account p USING (account) CROSS JOIN asked
    WHERE p.disabled_at IS NULL
        AND (p.roles && ARRAY['farmer', 'dealer', 'developer', 'fleet_manager', 'operator', 'administrator']
            OR (asked.kind = 'car' AND 'driver' = ANY (p.roles)))
        AND (asked.audience = 'farmer' OR p.roles && ARRAY['developer', 'operator', 'administrator']
            OR (asked.audience = 'dealer' AND 'dealer' = ANY (p.roles)))
        AND drover.may_write(p.account, 'alert', asked.kind, asked.vehicle, now(), now()) = 'yes'
    ORDER BY 2, 1 LIMIT 200
$$;
REVOKE ALL ON FUNCTION drover.alert_people(an_alert text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.alert_people(an_alert text) TO drover_page;

-- Who was told of this alert, and on which way, or why not: the reader's own notices, and, to whoever may take care of it, those of people
-- they know. The latest come first.
CREATE FUNCTION drover.alert_told(an_alert text) RETURNS TABLE(account text, name text, occasion text, state text, reason text, decided_at timestamp with time zone, due_at timestamp with time zone, channel text, message_state text, message_at timestamp with time zone, link_used_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 20
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT n.account, trim(p.first_name || ' ' || p.last_name), n.occasion, n.state, n.reason, n.decided_at, n.due_at, m.channel, m.state,
        coalesce(m.settled_at, m.made_at), m.link_used_at
    FROM drover.notice n
    JOIN drover.alert a ON a.alert_id = n.alert_id
    LEFT JOIN drover.account p ON p.account = n.account
    LEFT JOIN drover.notice_told t ON t.notice_id = n.notice_id
    LEFT JOIN drover.notice_message m ON m.message_id = t.message_id
    WHERE n.alert_id = an_alert AND (n.account = drover.sight_account() OR drover.sees_all()
        OR (drover.may_do('alert', a.kind, a.vehicle, now(), now()) AND n.account IN (SELECT c.account FROM drover.colleagues() c)))
    ORDER BY n.decided_at DESC, n.account, n.notice_id, m.channel LIMIT 200
$$;
REVOKE ALL ON FUNCTION drover.alert_told(an_alert text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.alert_told(an_alert text) TO drover_page;

-- Keeps a code and the mail that brings it, which is for somebody of a roster, if there is such a person. What it returns does not say whether
-- there is: false is `too many`. A person gets six mails in 15 minutes, whoever asks; beyond that the code of the newest one stays good
-- instead, so that nobody is kept from theirs. Where that one is over or nearly so, another comes.
CREATE FUNCTION drover.ask_code(for_campus text, for_person text, code_digest bytea, new_mail_id text, mail_subject text, sealed_body bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF NOT drover.admit_code_request(for_campus, for_person, false) THEN RETURN false; END IF;
    DELETE FROM drover.person_code WHERE expires_at < now();
    WITH known AS (
        SELECT p.mail FROM drover.person p
        WHERE p.campus = for_campus AND p.person = for_person AND p.left_at IS NULL AND p.disabled_at IS NULL
    ), kept AS (
        INSERT INTO drover.person_code (campus, person, digest, expires_at)
        SELECT for_campus, for_person, code_digest, now() + interval '15 minutes' FROM known
        ON CONFLICT (campus, person) DO UPDATE
            SET digest = EXCLUDED.digest, expires_at = EXCLUDED.expires_at, tries = 0
    )
    INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at, is_for_person)
    SELECT new_mail_id, known.mail, mail_subject, sealed_body, true, now() + interval '15 minutes', true FROM known;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.ask_code(for_campus text, for_person text, code_digest bytea, new_mail_id text, mail_subject text, sealed_body bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.ask_code(for_campus text, for_person text, code_digest bytea, new_mail_id text, mail_subject text, sealed_body bytea) TO drover_api;

-- Keeps a code and the mail that brings it, which is for somebody of a roster, if there is such a person. What it returns does not say whether
-- there is: false is `too many`. A person gets six mails in 15 minutes, whoever asks; beyond that the code of the newest one stays good
-- instead, so that nobody is kept from theirs. Where that one is over or nearly so, another comes.
CREATE FUNCTION drover.ask_code(for_campus text, for_person text, code_digest bytea, new_mail_id text, mail_subject text, sealed_body bytea, an_asker text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF NOT drover.admit_code_request(for_campus, for_person, false, an_asker) THEN RETURN false; END IF;
    DELETE FROM drover.person_code WHERE expires_at < now();
    IF (SELECT count(*) FROM drover.code_request r WHERE r.campus = for_campus AND r.person = for_person AND NOT r.is_try
                AND r.asked_at > now() - interval '15 minutes') > 6
        AND EXISTS (SELECT FROM drover.person_code c WHERE c.campus = for_campus AND c.person = for_person AND c.tries < 50
                AND c.expires_at > now() + interval '5 minutes') THEN
        RETURN true;
    END IF;
    WITH known AS (
        SELECT p.mail FROM drover.person p
        WHERE p.campus = for_campus AND p.person = for_person AND p.left_at IS NULL AND p.disabled_at IS NULL
    ), kept AS (
        INSERT INTO drover.person_code (campus, person, digest, expires_at)
        SELECT for_campus, for_person, code_digest, now() + interval '15 minutes' FROM known
        ON CONFLICT (campus, person) DO UPDATE
            SET digest = EXCLUDED.digest, expires_at = EXCLUDED.expires_at, tries = 0
    )
    INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at, is_for_person)
    SELECT new_mail_id, known.mail, mail_subject, sealed_body, true, now() + interval '15 minutes', true FROM known;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.ask_code(for_campus text, for_person text, code_digest bytea, new_mail_id text, mail_subject text, sealed_body bytea, an_asker text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.ask_code(for_campus text, for_person text, code_digest bytea, new_mail_id text, mail_subject text, sealed_body bytea, an_asker text) TO drover_api;

-- A dealer asks for a machine; its owners get the mail (NULL: none is sent). It does not say whether there is such a machine: `true` means that it
-- was taken. At most fifty questions a dealer, those that were taken back within a day included, so that nobody asks for all serial numbers there
-- are, and one mail a day about a machine: who asked, ended it and asked again sent the owners of any machine a mail each time.
CREATE FUNCTION drover.ask_dealership(a_vehicle text, new_mail_id text, a_subject text, a_body bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    asker text := drover.sight_account();
    is_again boolean;
BEGIN
    IF (NOT 'dealer' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    PERFORM drover.take_turn('drover.dealership ' || asker);
    IF ((SELECT count(*) FROM drover.dealership d WHERE d.dealer = asker AND d.confirmed_at IS NULL
            AND (d.ended_at IS NULL OR d.asked_at > now() - interval '1 day')) >= 50) THEN
        RETURN false;
    END IF;
    is_again := EXISTS (SELECT FROM drover.dealership d WHERE d.dealer = asker AND d.vehicle = a_vehicle AND d.asked_at > now() - interval '1 day');
    INSERT INTO drover.dealership (vehicle, dealer) VALUES (a_vehicle, asker) ON CONFLICT (vehicle, dealer) WHERE ended_at IS NULL DO NOTHING;
    IF FOUND AND NOT is_again THEN
        INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at)
            SELECT new_mail_id || '-' || row_number() OVER (ORDER BY o), a.mail, a_subject, a_body, true, now() + interval '7 days'
            FROM drover.owners_of_machine(a_vehicle) o JOIN drover.account a ON a.account = o WHERE a.mail IS NOT NULL AND new_mail_id IS NOT NULL;
    END IF;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.ask_dealership(a_vehicle text, new_mail_id text, a_subject text, a_body bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.ask_dealership(a_vehicle text, new_mail_id text, a_subject text, a_body bytea) TO drover_page;

-- Mails a link for a new password, if there is such an account. False: too many.
CREATE FUNCTION drover.ask_password_link(a_mail text, a_remote text, a_link bytea, new_mail_id text, a_subject text, a_body bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    known drover.account;
BEGIN
    IF NOT drover.admit_account_try(a_mail, a_remote, true) THEN RETURN false; END IF;
    DELETE FROM drover.account_link WHERE expires_at < now();
    SELECT a.* INTO known FROM drover.account a WHERE lower(a.mail) = lower(a_mail) AND a.disabled_at IS NULL;
    IF FOUND THEN
        DELETE FROM drover.account_link l WHERE l.account = known.account AND l.purpose = 'password';
        INSERT INTO drover.account_link (digest, account, purpose, expires_at)
            VALUES (a_link, known.account, 'password', now() + interval '1 hour');
        INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at)
            VALUES (new_mail_id, known.mail, a_subject, a_body, true, now() + interval '1 hour');
    END IF;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.ask_password_link(a_mail text, a_remote text, a_link bytea, new_mail_id text, a_subject text, a_body bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.ask_password_link(a_mail text, a_remote text, a_link bytea, new_mail_id text, a_subject text, a_body bytea) TO drover_api;

-- Of the days that are over now. Once a minute at most, and twenty an hour of an account: fifty schedules were fifty reports a minute, which one
-- relay makes for everybody.
CREATE FUNCTION drover.ask_report_run(a_schedule bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF (NOT drover.holds_schedule(a_schedule)) THEN RETURN false; END IF;
    IF (SELECT count(*) FROM drover.report_run r JOIN drover.report_schedule s USING (schedule_id)
            WHERE s.account = (SELECT o.account FROM drover.report_schedule o WHERE o.schedule_id = a_schedule)
                AND r.is_asked AND r.due_at > now() - interval '1 hour') >= 20 THEN RETURN false; END IF;
    INSERT INTO drover.report_run (schedule_id, due_at, is_asked)
        SELECT s.schedule_id, date_trunc('minute', now()), true FROM drover.report_schedule s
        WHERE s.schedule_id = a_schedule AND s.account IS NOT NULL
        ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION drover.ask_report_run(a_schedule bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.ask_report_run(a_schedule bigint) TO drover_page;

-- As whom this is asked. `current_user` would be the owner's in functions and views that run as their owner.
CREATE FUNCTION drover.asking_role() RETURNS name
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END
$$;
REVOKE ALL ON FUNCTION drover.asking_role() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.asking_role() TO drover_reader, drover_relay, drover_researcher, drover_sight, drover_writer;

-- To whom: oneself, and drivers of the car's fleets that one keeps. An assignment opens sight of the car's drives, so it is nobody's of another
-- customer. Who runs the installation chooses among all drivers. No row: who looks may not say it.
CREATE FUNCTION drover.assignable(a_vehicle text) RETURNS TABLE(account text, is_assigned boolean)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 20
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH now_assigned AS (SELECT a.account FROM drover.assignment a WHERE a.vehicle = a_vehicle AND a.assigned_at <= now()
        ORDER BY a.assigned_at DESC LIMIT 1)
    SELECT n.account, true FROM now_assigned n WHERE n.account IS NOT NULL AND drover.may_assign(a_vehicle)
    UNION ALL
    (SELECT p.account, false FROM drover.account p
    WHERE drover.may_assign(a_vehicle) AND p.disabled_at IS NULL AND NOT EXISTS (SELECT FROM now_assigned n WHERE n.account = p.account) AND 'driver' = ANY (p.roles) AND (
        drover.sight_roles() && ARRAY['operator', 'administrator'] OR p.account = drover.sight_account()
        OR p.account IN (SELECT m.account FROM drover.fleet_vehicle v
            JOIN drover.fleet f ON f.fleet = v.fleet JOIN drover.fleet_member m ON m.fleet = f.fleet OR m.fleet = f.part_of
            WHERE v.kind = 'car' AND v.vehicle = a_vehicle AND v.fleet IN (SELECT drover.kept_fleets())))
    ORDER BY p.account COLLATE "C" LIMIT 1000)
$$;
REVOKE ALL ON FUNCTION drover.assignable(a_vehicle text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.assignable(a_vehicle text) TO drover_page;

-- To whom a car was assigned when; what goes on with the same driver is one.
CREATE FUNCTION drover.assigned_spans(a_vehicle text) RETURNS TABLE(account text, from_at timestamp with time zone, until_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 10
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT a.account, a.assigned_at, lead(a.assigned_at, 1, 'infinity') OVER (ORDER BY a.assigned_at)
    FROM (SELECT a.account, a.assigned_at, lag(a.account) OVER (ORDER BY a.assigned_at) AS before
          FROM drover.assignment a WHERE a.vehicle = a_vehicle) a
    WHERE a.account IS DISTINCT FROM a.before
$$;
REVOKE ALL ON FUNCTION drover.assigned_spans(a_vehicle text) FROM PUBLIC;

CREATE FUNCTION drover.audit_append(an_action text, an_actor text, a_subject text, a_remote text, a_detail text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    head drover.audit_head; made drover.audit_entry;
BEGIN
    SELECT h.* INTO STRICT head FROM drover.audit_head h FOR UPDATE;
    made.sequence := head.sequence + 1;
    made.at := clock_timestamp();
    made.action := an_action;
    made.actor := drover.audit_digest(an_actor, an_actor);
    made.subject := drover.audit_digest(a_subject, a_subject);
    -- An address goes with whom it tells of.
    made.remote := drover.audit_digest(coalesce(an_actor, a_subject, ''), a_remote);
    made.detail := a_detail;
    made.hash := sha256(head.hash || drover.audit_bytes(made));
    INSERT INTO drover.audit_entry SELECT made.*;
    UPDATE drover.audit_head h SET sequence = made.sequence, hash = made.hash;
END $$;
REVOKE ALL ON FUNCTION drover.audit_append(an_action text, an_actor text, a_subject text, a_remote text, a_detail text) FROM PUBLIC;

-- What an entry's hash is over, behind the hash before. Sources/Stream/Storage/Audit/AuditEntry.swift has the same.
CREATE FUNCTION drover.audit_bytes(e drover.audit_entry) RETURNS bytea
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT convert_to(concat_ws(E'\n', e.sequence, (extract(epoch FROM e.at) * 1000000)::bigint, e.action,
        coalesce(encode(e.actor, 'hex'), ''), coalesce(encode(e.subject, 'hex'), ''), coalesce(encode(e.remote, 'hex'), ''), e.detail), 'UTF8')
$$;
REVOKE ALL ON FUNCTION drover.audit_bytes(e drover.audit_entry) FROM PUBLIC;

-- Counts of minutes and hours that are over. Rows that somebody holds wait for the next call.
CREATE FUNCTION drover.audit_close() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    over drover.audit_tally;
BEGIN
    FOR over IN DELETE FROM drover.audit_tally t WHERE (t.action, t.bucket_at, t.key) IN (
            SELECT o.action, o.bucket_at, o.key FROM drover.audit_tally o WHERE o.ends_at <= now() ORDER BY o.ends_at LIMIT 20 FOR UPDATE SKIP LOCKED)
        RETURNING t.*
    LOOP
        CONTINUE WHEN over.times = 1;
        PERFORM drover.audit_append(over.action, over.actor, over.subject, over.remote, (over.detail::jsonb
            || jsonb_build_object('times', over.times, 'since', to_char(over.bucket_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')))::text);
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION drover.audit_close() FROM PUBLIC;

-- An attacker has a great many addresses, and a program of ours a great many vehicles: what is beyond `most` in a minute or an hour is one row.
CREATE FUNCTION drover.audit_count(an_action text, a_width interval, most integer, an_actor text, a_subject text, a_remote text, a_detail text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    bucket timestamptz := date_bin(a_width, now(), 'epoch');
    wanted bytea := sha256(convert_to(concat_ws(E'\n', coalesce(an_actor, ''), coalesce(a_subject, ''), coalesce(a_remote, ''), a_detail), 'UTF8'));
    counted bigint;
BEGIN
    UPDATE drover.audit_tally t SET times = t.times + 1 WHERE t.action = an_action AND t.bucket_at = bucket AND t.key = wanted;
    IF FOUND THEN RETURN; END IF;
    -- Of accounts that exist apart from the others: rubbish does not hide what is tried on these.
    IF (SELECT count(*) FROM drover.audit_tally t WHERE t.action = an_action AND t.bucket_at = bucket AND t.is_known = (a_subject IS NOT NULL)
            AND t.actor IS NOT DISTINCT FROM an_actor) >= most THEN
        wanted := convert_to(concat_ws(' ', 'others', a_subject IS NOT NULL, an_actor), 'UTF8');
        a_remote := NULL;
        a_detail := '{"others": true}';
    END IF;
    INSERT INTO drover.audit_tally AS t (action, bucket_at, ends_at, key, is_known, actor, subject, remote, detail)
        VALUES (an_action, bucket, bucket + a_width, wanted, a_subject IS NOT NULL, an_actor,
            CASE WHEN a_detail = '{"others": true}' THEN NULL ELSE a_subject END, a_remote, a_detail)
        ON CONFLICT (action, bucket_at, key) DO UPDATE SET times = t.times + 1 RETURNING t.times INTO counted;
    IF counted = 1 THEN
        PERFORM drover.audit_append(an_action, an_actor, CASE WHEN a_detail = '{"others": true}' THEN NULL ELSE a_subject END, a_remote, a_detail);
    END IF;
END $$;
REVOKE ALL ON FUNCTION drover.audit_count(an_action text, a_width interval, most integer, an_actor text, a_subject text, a_remote text, a_detail text) FROM PUBLIC;

-- Precondition: the head is held, or an erasure could come between.
CREATE FUNCTION drover.audit_digest(an_account text, a_said text) RETURNS bytea
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    found_digest bytea; new_salt bytea;
BEGIN
    IF a_said IS NULL OR a_said = '' THEN RETURN NULL; END IF;
    SELECT n.digest INTO found_digest FROM drover.audit_name n WHERE n.account = left(an_account, 64) AND n.said = left(a_said, 64);
    IF FOUND THEN RETURN found_digest; END IF;
    new_salt := sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));
    found_digest := sha256(new_salt || convert_to(left(an_account, 64) || E'\n' || left(a_said, 64), 'UTF8'));
    INSERT INTO drover.audit_name (digest, account, said, salt) VALUES (found_digest, left(an_account, 64), left(a_said, 64), new_salt);
    RETURN found_digest;
END $$;
REVOKE ALL ON FUNCTION drover.audit_digest(an_account text, a_said text) FROM PUBLIC;

-- Whom the entries mean is forgotten; the entries stay, under digests that belong to nobody.
CREATE FUNCTION drover.audit_forget(an_account text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '5s'
    AS $$
BEGIN
    -- Whoever counts holds rows of it and wants the head, which is held from here on.
    LOCK TABLE drover.audit_tally IN SHARE ROW EXCLUSIVE MODE;
    -- What is told at the commit would bring the name back.
    SET CONSTRAINTS ALL IMMEDIATE;
    DELETE FROM drover.audit_tally t WHERE t.actor = an_account OR t.subject = an_account;
    PERFORM drover.audit_append('account_erased',
        coalesce(nullif(current_setting('drover.account', true), ''), nullif(current_setting('drover.audit_by', true), '')), an_account, NULL, '{}');
    DELETE FROM drover.audit_name n WHERE n.account = an_account;
END $$;
REVOKE ALL ON FUNCTION drover.audit_forget(an_account text) FROM PUBLIC;

-- Whether the asker reads the log at all.
CREATE FUNCTION drover.audit_is_read() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT coalesce('administrator' = ANY (drover.sight_roles()), false)
$$;
REVOKE ALL ON FUNCTION drover.audit_is_read() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.audit_is_read() TO drover_page;

-- The log as programs of administrators collect it, the oldest first, with all that the hashes are over; filters that are NULL let all
-- through. Who is no administrator gets nothing.
CREATE FUNCTION drover.audit_listed(an_account text, the_actions text[], since_at timestamp with time zone, until_at timestamp with time zone, after_sequence bigint, most integer) RETURNS TABLE(sequence bigint, at_us bigint, action text, actor bytea, subject bytea, remote bytea, detail text, hash bytea, actor_said text, subject_said text, remote_said text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    wanted bytea[];
BEGIN
    IF ('administrator' = ANY (drover.sight_roles())) IS NOT TRUE THEN RETURN; END IF;
    IF an_account IS NOT NULL THEN wanted := ARRAY(SELECT n.digest FROM drover.audit_name n WHERE n.said = an_account); END IF;
    RETURN QUERY SELECT e.sequence, (extract(epoch FROM e.at) * 1000000)::bigint, e.action, e.actor, e.subject, e.remote, e.detail, e.hash,
            a.said, s.said, r.said
        FROM drover.audit_entry e
        LEFT JOIN drover.audit_name a ON a.digest = e.actor
        LEFT JOIN drover.audit_name s ON s.digest = e.subject
        LEFT JOIN drover.audit_name r ON r.digest = e.remote
        WHERE (wanted IS NULL OR e.actor = ANY (wanted) OR e.subject = ANY (wanted))
            AND (the_actions IS NULL OR e.action = ANY (the_actions))
            AND (since_at IS NULL OR e.at >= since_at) AND (until_at IS NULL OR e.at < until_at)
            AND (after_sequence IS NULL OR e.sequence > after_sequence)
        ORDER BY e.sequence LIMIT least(most, 1001);
END $$;
REVOKE ALL ON FUNCTION drover.audit_listed(an_account text, the_actions text[], since_at timestamp with time zone, until_at timestamp with time zone, after_sequence bigint, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.audit_listed(an_account text, the_actions text[], since_at timestamp with time zone, until_at timestamp with time zone, after_sequence bigint, most integer) TO drover_page;

-- Tokens of people of campuses, whoever makes or ends them. Somebody of a roster is `campus/person`, who need not have an account.
CREATE FUNCTION drover.audit_person_token() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '5s'
    AS $$
DECLARE
    by_account text := coalesce(nullif(current_setting('drover.account', true), ''), nullif(current_setting('drover.audit_by', true), ''));
    login jsonb := CASE WHEN nullif(current_setting('drover.account', true), '') IS NULL THEN jsonb_build_object('login', session_user) ELSE '{}' END;
    its_role text := (SELECT p.role FROM drover.person p WHERE p.campus = NEW.campus AND p.person = NEW.person);
BEGIN
    PERFORM drover.audit_append(CASE TG_OP WHEN 'INSERT' THEN 'campus_token_added' ELSE 'campus_token_revoked' END, by_account,
        NEW.campus || '/' || NEW.person, NULL,
        (jsonb_build_object('campus', NEW.campus, 'role', its_role, 'token', left(encode(NEW.digest, 'hex'), 12)) || login)::text);
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION drover.audit_person_token() FROM PUBLIC;

-- All that services may do here; reports that schedules mail are counted, too. Who is held to an account's sight is that account, whatever is
-- said. A subject with an @ is a mail address, of which only the account is kept that has it.
CREATE FUNCTION drover.audit_record(an_action text, an_actor text, a_subject text, a_remote text, a_detail text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '5s'
    AS $$
DECLARE
    whose text;
BEGIN
    -- Before the head, always: `audit_forget`.
    LOCK TABLE drover.audit_tally IN ROW EXCLUSIVE MODE;
    an_actor := coalesce(nullif(current_setting('drover.account', true), ''), an_actor, nullif(current_setting('drover.audit_by', true), ''));
    IF position('@' IN a_subject) > 0 THEN
        a_subject := (SELECT a.account FROM drover.account a WHERE lower(a.mail) = lower(a_subject));
    END IF;
    CASE an_action
    -- What anybody may do as often as they like.
    WHEN 'log_in', 'log_out', 'session_ended' THEN
        PERFORM drover.audit_count(an_action, interval '1 minute', 60, coalesce(an_actor, a_subject), NULL, a_remote, a_detail);
    WHEN 'report_run', 'report_mailed', 'query_run', 'export_taken' THEN
        PERFORM drover.audit_count(an_action, interval '1 hour', 200, an_actor, a_subject, a_remote, a_detail);
    WHEN 'log_in_failed' THEN
        PERFORM drover.audit_count(an_action, interval '1 minute', 30, NULL, a_subject, a_remote, a_detail);
    WHEN 'data_seen' THEN
        whose := drover.audit_seen_owner(an_actor, a_detail::jsonb);
        IF whose IS NULL THEN RETURN; END IF;
        PERFORM drover.audit_count(an_action, interval '1 hour', 500, an_actor, nullif(whose, '-'), a_remote, a_detail);
    WHEN 'log_shortened', 'account_erased' THEN
        RAISE EXCEPTION 'only the owner of the database says %', an_action USING ERRCODE = 'insufficient_privilege';
    ELSE
        PERFORM drover.audit_append(an_action, an_actor, a_subject, a_remote, a_detail);
    END CASE;
    PERFORM drover.audit_close();
END $$;
REVOKE ALL ON FUNCTION drover.audit_record(an_action text, an_actor text, a_subject text, a_remote text, a_detail text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.audit_record(an_action text, an_actor text, a_subject text, a_remote text, a_detail text) TO drover_api, drover_page, drover_relay, drover_writer;

-- At the commit, so that the chain is held for no longer. Who has no account is named by the database's login.
CREATE FUNCTION drover.audit_row() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '5s'
    AS $$
DECLARE
    by_account text := coalesce(nullif(current_setting('drover.account', true), ''), nullif(current_setting('drover.audit_by', true), ''));
    login jsonb := CASE WHEN nullif(current_setting('drover.account', true), '') IS NULL THEN jsonb_build_object('login', session_user) ELSE '{}' END;
    old_row jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    new_row jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    any_row jsonb := coalesce(new_row, old_row);
    owner text := any_row->>'account';
    -- Each as its action and detail.
    told text[][] := '{}';
    one text[];
BEGIN
    CASE TG_TABLE_NAME
    WHEN 'account' THEN
        -- Who registers is somebody when the mail address is confirmed.
        IF TG_OP = 'INSERT' THEN
            IF new_row->>'password' IS NULL OR new_row->>'confirmed_at' IS NOT NULL THEN
                told := told || ARRAY[['account_added', jsonb_build_object('roles', new_row->'roles')::text]];
            END IF;
        ELSE
            IF old_row->>'confirmed_at' IS NULL AND new_row->>'confirmed_at' IS NOT NULL THEN told := told || ARRAY[['account_confirmed', '{}']]; END IF;
            IF old_row->'roles' <> new_row->'roles' THEN
                told := told || ARRAY[['roles_changed', jsonb_build_object('from', old_row->'roles', 'to', new_row->'roles')::text]];
            END IF;
            IF old_row->>'disabled_at' IS NULL AND new_row->>'disabled_at' IS NOT NULL THEN told := told || ARRAY[['account_disabled', '{}']]; END IF;
            IF old_row->>'disabled_at' IS NOT NULL AND new_row->>'disabled_at' IS NULL THEN told := told || ARRAY[['account_enabled', '{}']]; END IF;
            IF new_row->>'password' IS NOT NULL AND old_row->>'password' IS DISTINCT FROM new_row->>'password' THEN
                told := told || ARRAY[['password_changed', '{}']];
            END IF;
        END IF;
    WHEN 'fleet_member' THEN
        told := ARRAY[[CASE TG_OP WHEN 'INSERT' THEN 'fleet_joined' ELSE 'fleet_left' END, jsonb_build_object('fleet', any_row->'fleet')::text]];
    WHEN 'token' THEN
        told := ARRAY[[CASE WHEN TG_OP = 'INSERT' THEN 'token_added' ELSE 'token_revoked' END,
            jsonb_build_object('token', any_row->'token_id', 'scopes', any_row->'scopes')::text]];
    WHEN 'account_login' THEN
        told := ARRAY[[CASE TG_OP WHEN 'DELETE' THEN 'database_login_ended' ELSE 'database_login_given' END, '{}']];
    WHEN 'dealership' THEN
        owner := any_row->>'dealer';
        told := ARRAY[['dealership_changed', jsonb_build_object('vehicle', any_row->'vehicle', 'is',
            CASE WHEN any_row->>'ended_at' IS NOT NULL THEN 'ended' WHEN any_row->>'confirmed_at' IS NOT NULL THEN 'confirmed' ELSE 'asked' END)::text]];
    WHEN 'report_schedule' THEN
        told := ARRAY[['schedule_changed', jsonb_build_object('schedule', any_row->'schedule_id', 'report', any_row->'report', 'of', any_row->'narrowed_to',
            'fleet', any_row->'fleet', 'cron', any_row->'cron', 'mails_to', jsonb_array_length(any_row->'mail_to'),
            'is', CASE WHEN TG_OP = 'DELETE' THEN 'removed' WHEN (any_row->>'is_enabled')::boolean THEN 'on' ELSE 'off' END)::text]];
    WHEN 'rule_edit' THEN
        by_account := owner;
        owner := NULL;
        -- Cut to what an entry takes: the change is in force by now, and an entry that is refused would leave none.
        told := ARRAY[['rules_edited', jsonb_build_object('model', left(any_row->>'model', 100), 'vehicle', any_row->'vehicle', 'version', any_row->'version',
            'changes', CASE WHEN octet_length(any_row->>'changes') <= 2500 THEN any_row->'changes' ELSE to_jsonb(left(any_row->'changes'->>0, 400) || '…') END)::text]];
    END CASE;
    IF cardinality(told) = 0 THEN RETURN NULL; END IF;
    FOREACH one SLICE 1 IN ARRAY told LOOP
        PERFORM drover.audit_append(one[1], by_account, owner, NULL, (one[2]::jsonb || login)::text);
    END LOOP;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION drover.audit_row() FROM PUBLIC;

CREATE FUNCTION drover.audit_second_factor() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '5s'
    AS $$
BEGIN
    PERFORM drover.audit_append('second_factor_changed',
        coalesce(nullif(current_setting('drover.account', true), ''), nullif(current_setting('drover.audit_by', true), '')), OLD.account, NULL,
        jsonb_build_object('is', CASE WHEN TG_OP = 'DELETE' THEN 'off' WHEN OLD.secret IS NULL THEN 'on' ELSE 'renewed' END,
            'login', session_user)::text);
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION drover.audit_second_factor() FROM PUBLIC;

-- Who has the sight of the whole installation, and looks at what is somebody else's, at an alert too: whose it is, or NULL: nothing is to be noted.
CREATE FUNCTION drover.audit_seen_owner(a_viewer text, a_detail jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    a_vehicle text := coalesce(a_detail->>'vehicle', (SELECT a.vehicle FROM drover.alert a WHERE a.alert_id = a_detail->>'alert'));
    owner text; its_fleet text;
BEGIN
    IF NOT EXISTS (SELECT FROM drover.account a WHERE a.account = a_viewer AND a.roles && ARRAY['administrator', 'operator']) THEN RETURN NULL; END IF;
    IF a_vehicle IS NULL THEN RETURN '-'; END IF;
    SELECT o.account INTO owner FROM drover.car_owner o WHERE o.vehicle = a_vehicle AND o.owned_at <= now() ORDER BY o.owned_at DESC LIMIT 1;
    IF owner IS NOT NULL THEN RETURN nullif(owner, a_viewer); END IF;
    SELECT v.fleet INTO its_fleet FROM drover.fleet_vehicle v WHERE v.vehicle = a_vehicle ORDER BY v.fleet LIMIT 1;
    IF NOT FOUND OR drover.is_of_its_fleet(a_viewer, 'car', a_vehicle) OR drover.is_of_its_fleet(a_viewer, 'machine', a_vehicle) THEN RETURN NULL; END IF;
    RETURN '-';
END $$;
REVOKE ALL ON FUNCTION drover.audit_seen_owner(a_viewer text, a_detail jsonb) FROM PUBLIC;

-- Entries from before a time go, from the oldest on; the newest stays. What the chain goes on from is an entry of its own. Who appends
-- waits for none of the scans: the head is taken after them.
CREATE FUNCTION drover.audit_shorten(before_at timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '5s'
    AS $$
DECLARE
    last drover.audit_entry; gone bigint; newest bigint; unnamed bytea[];
BEGIN
    -- One after the other.
    LOCK TABLE drover.audit_entry IN SHARE UPDATE EXCLUSIVE MODE;
    SELECT h.sequence INTO STRICT newest FROM drover.audit_head h;
    SELECT e.* INTO last FROM drover.audit_entry e
        WHERE e.sequence < coalesce((SELECT min(k.sequence) FROM drover.audit_entry k WHERE k.at >= before_at), newest)
        ORDER BY e.sequence DESC LIMIT 1;
    IF NOT FOUND THEN RETURN 0; END IF;
    DELETE FROM drover.audit_entry e WHERE e.sequence <= last.sequence;
    GET DIAGNOSTICS gone = ROW_COUNT;
    -- Names that no entry has any more. One scan, whatever their number.
    unnamed := ARRAY(SELECT n.digest FROM drover.audit_name n EXCEPT (SELECT e.actor FROM drover.audit_entry e
        UNION ALL SELECT e.subject FROM drover.audit_entry e UNION ALL SELECT e.remote FROM drover.audit_entry e));
    PERFORM drover.audit_append('log_shortened', nullif(current_setting('drover.audit_by', true), ''), NULL, NULL,
        jsonb_build_object('sequence', last.sequence, 'hash', encode(last.hash, 'hex'), 'gone', gone)::text);
    -- Unless one has come since: nobody names anybody while the head is held.
    DELETE FROM drover.audit_name n WHERE n.digest = ANY (unnamed) AND NOT EXISTS (
        SELECT FROM drover.audit_entry e WHERE e.sequence > newest AND n.digest IN (e.actor, e.subject, e.remote));
    RETURN gone;
END $$;
REVOKE ALL ON FUNCTION drover.audit_shorten(before_at timestamp with time zone) FROM PUBLIC;

-- For administrators alone; filters that are NULL let all through. The newest first, below `before_sequence`.
CREATE FUNCTION drover.audit_shown(an_account text, the_actions text[], since_at timestamp with time zone, until_at timestamp with time zone, before_sequence bigint, most integer) RETURNS TABLE(sequence bigint, at timestamp with time zone, action text, actor text, subject text, remote text, detail text, hash bytea)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    wanted bytea[];
BEGIN
    IF ('administrator' = ANY (drover.sight_roles())) IS NOT TRUE THEN RETURN; END IF;
    IF an_account IS NOT NULL THEN wanted := ARRAY(SELECT n.digest FROM drover.audit_name n WHERE n.said = an_account); END IF;
    RETURN QUERY SELECT e.sequence, e.at, e.action, a.said, s.said, r.said, e.detail, e.hash
        FROM drover.audit_entry e
        LEFT JOIN drover.audit_name a ON a.digest = e.actor
        LEFT JOIN drover.audit_name s ON s.digest = e.subject
        LEFT JOIN drover.audit_name r ON r.digest = e.remote
        WHERE (wanted IS NULL OR e.actor = ANY (wanted) OR e.subject = ANY (wanted))
            AND (the_actions IS NULL OR e.action = ANY (the_actions))
            AND (since_at IS NULL OR e.at >= since_at) AND (until_at IS NULL OR e.at < until_at)
            AND (before_sequence IS NULL OR e.sequence < before_sequence)
        ORDER BY e.sequence DESC LIMIT least(most, 1000);
END $$;
REVOKE ALL ON FUNCTION drover.audit_shown(an_account text, the_actions text[], since_at timestamp with time zone, until_at timestamp with time zone, before_sequence bigint, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.audit_shown(an_account text, the_actions text[], since_at timestamp with time zone, until_at timestamp with time zone, before_sequence bigint, most integer) TO drover_page;

-- By whatever way somebody logs in.
CREATE FUNCTION drover.await_code() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    NEW.awaits_code := drover.has_second_factor(NEW.account);
    RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION drover.await_code() FROM PUBLIC;

-- What a code is compared with, for a session that is open or waits for it. Counted as a password is, by account and address, and
-- thirty an hour of the account besides: six digits are few. No row: too many tries, or no such session. A right code takes its try back.
CREATE FUNCTION drover.begin_code(a_session bytea, a_remote text, a_device bytea) RETURNS TABLE(account text, secret bytea, last_step bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    own drover.account; is_open boolean;
BEGIN
    SELECT a.* INTO own FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND (drover.is_session_open(s) OR drover.is_session_awaiting(s)) AND a.disabled_at IS NULL;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT drover.is_session_open(s) INTO is_open FROM drover.account_session s WHERE s.digest = a_session;
    IF NOT drover.admit_account_try(
        coalesce(own.mail, own.account), a_remote, false, CASE WHEN is_open THEN a_session ELSE a_device END) THEN RETURN; END IF;
    RETURN QUERY UPDATE drover.account_second_factor f SET
            tries = CASE WHEN f.tries_since < now() - interval '1 hour' THEN 1 ELSE f.tries + 1 END,
            tries_since = CASE WHEN f.tries_since < now() - interval '1 hour' THEN now() ELSE f.tries_since END
        WHERE f.account = own.account AND f.secret IS NOT NULL AND (f.tries < 30 OR f.tries_since < now() - interval '1 hour')
        RETURNING f.account, f.secret, f.last_step;
END $$;
REVOKE ALL ON FUNCTION drover.begin_code(a_session bytea, a_remote text, a_device bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.begin_code(a_session bytea, a_remote text, a_device bytea) TO drover_api;

-- As before, with the device that is shown; NULL: none.
CREATE FUNCTION drover.begin_log_in(a_mail text, a_remote text, the_memory_kib integer, the_passes integer) RETURNS TABLE(salt bytea, memory_kib integer, passes integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF NOT drover.admit_account_try(a_mail, a_remote, false) THEN RETURN; END IF;
    RETURN QUERY SELECT a.salt, a.memory_kib, a.passes FROM drover.account a
        WHERE lower(a.mail) = lower(a_mail) AND a.password IS NOT NULL;
    IF NOT FOUND THEN
        RETURN QUERY SELECT substr(sha256(s.secret || convert_to(lower(a_mail), 'UTF8')), 1, 16), the_memory_kib, the_passes
            FROM drover.account_secret s;
    END IF;
END $$;
REVOKE ALL ON FUNCTION drover.begin_log_in(a_mail text, a_remote text, the_memory_kib integer, the_passes integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.begin_log_in(a_mail text, a_remote text, the_memory_kib integer, the_passes integer) TO drover_api;

-- As before, with the device that is shown; NULL: none.
CREATE FUNCTION drover.begin_log_in(a_mail text, a_remote text, the_memory_kib integer, the_passes integer, a_device bytea) RETURNS TABLE(salt bytea, memory_kib integer, passes integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF NOT drover.admit_account_try(a_mail, a_remote, false, a_device) THEN RETURN; END IF;
    RETURN QUERY SELECT a.salt, a.memory_kib, a.passes FROM drover.account a
        WHERE lower(a.mail) = lower(a_mail) AND a.password IS NOT NULL;
    IF NOT FOUND THEN
        RETURN QUERY SELECT substr(sha256(s.secret || convert_to(lower(a_mail), 'UTF8')), 1, 16), the_memory_kib, the_passes
            FROM drover.account_secret s;
    END IF;
END $$;
REVOKE ALL ON FUNCTION drover.begin_log_in(a_mail text, a_remote text, the_memory_kib integer, the_passes integer, a_device bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.begin_log_in(a_mail text, a_remote text, the_memory_kib integer, the_passes integer, a_device bytea) TO drover_api;

-- From here to the end of the transaction its login sees what the account sees. Once: no statement after it can say otherwise.
CREATE FUNCTION drover.begin_question(an_account text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- By another role it would have rights, or rows, of its own.
    IF EXISTS (SELECT FROM pg_roles r WHERE r.rolname NOT IN (session_user, 'drover_query', 'drover_sight') AND pg_has_role(session_user, r.oid, 'MEMBER')) THEN
        RAISE EXCEPTION 'the login % is to be in drover_query and in nothing else', session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO drover.question (pid, account) VALUES (pg_backend_pid(), an_account);
    PERFORM set_config('application_name', drover.question_name(an_account), true);
END $$;
REVOKE ALL ON FUNCTION drover.begin_question(an_account text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.begin_question(an_account text) TO drover_query;

-- Before a password is hashed for somebody who wants an account.
CREATE FUNCTION drover.begin_registration(a_mail text, a_remote text) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.admit_account_try(a_mail, a_remote, true)
$$;
REVOKE ALL ON FUNCTION drover.begin_registration(a_mail text, a_remote text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.begin_registration(a_mail text, a_remote text) TO drover_api;

-- Keeps a secret that is shown now. Where one is on, it takes a code of that, too. False: another password or code.
CREATE FUNCTION drover.begin_second_factor(a_session bytea, a_password bytea, a_step bigint, a_recovery bytea, new_secret bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    own text := drover.proven_account(a_session, a_password);
BEGIN
    IF own IS NULL OR drover.has_second_factor(own) AND NOT drover.take_factor_code(own, a_step, a_recovery) THEN RETURN false; END IF;
    INSERT INTO drover.account_second_factor AS f (account, next_secret, next_at) VALUES (own, new_secret, now())
        ON CONFLICT (account) DO UPDATE SET next_secret = EXCLUDED.next_secret, next_at = EXCLUDED.next_at;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.begin_second_factor(a_session bytea, a_password bytea, a_step bigint, a_recovery bytea, new_secret bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.begin_second_factor(a_session bytea, a_password bytea, a_step bigint, a_recovery bytea, new_secret bytea) TO drover_api;

-- The drives that pages show to an account as its own: to have said of somebody else's car that one drove it opens nothing.
CREATE FUNCTION drover.believed_drives(an_account text) RETURNS SETOF drover.driving
    LANGUAGE sql STABLE ROWS 100
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT d.* FROM drover.driving d WHERE d.account = an_account AND drover.is_believed(d.account, d.vehicle, d.from_at, d.until_at)
$$;
REVOKE ALL ON FUNCTION drover.believed_drives(an_account text) FROM PUBLIC;

-- A code for the account that asks, once. Of one role an account is one person: the last one counts.
CREATE FUNCTION drover.bind_person(for_campus text, for_person text, code_digest bytea) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    binder text := drover.sight_account();
    outcome text;
BEGIN
    IF binder IS NULL THEN RETURN 'wrong'; END IF;
    outcome := drover.use_code(for_campus, for_person, code_digest, 'account ' || binder);
    IF outcome <> 'taken' THEN RETURN outcome; END IF;
    DELETE FROM drover.person_account a USING drover.person p, drover.person q
        WHERE a.account = binder AND p.campus = a.campus AND p.person = a.person
            AND q.campus = for_campus AND q.person = for_person AND p.role = q.role;
    INSERT INTO drover.person_account (campus, person, account) VALUES (for_campus, for_person, binder)
        ON CONFLICT (campus, person) DO UPDATE SET account = EXCLUDED.account, bound_at = now();
    RETURN 'taken';
END $$;
REVOKE ALL ON FUNCTION drover.bind_person(for_campus text, for_person text, code_digest bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.bind_person(for_campus text, for_person text, code_digest bytea) TO drover_page;

-- Whom the reader is on which campus, as far as the account has the role, too.
CREATE FUNCTION drover.bound_people() RETURNS TABLE(campus text, person text, role text, name text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 3
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT p.campus, p.person, p.role, p.name
    FROM drover.person_account a JOIN drover.person p ON p.campus = a.campus AND p.person = a.person
    WHERE a.account = drover.sight_account() AND p.left_at IS NULL AND p.disabled_at IS NULL
        AND p.role = ANY (drover.sight_roles())
    ORDER BY a.bound_at DESC
$$;
REVOKE ALL ON FUNCTION drover.bound_people() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.bound_people() TO drover_reader, drover_sight, drover_writer;

-- NULL: nobody's then. What was recorded before anybody owned a car is its first owner's, as in drover.sees_at.
CREATE FUNCTION drover.car_owner_at(a_vehicle text, a_time timestamp with time zone) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT o.account FROM drover.car_owner o WHERE o.vehicle = a_vehicle
    ORDER BY o.owned_at <= a_time DESC, CASE WHEN o.owned_at <= a_time THEN o.owned_at END DESC, o.owned_at LIMIT 1
$$;
REVOKE ALL ON FUNCTION drover.car_owner_at(a_vehicle text, a_time timestamp with time zone) FROM PUBLIC;

-- The middle of a cell of 0.1°; the north pole belongs to the last row, 180° east and west are one meridian. All as
-- Sources/Domain/Surveys/BlurredPlace.swift has it.
CREATE FUNCTION drover.cell_latitude(a_latitude double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT (least(floor(round((a_latitude * 1e7)::numeric) / 1000000), 899) / 10 + 0.05)::double precision
$$;

CREATE FUNCTION drover.cell_longitude(a_longitude double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT (CASE WHEN a_longitude >= 180 THEN -1800 ELSE floor(round((a_longitude * 1e7)::numeric) / 1000000) END / 10
        + 0.05)::double precision
$$;

-- No place of the cell is further from its middle, in whole metres (haversine; the corner nearer to the equator).
CREATE FUNCTION drover.cell_radius_m(a_latitude double precision) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT ceil(2 * 6371008.8 * asin(sqrt(sin(radians(0.025)) ^ 2
        + cos(radians(middle)) * cos(radians(middle - sign(middle) * 0.05)) * sin(radians(0.025)) ^ 2)))::int
    FROM (SELECT drover.cell_latitude(a_latitude) AS middle) cell
$$;

CREATE FUNCTION drover.change_account(a_session bytea, a_first_name text, a_last_name text, the_units text, a_zone text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    UPDATE drover.account a SET first_name = a_first_name, last_name = a_last_name, units = the_units, zone = a_zone
        FROM drover.account_session s
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.account = s.account AND a.disabled_at IS NULL
$$;
REVOKE ALL ON FUNCTION drover.change_account(a_session bytea, a_first_name text, a_last_name text, the_units text, a_zone text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.change_account(a_session bytea, a_first_name text, a_last_name text, the_units text, a_zone text) TO drover_api;

-- Changes of a fleet what is named: NULL leaves the name or what it is part of, '' takes it out of the other. What somebody else does meanwhile
-- stays. Vehicles as `machine mtg-1`. False: not by an administrator, or an account or fleet is not there, or fleets would be nested twice; then
-- nothing is changed.
CREATE FUNCTION drover.change_fleet(a_fleet text, new_name text, is_part_of text, added text[], taken text[], joined text[], left_by text[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF (NOT 'administrator' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    UPDATE drover.fleet f SET name = coalesce(new_name, f.name),
            part_of = CASE WHEN is_part_of IS NULL THEN f.part_of ELSE nullif(is_part_of, '') END
        WHERE f.fleet = a_fleet;
    IF NOT FOUND THEN RETURN false; END IF;
    DELETE FROM drover.fleet_vehicle v WHERE v.fleet = a_fleet AND v.kind || ' ' || v.vehicle = ANY (taken);
    INSERT INTO drover.fleet_vehicle (fleet, kind, vehicle)
        SELECT DISTINCT a_fleet, split_part(v, ' ', 1), split_part(v, ' ', 2) FROM unnest(added) v ON CONFLICT DO NOTHING;
    DELETE FROM drover.fleet_member m WHERE m.fleet = a_fleet AND m.account = ANY (left_by);
    INSERT INTO drover.fleet_member (fleet, account) SELECT DISTINCT a_fleet, m FROM unnest(joined) m ON CONFLICT DO NOTHING;
    RETURN true;
EXCEPTION WHEN foreign_key_violation OR check_violation THEN
    RETURN false;
END $$;
REVOKE ALL ON FUNCTION drover.change_fleet(a_fleet text, new_name text, is_part_of text, added text[], taken text[], joined text[], left_by text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.change_fleet(a_fleet text, new_name text, is_part_of text, added text[], taken text[], joined text[], left_by text[]) TO drover_page;

-- Ends all other sessions. False: the old password is another.
CREATE FUNCTION drover.change_password(a_session bytea, old_password bytea, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    changed text;
BEGIN
    UPDATE drover.account a SET password = new_password, salt = new_salt, memory_kib = the_memory_kib, passes = the_passes
        FROM drover.account_session s
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.account = s.account AND a.disabled_at IS NULL
            AND a.password = old_password
        RETURNING a.account INTO changed;
    IF NOT FOUND THEN RETURN false; END IF;
    DELETE FROM drover.account_session s WHERE s.account = changed AND s.digest <> a_session;
    DELETE FROM drover.account_link l WHERE l.account = changed;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.change_password(a_session bytea, old_password bytea, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.change_password(a_session bytea, old_password bytea, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer) TO drover_api;

-- From now on; what has fallen due before and stands in no ledger yet falls due by the new times. By one's own clock; those of
-- others keep theirs.
CREATE FUNCTION drover.change_report_schedule(a_schedule bigint, a_cron text, a_zone text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF (NOT drover.holds_schedule(a_schedule)) THEN RETURN false; END IF;
    UPDATE drover.report_schedule s SET cron = a_cron, next_due_at = NULL, trouble = NULL,
            zone = CASE WHEN s.account = drover.sight_account() THEN a_zone ELSE s.zone END,
            planned_until = CASE WHEN s.next_due_at > now() THEN now() ELSE s.planned_until END
        WHERE s.schedule_id = a_schedule AND s.account IS NOT NULL;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION drover.change_report_schedule(a_schedule bigint, a_cron text, a_zone text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.change_report_schedule(a_schedule bigint, a_cron text, a_zone text) TO drover_page;

-- New recovery codes in place of those from before, or none of it any more (`the_codes` NULL). False: another password or code.
CREATE FUNCTION drover.change_second_factor(a_session bytea, a_password bytea, a_step bigint, a_recovery bytea, the_codes bytea[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    own text := drover.proven_account(a_session, a_password);
BEGIN
    IF own IS NULL OR NOT drover.take_factor_code(own, a_step, a_recovery) THEN RETURN false; END IF;
    IF the_codes IS NOT NULL THEN
        PERFORM drover.put_recovery_codes(own, the_codes);
    ELSE
        DELETE FROM drover.account_recovery_code c WHERE c.account = own;
        DELETE FROM drover.account_second_factor f WHERE f.account = own;
    END IF;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.change_second_factor(a_session bytea, a_password bytea, a_step bigint, a_recovery bytea, the_codes bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.change_second_factor(a_session bytea, a_password bytea, a_step bigint, a_recovery bytea, the_codes bytea[]) TO drover_api;

-- Before a page puts a registration on the log. `based_on` is the record that its form was made of, empty: nothing was registered.
-- `the_fleets`: those of one's own that the vehicle shall be in; NULL: leave them. `an_owner`: the account that shall own a car.
-- Says `taken` (push it), `done` (it is committed already), or why not: `not yours`, `known` (somebody else's, or there already),
-- `changed` (by another meanwhile), `waiting` (a change is on its way), `fleet` (none is chosen), `owner` (not theirs to give to).
-- New ids are bounded; what it moves between fleets stands in the log.
CREATE FUNCTION drover.change_vehicle(a_kind text, a_vehicle text, based_on text, new_record text, the_fleets text[], an_owner text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    me text := drover.sight_account();
    is_administrator boolean := 'administrator' = ANY (drover.sight_roles());
    has_fleets boolean := drover.sight_roles() && ARRAY['farmer', 'fleet_manager'];
    is_keeper boolean := coalesce(drover.keeps(a_kind, a_vehicle), false);
    registered record;
    last record;
    own_fleet text;
    left_fleet text; joined_fleet text;
    left_fleets text[] := '{}'; joined_fleets text[] := '{}';
BEGIN
    IF me IS NULL OR NOT drover.sight_roles() && ARRAY['farmer', 'fleet_manager', 'driver', 'dealer', 'administrator'] THEN RETURN 'not yours'; END IF;
    PERFORM drover.take_turn('drover.vehicle_change ' || a_kind || ' ' || a_vehicle);
    SELECT r.record_id, r.account INTO registered FROM drover.registration r WHERE r.kind = a_kind AND r.vehicle = a_vehicle;
    SELECT c.record_id, c.account, c.changed_at INTO last FROM drover.vehicle_change c WHERE c.kind = a_kind AND c.vehicle = a_vehicle;
    -- The same form again.
    IF last.record_id = new_record THEN
        IF last.account <> me THEN RETURN 'not yours'; END IF;
        RETURN CASE WHEN registered.record_id = new_record THEN 'done' ELSE 'taken' END;
    END IF;
    IF based_on = '' THEN
        IF registered.record_id IS NOT NULL THEN RETURN 'known'; END IF;
        IF NOT is_keeper AND drover.tags_vehicle(a_kind, a_vehicle) IS NOT TRUE THEN
            -- Whoever takes a free id sees what comes under it from then on; of one that is not free it would be another's past.
            IF EXISTS (SELECT FROM drover.first_writer w WHERE w.kind = a_kind AND w.vehicle = a_vehicle AND w.account <> me)
                OR last.record_id IS NOT NULL OR EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle)
                OR EXISTS (SELECT FROM drover.fleet_vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle)
                OR EXISTS (SELECT FROM drover.dealership d WHERE a_kind = 'machine' AND d.vehicle = a_vehicle AND d.confirmed_at IS NOT NULL)
            THEN RETURN 'known'; END IF;
            IF NOT (has_fleets OR (a_kind = 'car' AND 'driver' = ANY (drover.sight_roles()))) THEN RETURN 'not yours'; END IF;
            IF NOT is_administrator AND drover.ids_taken(me) >= 1000 THEN RETURN 'too many'; END IF;
            is_keeper := true;
        END IF;
    ELSE
        IF drover.tags_vehicle(a_kind, a_vehicle) IS NOT TRUE THEN RETURN 'not yours'; END IF;
        IF registered.record_id IS DISTINCT FROM based_on THEN RETURN 'changed'; END IF;
    END IF;
    -- One that is on its way still; after a minute it has failed.
    IF last.record_id <> coalesce(registered.record_id, '') AND last.changed_at > now() - interval '1 minute' THEN
        RETURN 'waiting';
    END IF;
    IF a_kind = 'car' AND an_owner IS DISTINCT FROM registered.account AND an_owner IS DISTINCT FROM me THEN
        IF NOT (has_fleets OR is_administrator) THEN RETURN 'owner'; END IF;
        IF an_owner IS NOT NULL AND NOT EXISTS (SELECT FROM drover.fleet_member m
                WHERE m.account = an_owner AND m.fleet IN (SELECT drover.kept_fleets())) THEN
            RETURN 'owner';
        END IF;
    END IF;
    IF is_keeper AND the_fleets IS NOT NULL THEN
        IF EXISTS (SELECT FROM unnest(the_fleets) wanted WHERE wanted NOT IN (SELECT drover.kept_fleets())) THEN RETURN 'fleet'; END IF;
        IF cardinality(the_fleets) = 0 AND has_fleets AND NOT is_administrator AND (a_kind = 'machine' OR an_owner IS DISTINCT FROM me) THEN
            -- Without a fleet nobody would see it. Who has none yet gets one.
            IF EXISTS (SELECT drover.kept_fleets()) THEN RETURN 'fleet'; END IF;
            own_fleet := me;
            IF EXISTS (SELECT FROM drover.fleet f WHERE f.fleet = own_fleet) THEN
                own_fleet := left(me, 50) || '-' || substr(md5(random()::text), 1, 8);
            END IF;
            INSERT INTO drover.fleet (fleet, name) VALUES (own_fleet, left('Vehicles of ' || me, 100));
            INSERT INTO drover.fleet_member (fleet, account) VALUES (own_fleet, me);
            the_fleets := ARRAY[own_fleet];
        END IF;
        WITH gone AS (
            DELETE FROM drover.fleet_vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle
                AND v.fleet IN (SELECT drover.kept_fleets()) AND v.fleet <> ALL (the_fleets) RETURNING v.fleet)
            SELECT coalesce(array_agg(g.fleet ORDER BY g.fleet), '{}') INTO left_fleets FROM gone g;
        WITH come AS (
            INSERT INTO drover.fleet_vehicle (fleet, kind, vehicle)
                SELECT DISTINCT wanted, a_kind, a_vehicle FROM unnest(the_fleets) wanted ON CONFLICT DO NOTHING RETURNING fleet_vehicle.fleet)
            SELECT coalesce(array_agg(c.fleet ORDER BY c.fleet), '{}') INTO joined_fleets FROM come c;
    END IF;
    INSERT INTO drover.vehicle_change (kind, vehicle, record_id, account) VALUES (a_kind, a_vehicle, new_record, me)
        ON CONFLICT (kind, vehicle) DO UPDATE SET record_id = EXCLUDED.record_id, account = EXCLUDED.account, changed_at = now();
    -- Last: the chain is held until the transaction ends. In the words of `drover fleet`.
    IF own_fleet IS NOT NULL THEN
        PERFORM drover.audit_record('fleet_changed', me, NULL, NULL, jsonb_build_object('fleet', own_fleet, 'is', 'made')::text);
    END IF;
    FOREACH left_fleet IN ARRAY left_fleets LOOP
        PERFORM drover.audit_record('fleet_changed', me, NULL, NULL, jsonb_build_object('fleet', left_fleet, 'taken', a_vehicle, 'kind', a_kind)::text);
    END LOOP;
    FOREACH joined_fleet IN ARRAY joined_fleets LOOP
        PERFORM drover.audit_record('fleet_changed', me, NULL, NULL, jsonb_build_object('fleet', joined_fleet, 'added', a_vehicle, 'kind', a_kind)::text);
    END LOOP;
    RETURN 'taken';
END $$;
REVOKE ALL ON FUNCTION drover.change_vehicle(a_kind text, a_vehicle text, based_on text, new_record text, the_fleets text[], an_owner text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.change_vehicle(a_kind text, a_vehicle text, based_on text, new_record text, the_fleets text[], an_owner text) TO drover_page;

CREATE FUNCTION drover.check_fleet() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- One at a time, so that two changes do not nest twice together.
    PERFORM drover.take_turn('drover.fleet');
    IF NEW.part_of IS NOT NULL AND (EXISTS (SELECT FROM drover.fleet f WHERE f.fleet = NEW.part_of AND f.part_of IS NOT NULL)
            OR EXISTS (SELECT FROM drover.fleet f WHERE f.part_of = NEW.fleet)) THEN
        RAISE EXCEPTION 'fleets are nested once: % cannot be part of %', NEW.fleet, NEW.part_of USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION drover.check_fleet() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.check_fleet() TO drover_reader, drover_sight, drover_writer;

-- As it is counted: of IPv6 whoever has one address has 2^64 of them, a network.
CREATE FUNCTION drover.code_asker(an_asker text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- With a point in it an address of IPv4 stands behind it.
    IF an_asker NOT LIKE 'address %:%' OR an_asker LIKE '%.%' THEN RETURN an_asker; END IF;
    RETURN 'address ' || network(set_masklen(substr(an_asker, 9)::inet, 64));
EXCEPTION WHEN invalid_text_representation THEN RETURN an_asker;
END $$;
REVOKE ALL ON FUNCTION drover.code_asker(an_asker text) FROM PUBLIC;

-- People who are in a fleet with the reader, for who reads fleets: whom one can ask to step in.
CREATE FUNCTION drover.colleagues() RETURNS TABLE(account text, name text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 50
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT DISTINCT p.account, trim(p.first_name || ' ' || p.last_name)
        FROM drover.fleet_member mine JOIN drover.fleet_member m USING (fleet) JOIN drover.account p ON p.account = m.account
        WHERE mine.account = drover.sight_account() AND p.account <> mine.account AND p.disabled_at IS NULL AND drover.reads_fleets()
        ORDER BY 2, 1 LIMIT 500
$$;
REVOKE ALL ON FUNCTION drover.colleagues() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.colleagues() TO drover_page;

-- Needs the password as well: who registered with somebody else's mail address does not get an account with it, and who reads
-- the mail does not confirm somebody else's password. NULL: the link or the password is another.
CREATE FUNCTION drover.confirm_account(a_link bytea, a_password bytea, a_session bytea, an_agent text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    used text;
BEGIN
    DELETE FROM drover.account_link l USING drover.account a
        WHERE l.digest = a_link AND l.purpose = 'confirm' AND l.expires_at > now() AND a.account = l.account
            AND a.disabled_at IS NULL AND a.password = a_password
        RETURNING l.account INTO used;
    IF NOT FOUND THEN RETURN NULL; END IF;
    UPDATE drover.account a SET confirmed_at = coalesce(a.confirmed_at, now()) WHERE a.account = used;
    INSERT INTO drover.account_session (digest, account, agent, is_kept) VALUES (a_session, used, an_agent, false);
    RETURN used;
END $$;
REVOKE ALL ON FUNCTION drover.confirm_account(a_link bytea, a_password bytea, a_session bytea, an_agent text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.confirm_account(a_link bytea, a_password bytea, a_session bytea, an_agent text) TO drover_api;

-- By an owner. False: it is none of one's own, was confirmed, or is over.
CREATE FUNCTION drover.confirm_dealership(an_id bigint, share_past boolean) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE drover.dealership d SET confirmed_at = now(), confirmed_by = drover.sight_account(), shares_past = share_past
        WHERE d.dealership_id = an_id AND d.confirmed_at IS NULL AND d.ended_at IS NULL
            AND drover.sight_account() IN (SELECT drover.owners_of_machine(d.vehicle));
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION drover.confirm_dealership(an_id bigint, share_past boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.confirm_dealership(an_id bigint, share_past boolean) TO drover_page;

-- A code of `a_step` came for the secret that was shown: it is on from now on, and all other sessions end. False: another one was
-- shown meanwhile.
CREATE FUNCTION drover.confirm_second_factor(a_session bytea, shown_secret bytea, a_step bigint, the_codes bytea[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    own text;
BEGIN
    UPDATE drover.account_second_factor f SET secret = f.next_secret, on_since = now(), last_step = a_step, tries = 0,
            next_secret = NULL, next_at = NULL
        FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL AND f.account = s.account
            AND f.next_secret = shown_secret AND f.next_at > now() - interval '1 hour'
        RETURNING f.account INTO own;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM drover.put_recovery_codes(own, the_codes);
    DELETE FROM drover.account_session s WHERE s.account = own AND s.digest <> a_session;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.confirm_second_factor(a_session bytea, shown_secret bytea, a_step bigint, the_codes bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.confirm_second_factor(a_session bytea, shown_secret bytea, a_step bigint, the_codes bytea[]) TO drover_api;

-- Those that one asked for, and those of one's own machines, for who reads fleets.
CREATE FUNCTION drover.dealerships() RETURNS TABLE(dealership_id bigint, vehicle text, dealer text, dealer_name text, asked_at timestamp with time zone, confirmed_at timestamp with time zone, shares_past boolean, ended_at timestamp with time zone, is_own boolean)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 20
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT d.dealership_id, d.vehicle, d.dealer, trim(a.first_name || ' ' || a.last_name), d.asked_at, d.confirmed_at, d.shares_past,
        d.ended_at, d.dealer <> drover.sight_account()
    FROM drover.dealership d JOIN drover.account a ON a.account = d.dealer
    WHERE drover.reads_fleets() AND (d.dealer = drover.sight_account() OR drover.sight_account() IN (SELECT drover.owners_of_machine(d.vehicle))
        OR drover.sight_roles() && ARRAY['administrator'])
    ORDER BY d.ended_at IS NOT NULL, d.confirmed_at IS NOT NULL, d.asked_at DESC, d.dealership_id LIMIT 500
$$;
REVOKE ALL ON FUNCTION drover.dealerships() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.dealerships() TO drover_page;

-- False: there is no such account.
CREATE FUNCTION drover.disable_account(an_account text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE drover.account a SET disabled_at = coalesce(a.disabled_at, now()) WHERE a.account = an_account;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM drover.end_doors(an_account);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.disable_account(an_account text) FROM PUBLIC;

CREATE FUNCTION drover.dispatched_campuses() RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 3
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT b.campus FROM drover.bound_people() b WHERE b.role = 'dispatcher'
$$;
REVOKE ALL ON FUNCTION drover.dispatched_campuses() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.dispatched_campuses() TO drover_reader, drover_sight, drover_writer;

-- Cars that somebody drove: of these the own drives, of what the account may write about: a drive that somebody only says is no drive of theirs.
-- Of a car one such drive is enough to know its name.
CREATE FUNCTION drover.driven() RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 10
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT c.vehicle FROM (
        SELECT DISTINCT d.vehicle FROM drover.driving d WHERE d.account = drover.sight_account() AND 'driver' = ANY (drover.sight_roles())) AS c
    WHERE EXISTS (SELECT FROM drover.driving d WHERE d.vehicle = c.vehicle AND d.account = drover.sight_account()
        AND drover.is_believed(d.account, d.vehicle, d.from_at, d.until_at))
    UNION
    SELECT a.vehicle FROM drover.assignment a WHERE a.account = drover.sight_account() AND 'driver' = ANY (drover.sight_roles())
$$;
REVOKE ALL ON FUNCTION drover.driven() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.driven() TO drover_reader, drover_sight, drover_writer;

-- What the reader has in service.
CREATE FUNCTION drover.driven_vehicles() RETURNS TABLE(campus text, vehicle text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 3
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT v.campus, v.vehicle FROM drover.bound_people() b
        JOIN drover.ride_vehicle v ON v.campus = b.campus AND v.driver = b.person
        WHERE b.role = 'ride_driver' AND v.state <> 'out'
$$;
REVOKE ALL ON FUNCTION drover.driven_vehicles() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.driven_vehicles() TO drover_reader, drover_sight, drover_writer;

CREATE FUNCTION drover.drove(a_vehicle text, from_at timestamp with time zone, until_at timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT CASE WHEN c.driver = drover.sight_account()
        THEN drover.is_believed(c.driver, a_vehicle, from_at, until_at) ELSE false END
    FROM drover.trip_context(a_vehicle, from_at, until_at) c
$$;
REVOKE ALL ON FUNCTION drover.drove(a_vehicle text, from_at timestamp with time zone, until_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.drove(a_vehicle text, from_at timestamp with time zone, until_at timestamp with time zone) TO drover_reader, drover_sight, drover_writer;

-- Who may change the thresholds of a model (NULL: of a machine). Those of a model hold for machines of everybody, so they are not for
-- who keeps some of them.
CREATE FUNCTION drover.edits_rules(a_vehicle text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT CASE WHEN drover.sight_roles() && ARRAY['developer', 'administrator'] THEN true
        WHEN a_vehicle IS NULL OR NOT drover.sight_roles() && ARRAY['farmer', 'fleet_manager'] THEN false
        ELSE drover.keeps('machine', a_vehicle) END
$$;
REVOKE ALL ON FUNCTION drover.edits_rules(a_vehicle text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.edits_rules(a_vehicle text) TO drover_page;

-- It may log in again, with nothing of before: not even with what somebody made for it meanwhile. False: there is no such account.
CREATE FUNCTION drover.enable_account(an_account text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM FROM drover.account a WHERE a.account = an_account FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    IF EXISTS (SELECT FROM drover.account a WHERE a.account = an_account AND a.disabled_at IS NOT NULL) THEN
        PERFORM drover.end_doors(an_account);
        UPDATE drover.account a SET disabled_at = NULL WHERE a.account = an_account;
    END IF;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.enable_account(an_account text) FROM PUBLIC;

-- Ends the connections of a login. Its owner may do that as a member of it only; a superuser anyhow.
CREATE FUNCTION drover.end_connections(a_login name) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    is_member boolean := pg_has_role(current_user, a_login, 'USAGE');
BEGIN
    IF NOT EXISTS (SELECT FROM pg_stat_activity s WHERE s.usename = a_login) THEN RETURN; END IF;
    IF NOT is_member THEN EXECUTE format('GRANT %I TO %I', a_login, current_user); END IF;
    PERFORM pg_terminate_backend(s.pid) FROM pg_stat_activity s WHERE s.usename = a_login;
    IF NOT is_member THEN EXECUTE format('REVOKE %I FROM %I', a_login, current_user); END IF;
-- Another did the same at this moment: "tuple concurrently updated".
EXCEPTION WHEN insufficient_privilege OR internal_error THEN
    RAISE WARNING 'connections of % could not be ended: %', a_login, SQLERRM;
END $$;
REVOKE ALL ON FUNCTION drover.end_connections(a_login name) FROM PUBLIC;

-- Ends an account's login of the database. False: it has none. A role that cannot be changed sees nothing all the same: it is
-- nobody's from here on.
CREATE FUNCTION drover.end_database_login(an_account text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    ended name;
    is_there boolean := false;
BEGIN
    FOR ended IN DELETE FROM drover.account_login l WHERE l.account = an_account RETURNING l.login LOOP
        is_there := true;
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = ended);
        BEGIN
            EXECUTE format('ALTER ROLE %I NOLOGIN PASSWORD NULL', ended);
            IF pg_has_role(ended, 'drover_sight', 'MEMBER') THEN EXECUTE format('REVOKE drover_sight FROM %I', ended); END IF;
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE WARNING 'the login % could not be ended: %', ended, SQLERRM;
        END;
        PERFORM drover.end_connections(ended);
    END LOOP;
    RETURN is_there;
END $$;
REVOKE ALL ON FUNCTION drover.end_database_login(an_account text) FROM PUBLIC;

-- By an owner or by the dealer. From then on the dealer sees nothing of it.
CREATE FUNCTION drover.end_dealership(an_id bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE drover.dealership d SET ended_at = now(), ended_by = drover.sight_account()
        WHERE d.dealership_id = an_id AND d.ended_at IS NULL
            AND (d.dealer = drover.sight_account() OR drover.sight_account() IN (SELECT drover.owners_of_machine(d.vehicle)));
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION drover.end_dealership(an_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.end_dealership(an_id bigint) TO drover_page;

-- What an account came in by, what is on its way to it, and its questions. What a relay has in its hands at this moment it asks about once more
-- before it goes out (drover.is_mail_over, drover.notice_accounts): nobody waits for it here.
CREATE FUNCTION drover.end_doors(an_account text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    why text := 'the account is disabled';
BEGIN
    DELETE FROM drover.account_session s WHERE s.account = an_account;
    DELETE FROM drover.account_link l WHERE l.account = an_account;
    DELETE FROM drover.account_device d WHERE d.account = an_account;
    DELETE FROM drover.survey_session s USING drover.token t WHERE t.digest = s.token AND t.account = an_account;
    UPDATE drover.token t SET revoked_at = now() WHERE t.account = an_account AND t.revoked_at IS NULL;
    DELETE FROM drover.push_subscription p WHERE p.account = an_account;
    UPDATE drover.notice_setting s SET webhook_url = NULL, webhook_key = NULL WHERE s.account = an_account AND s.webhook_url IS NOT NULL;
    UPDATE drover.notice n SET state = 'not_told', reason = why, settled_at = now() WHERE n.notice_id IN (
        SELECT w.notice_id FROM drover.notice w WHERE w.account = an_account AND w.state = 'waiting' FOR UPDATE SKIP LOCKED);
    -- Neither again, nor by mail instead, nor acknowledged by a link that is out already.
    UPDATE drover.notice_message m SET payload = NULL, link = NULL, link_expires_at = NULL,
            state = CASE m.state WHEN 'waiting' THEN 'refused' ELSE m.state END,
            answer = CASE m.state WHEN 'waiting' THEN why ELSE m.answer END,
            settled_at = coalesce(m.settled_at, now()), mailed_at = CASE m.state WHEN 'sent' THEN m.mailed_at ELSE coalesce(m.mailed_at, now()) END
        WHERE m.message_id IN (
            SELECT w.message_id FROM drover.notice_message w WHERE w.account = an_account
                AND (w.state = 'waiting' OR w.link IS NOT NULL OR w.state = 'refused' AND w.mailed_at IS NULL) FOR UPDATE SKIP LOCKED);
    UPDATE drover.report_run r SET wants_mail = false,
            state = CASE r.state WHEN 'waiting' THEN 'failed' ELSE r.state END, reason = CASE r.state WHEN 'waiting' THEN why ELSE r.reason END
        WHERE (r.schedule_id, r.due_at) IN (
            SELECT w.schedule_id, w.due_at FROM drover.report_run w JOIN drover.report_schedule s USING (schedule_id)
            WHERE s.account = an_account AND (w.state = 'waiting' OR w.wants_mail) FOR UPDATE OF w SKIP LOCKED);
    UPDATE drover.report_schedule s SET is_enabled = false, next_due_at = NULL WHERE s.account = an_account AND s.is_enabled;
    DELETE FROM drover.mail m WHERE m.mail_id IN (
        SELECT w.mail_id FROM drover.mail w JOIN drover.account a ON lower(w.recipient) = lower(a.mail)
        WHERE a.account = an_account AND NOT w.is_for_person FOR UPDATE OF w SKIP LOCKED);
    PERFORM drover.end_questions(an_account);
    PERFORM drover.end_database_login(an_account);
END $$;
REVOKE ALL ON FUNCTION drover.end_doors(an_account text) FROM PUBLIC;

CREATE FUNCTION drover.end_first_writer() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE drover.first_writer w SET is_over = true, over_at = now() WHERE w.kind = NEW.kind AND w.vehicle = NEW.vehicle AND NOT w.is_over;
    RETURN NULL;
END $$;

-- Those that may not be. Says how many there were.
CREATE FUNCTION drover.end_logins_of_neighbours() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    one record; ended int := 0;
BEGIN
    FOR one IN SELECT l.account, l.login FROM drover.account_login l WHERE NOT drover.may_have_login(l.account) ORDER BY l.login LOOP
        PERFORM drover.end_database_login(one.account);
        IF EXISTS (SELECT FROM pg_roles r WHERE r.rolname = one.login AND r.rolcanlogin) THEN
            RAISE EXCEPTION 'the login % may not stay where others have rows, and cannot be ended', one.login USING ERRCODE = 'insufficient_privilege',
                HINT = format('As a superuser: ALTER ROLE %I NOLOGIN', one.login);
        END IF;
        ended := ended + 1;
    END LOOP;
    RETURN ended;
END $$;
REVOKE ALL ON FUNCTION drover.end_logins_of_neighbours() FROM PUBLIC;

-- How many were ended.
CREATE FUNCTION drover.end_long_logins(of_idling interval, of_statement interval, of_transaction interval) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    ended int;
BEGIN
    SELECT count(*) FILTER (WHERE pg_terminate_backend(a.pid)) INTO ended
        FROM pg_stat_activity a JOIN drover.account_login l ON l.login = a.usename
        WHERE a.datname = current_database() AND pg_has_role(a.usesysid, 'USAGE') AND (
            (a.state LIKE 'idle in transaction%' AND a.state_change < clock_timestamp() - of_idling)
            OR (a.state NOT LIKE 'idle%' AND a.query_start < clock_timestamp() - of_statement)
            OR a.xact_start < clock_timestamp() - of_transaction);
    RETURN ended;
END $$;
REVOKE ALL ON FUNCTION drover.end_long_logins(of_idling interval, of_statement interval, of_transaction interval) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.end_long_logins(of_idling interval, of_statement interval, of_transaction interval) TO drover_relay;

-- Who came in while a login was being ended. Pages ask for it with each heartbeat of their streams.
CREATE FUNCTION drover.end_lost_connections() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM drover.end_connections(lost.usename) FROM (
        SELECT DISTINCT s.usename FROM pg_stat_activity s JOIN pg_roles r ON r.rolname = s.usename
        WHERE r.rolname LIKE 'drover\_account\_%' AND NOT r.rolcanlogin
            AND NOT EXISTS (SELECT FROM drover.account_login l WHERE l.login = r.rolname)) AS lost;
END $$;
REVOKE ALL ON FUNCTION drover.end_lost_connections() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.end_lost_connections() TO drover_api;

-- By one click in a mail (RFC 8058). Who ended is not written about.
CREATE FUNCTION drover.end_notice_mail(an_account text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    INSERT INTO drover.notice_setting (account, mail_ended_at)
        SELECT p.account, now() FROM drover.account p WHERE p.account = an_account AND p.disabled_at IS NULL
        ON CONFLICT (account) DO UPDATE SET mail_ended_at = coalesce(drover.notice_setting.mail_ended_at, now())
$$;
REVOKE ALL ON FUNCTION drover.end_notice_mail(an_account text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.end_notice_mail(an_account text) TO drover_api;

CREATE FUNCTION drover.end_person_token(wanted bytea) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    UPDATE drover.person_token SET revoked_at = now() WHERE digest = wanted AND revoked_at IS NULL;
$$;
REVOKE ALL ON FUNCTION drover.end_person_token(wanted bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.end_person_token(wanted bytea) TO drover_api;

-- Ends the questions of an account that are under way. The owner may do that as a member of the login that asks only; a superuser anyhow.
-- What cannot be ended is not answered all the same: who asks is looked at once more before.
CREATE FUNCTION drover.end_questions(an_account text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    one record;
    is_member boolean;
BEGIN
    FOR one IN SELECT s.pid, s.usename FROM pg_stat_activity s WHERE s.datname = current_database()
        AND s.application_name = drover.question_name(an_account) AND pg_has_role(s.usesysid, 'drover_query', 'MEMBER')
    LOOP
        is_member := pg_has_role(current_user, one.usename, 'USAGE');
        IF NOT is_member THEN EXECUTE format('GRANT %I TO %I', one.usename, current_user); END IF;
        PERFORM pg_terminate_backend(one.pid);
        IF NOT is_member THEN EXECUTE format('REVOKE %I FROM %I', one.usename, current_user); END IF;
    END LOOP;
-- Another did the same at this moment: "tuple concurrently updated".
EXCEPTION WHEN insufficient_privilege OR internal_error THEN
    RAISE WARNING 'questions of % could not be ended: %', an_account, SQLERRM;
END $$;
REVOKE ALL ON FUNCTION drover.end_questions(an_account text) FROM PUBLIC;

-- Those that come with Drover are given back instead, with their times.
CREATE FUNCTION drover.end_report_schedule(a_schedule bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF (NOT drover.holds_schedule(a_schedule)) THEN RETURN false; END IF;
    DELETE FROM drover.report_schedule s WHERE s.schedule_id = a_schedule AND s.shipped IS NULL;
    IF FOUND THEN RETURN true; END IF;
    DELETE FROM drover.report_run r WHERE r.schedule_id = a_schedule;
    UPDATE drover.report_schedule s SET account = NULL, is_enabled = false, mail_to = '{}', next_due_at = NULL, zone = 'UTC', units = 'metric',
            cron = s.shipped_cron, trouble = NULL
        WHERE s.schedule_id = a_schedule;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.end_report_schedule(a_schedule bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.end_report_schedule(a_schedule bigint) TO drover_page;

-- One of one's own; NULL as number: this one.
CREATE FUNCTION drover.end_session(a_session bytea, a_number bigint) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    DELETE FROM drover.account_session o USING drover.account_session s
        WHERE s.digest = a_session AND o.account = s.account
            AND CASE WHEN a_number IS NULL THEN o.digest = a_session ELSE o.number = a_number END
$$;
REVOKE ALL ON FUNCTION drover.end_session(a_session bytea, a_number bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.end_session(a_session bytea, a_number bigint) TO drover_api;

-- Forgets who it was. The id stays, disabled: results name it. False: there is no such account.
CREATE FUNCTION drover.erase_account(an_account text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF NOT drover.erase_all_but_log(an_account) THEN RETURN false; END IF;
    PERFORM drover.audit_forget(an_account);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.erase_account(an_account text) FROM PUBLIC;

CREATE FUNCTION drover.erase_all_but_log(an_account text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF NOT drover.disable_account(an_account) THEN RETURN false; END IF;
    DELETE FROM drover.account_try t USING drover.account a WHERE a.account = an_account AND t.mail = lower(a.mail);
    DELETE FROM drover.mail m USING drover.account a WHERE a.account = an_account AND lower(m.recipient) = lower(a.mail);
    UPDATE drover.token t SET name = NULL WHERE t.account = an_account;
    DELETE FROM drover.account_identity i WHERE i.account = an_account;
    DELETE FROM drover.person_account p WHERE p.account = an_account;
    DELETE FROM drover.fleet_member m WHERE m.account = an_account;
    UPDATE drover.dealership d SET ended_at = now(), ended_by = 'operator' WHERE d.dealer = an_account AND d.ended_at IS NULL;
    -- What it is told by, and reports that it had made: their runs go with them. Those that come with Drover are there for the next one.
    DELETE FROM drover.notice_setting s WHERE s.account = an_account;
    DELETE FROM drover.notice_step s WHERE an_account IN (s.account, s.colleague);
    UPDATE drover.notice_message m SET payload = NULL, link = NULL WHERE m.account = an_account;
    DELETE FROM drover.report_run r USING drover.report_schedule s
        WHERE s.schedule_id = r.schedule_id AND s.account = an_account AND s.shipped IS NOT NULL;
    UPDATE drover.report_schedule s SET account = NULL, is_enabled = false, mail_to = '{}', next_due_at = NULL
        WHERE s.account = an_account AND s.shipped IS NOT NULL;
    DELETE FROM drover.report_schedule s WHERE s.account = an_account;
    UPDATE drover.report_schedule s SET mail_to = array_remove(s.mail_to, an_account) WHERE an_account = ANY (s.mail_to);
    UPDATE drover.account a SET mail = NULL, first_name = '', last_name = '', roles = '{}', units = 'metric', zone = 'UTC',
            password = NULL, salt = NULL, memory_kib = NULL, passes = NULL
        WHERE a.account = an_account;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.erase_all_but_log(an_account text) FROM PUBLIC;

-- Who is erased keeps neither, by whatever way: the row of the account stays, without a mail address.
CREATE FUNCTION drover.erase_second_factor() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    DELETE FROM drover.account_recovery_code c WHERE c.account = NEW.account;
    DELETE FROM drover.account_second_factor f WHERE f.account = NEW.account;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION drover.erase_second_factor() FROM PUBLIC;

-- Pictures, films and reports, each a file.
CREATE FUNCTION drover.files_of_person(an_account text) RETURNS TABLE(name text, content bytea)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT 'survey_photo/' || p.photo || '.' || split_part(p.media_type, '/', 2), p.content FROM drover.survey_photo p WHERE p.account = an_account
    UNION ALL
    SELECT 'person_photo/' || p.campus || '-' || p.photo || '.' || split_part(p.media_type, '/', 2), p.content
        FROM drover.person_photo p JOIN drover.person_account b USING (campus, person) WHERE b.account = an_account
    UNION ALL
    SELECT 'tour_medium/' || m.tour || '-' || m.medium || '.' || split_part(m.media_type, '/', 2), m.content
        FROM drover.tour_medium m JOIN drover.tour t USING (tour) WHERE t.account = an_account
    UNION ALL
    SELECT 'machine_photo/' || p.vehicle || '.' || split_part(p.media_type, '/', 2), p.content FROM drover.machine_photo p WHERE p.account = an_account
    UNION ALL
    SELECT 'report_run/' || u.schedule_id || '-' || to_char(u.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD-HH24MI') || '-' || u.name, u.content
        FROM drover.report_run u JOIN drover.report_schedule s USING (schedule_id) WHERE s.account = an_account AND u.content IS NOT NULL
$$;
REVOKE ALL ON FUNCTION drover.files_of_person(an_account text) FROM PUBLIC;

CREATE FUNCTION drover.fleets_administered() RETURNS TABLE(fleet text, name text, part_of text, vehicles text[], members text[])
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT f.fleet, f.name, f.part_of,
        ARRAY(SELECT v.kind || ' ' || v.vehicle FROM drover.fleet_vehicle v WHERE v.fleet = f.fleet ORDER BY v.kind, v.vehicle COLLATE "C"),
        ARRAY(SELECT m.account FROM drover.fleet_member m WHERE m.fleet = f.fleet ORDER BY m.account COLLATE "C")
    FROM drover.fleet f WHERE 'administrator' = ANY (drover.sight_roles())
    ORDER BY coalesce(f.part_of, f.fleet) COLLATE "C", f.part_of NULLS FIRST, f.fleet COLLATE "C" LIMIT 1000
$$;
REVOKE ALL ON FUNCTION drover.fleets_administered() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.fleets_administered() TO drover_page;

-- One's fleets, whether this vehicle is in them, and who belongs to them.
CREATE FUNCTION drover.fleets_kept(a_kind text, a_vehicle text) RETURNS TABLE(fleet text, name text, holds boolean, members text[])
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 10
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT f.fleet, f.name,
        EXISTS (SELECT FROM drover.fleet_vehicle v WHERE v.fleet = f.fleet AND v.kind = a_kind AND v.vehicle = a_vehicle),
        ARRAY(SELECT m.account FROM drover.fleet_member m WHERE m.fleet = f.fleet ORDER BY m.account COLLATE "C")
    FROM drover.fleet f WHERE f.fleet IN (SELECT drover.kept_fleets())
    ORDER BY f.name, f.fleet COLLATE "C" LIMIT 200
$$;
REVOKE ALL ON FUNCTION drover.fleets_kept(a_kind text, a_vehicle text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.fleets_kept(a_kind text, a_vehicle text) TO drover_page;

-- Fleets that a person belongs to, with their vehicles: reports and pages are narrowed to one of them. Programs of the
-- installation and who runs it see all; nobody, and people without a role, none; a program asks for nobody. It gives no sight of its own:
-- what is seen of a vehicle, its tables' rules say.
CREATE FUNCTION drover.fleets_seen() RETURNS TABLE(fleet text, name text, kind text, vehicle text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT DISTINCT f.fleet, f.name, v.kind, v.vehicle
    FROM drover.fleet f
    -- A fleet has the vehicles of its parts, too.
    JOIN drover.fleet part ON part.fleet = f.fleet OR part.part_of = f.fleet
    JOIN drover.fleet_vehicle v ON v.fleet = part.fleet
    WHERE (drover.sight_account() IS NULL AND drover.is_program())
        OR drover.sight_roles() && ARRAY['administrator', 'operator']
        OR (drover.reads_fleets() AND EXISTS (SELECT FROM drover.fleet_member m
            WHERE m.account = drover.sight_account() AND m.fleet IN (f.fleet, f.part_of)))
$$;
REVOKE ALL ON FUNCTION drover.fleets_seen() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.fleets_seen() TO drover_page, drover_reader, drover_sight;

-- Whoever tried codes had the password of before; with a new one the account's tries begin anew.
CREATE FUNCTION drover.forget_code_tries() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE drover.account_second_factor f SET tries = 0 WHERE f.account = NEW.account;
    DELETE FROM drover.account_session s WHERE s.account = NEW.account AND s.awaits_code;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION drover.forget_code_tries() FROM PUBLIC;

-- With the dealership go the marks, whoever ends it: the owner, the dealer, or an erasure.
CREATE FUNCTION drover.forget_marks() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    DELETE FROM drover.dealer_mark m WHERE m.account = OLD.dealer AND m.vehicle = OLD.vehicle;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION drover.forget_marks() FROM PUBLIC;

-- Whether an account passes surveys on now: its latest settings. Standard: no.
CREATE FUNCTION drover.forwards_surveys(an_account text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT coalesce((
        SELECT drover.readable_json(s.settings) -> 'forward_surveys' = 'true' FROM drover.account_settings s
        WHERE s.account = an_account ORDER BY s.in_force_at DESC, s.record_id COLLATE "C" DESC LIMIT 1), false)
$$;
REVOKE ALL ON FUNCTION drover.forwards_surveys(an_account text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.forwards_surveys(an_account text) TO drover_writer;

-- Whether more than one customer is here: two fleets of which neither is part of the other, or two campuses.
CREATE FUNCTION drover.has_neighbours() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT (SELECT count(*) FROM (SELECT FROM drover.fleet f WHERE f.part_of IS NULL LIMIT 2) AS two) > 1
        OR (SELECT count(*) FROM (SELECT FROM drover.campus LIMIT 2) AS two) > 1
$$;
REVOKE ALL ON FUNCTION drover.has_neighbours() FROM PUBLIC;

CREATE FUNCTION drover.has_second_factor(an_account text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT EXISTS (SELECT FROM drover.account_second_factor f WHERE f.account = an_account AND f.secret IS NOT NULL)
$$;
REVOKE ALL ON FUNCTION drover.has_second_factor(an_account text) FROM PUBLIC;

-- Own ones; administrators see all, and those that come with Drover.
CREATE FUNCTION drover.holds_schedule(a_schedule bigint) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT EXISTS (SELECT FROM drover.report_schedule s WHERE s.schedule_id = a_schedule
        AND (s.account = drover.sight_account() OR 'administrator' = ANY (drover.sight_roles())))
$$;
REVOKE ALL ON FUNCTION drover.holds_schedule(a_schedule bigint) FROM PUBLIC;

-- Taken by uploads, and by the page that adds vehicles as long as no reading of them has come.
CREATE FUNCTION drover.ids_taken(an_account text) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT (SELECT count(*) FROM drover.first_writer w WHERE w.account = an_account)
        + (SELECT count(*) FROM drover.vehicle_change c WHERE c.account = an_account
            AND NOT EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = c.kind AND v.vehicle = c.vehicle)
            AND NOT EXISTS (SELECT FROM drover.first_writer w WHERE w.kind = c.kind AND w.vehicle = c.vehicle AND w.account = an_account))
$$;
REVOKE ALL ON FUNCTION drover.ids_taken(an_account text) FROM PUBLIC;

-- What is in force now, for who runs the installation; no row: nothing was ever set.
CREATE FUNCTION drover.installation_settings() RETURNS TABLE(settings text, in_force_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT s.settings, s.in_force_at FROM drover.account_settings s
    WHERE s.account = 'installation' AND (drover.is_program() OR drover.sight_roles() && ARRAY['operator', 'administrator'])
    ORDER BY s.in_force_at DESC, s.record_id COLLATE "C" DESC LIMIT 1
$$;
REVOKE ALL ON FUNCTION drover.installation_settings() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.installation_settings() TO drover_api, drover_page, drover_reader;

-- Whether a name that somebody is to own something by is anybody's: an account's, or that of a token that was given out. Asked by
-- `drover vehicle register --account`; it tells nothing else of accounts.
CREATE FUNCTION drover.is_account(a_name text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT EXISTS (SELECT FROM drover.account a WHERE a.account = a_name)
        OR EXISTS (SELECT FROM drover.token t WHERE t.account = a_name AND t.revoked_at IS NULL)
$$;
REVOKE ALL ON FUNCTION drover.is_account(a_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.is_account(a_name text) TO drover_api, drover_writer;

-- Whether a drive is believed: the account may write about it, or it was the car's first driver and nobody owned it then, of drives that were
-- over when the car came into a fleet. To register a car for somebody takes no drive from who drove it before.
CREATE FUNCTION drover.is_believed(an_account text, a_vehicle text, a_begin timestamp with time zone, an_end timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.may_write(an_account, 'reading', 'car', a_vehicle, a_begin, an_end) = 'yes' OR (
        EXISTS (SELECT FROM drover.first_writer w WHERE w.kind = 'car' AND w.vehicle = a_vehicle AND w.account = an_account
            AND (w.over_at IS NULL OR an_end <= w.over_at))
        AND NOT EXISTS (SELECT FROM drover.car_owner o WHERE o.vehicle = a_vehicle AND o.account IS NOT NULL AND o.owned_at <= an_end))
$$;
REVOKE ALL ON FUNCTION drover.is_believed(an_account text, a_vehicle text, a_begin timestamp with time zone, an_end timestamp with time zone) FROM PUBLIC;

-- As Sources/Domain/Codecs/Services/WeatherCell.swift has it.
CREATE FUNCTION drover.is_in_cell(a_latitude double precision, a_longitude double precision, a_size_millideg integer, a_latitude_index integer, a_longitude_index integer) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT least(round((a_latitude * 1e7)::numeric)::bigint + 900000000, 1799999999) / (a_size_millideg * 10000::bigint)
            = a_latitude_index
        AND (round((a_longitude * 1e7)::numeric)::bigint + 1800000000) % 3600000000 / (a_size_millideg * 10000::bigint)
            = a_longitude_index
$$;

-- Whether a machine has a rule that can open an alert: one of its own, or one of its model's that it has not put another in place of. A rule
-- judges by its test (third of its fields), or by how long nothing may be said (eleventh).
CREATE FUNCTION drover.is_judged(the_rules text, a_model text, a_vehicle text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    AS $$
DECLARE
    judges text := E'\nrule\t[^\t\n]*\t(above|below)\t|\nrule(\t[^\t\n]*){9}\t[0-9]';
    own text := drover.rules_of_group(the_rules, E'machine\t' || a_vehicle);
    models text := drover.rules_of_group(the_rules, E'model\t' || replace(replace(replace(a_model, '\', '\\'), E'\t', '\t'), E'\n', '\n'));
BEGIN
    IF own = '' OR own ~ judges THEN RETURN coalesce(own || models ~ judges, false); END IF;
    RETURN EXISTS (SELECT FROM string_to_table(models, E'\n') AS line
        WHERE E'\n' || line ~ judges AND strpos(own, E'\nrule\t' || split_part(line, E'\t', 2) || E'\t') = 0);
END $$;
REVOKE ALL ON FUNCTION drover.is_judged(the_rules text, a_model text, a_vehicle text) FROM PUBLIC;

-- Whether nobody is to get mail there any more. Asked when it goes out.
CREATE FUNCTION drover.is_mail_over(a_recipient text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT EXISTS (SELECT FROM drover.account a WHERE lower(a.mail) = lower(a_recipient) AND a.disabled_at IS NOT NULL)
$$;
REVOKE ALL ON FUNCTION drover.is_mail_over(a_recipient text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.is_mail_over(a_recipient text) TO drover_relay;

CREATE FUNCTION drover.is_of_its_fleet(an_account text, a_kind text, a_vehicle text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT EXISTS (SELECT FROM drover.fleet_vehicle v
        JOIN drover.fleet f ON f.fleet = v.fleet
        JOIN drover.fleet_member m ON m.fleet = f.fleet OR m.fleet = f.part_of
        WHERE v.kind = a_kind AND v.vehicle = a_vehicle AND m.account = an_account)
$$;
REVOKE ALL ON FUNCTION drover.is_of_its_fleet(an_account text, a_kind text, a_vehicle text) FROM PUBLIC;

-- Programs of the installation, by name: who reads for all. Whoever may read as a person is none, and neither is a login that
-- nobody has said it of.
CREATE FUNCTION drover.is_program() RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT coalesce((SELECT r.rolsuper OR (NOT pg_has_role(r.oid, 'drover_sight', 'USAGE') AND (
            pg_has_role(r.oid, (SELECT c.relowner FROM pg_class c WHERE c.oid = 'drover.migration'::regclass), 'USAGE')
            OR pg_has_role(r.oid, 'drover_reader', 'USAGE') OR pg_has_role(r.oid, 'drover_writer', 'USAGE')
            OR pg_has_role(r.oid, 'drover_researcher', 'USAGE') OR pg_has_role(r.oid, 'drover_relay', 'USAGE')))
        FROM pg_roles r WHERE r.rolname = drover.asking_role()), false)
$$;
REVOKE ALL ON FUNCTION drover.is_program() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.is_program() TO drover_reader, drover_relay, drover_researcher, drover_sight, drover_writer;

CREATE FUNCTION drover.is_session_awaiting(s drover.account_session) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ SELECT s.awaits_code AND s.made_at > now() - interval '10 minutes' $$;
REVOKE ALL ON FUNCTION drover.is_session_awaiting(s drover.account_session) FROM PUBLIC;

-- A session is over when it was not used for 12 hours, a kept one for 30 days, and 90 days after log-in.
CREATE FUNCTION drover.is_session_open(s drover.account_session) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT s.last_used_at > now() - CASE WHEN s.is_kept THEN interval '30 days' ELSE interval '12 hours' END
        AND s.made_at > now() - interval '90 days' AND NOT s.awaits_code
$$;
REVOKE ALL ON FUNCTION drover.is_session_open(s drover.account_session) FROM PUBLIC;

-- False: it is not theirs to photograph. Without content the photo goes.
CREATE FUNCTION drover.keep_machine_photo(a_vehicle text, a_photo text, a_type text, a_content bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM drover.take_turn('drover.vehicle_change machine ' || a_vehicle);
    IF drover.sight_account() IS NULL OR drover.may_photograph(a_vehicle) IS NOT TRUE THEN RETURN false; END IF;
    IF a_content IS NULL THEN
        DELETE FROM drover.machine_photo p WHERE p.vehicle = a_vehicle;
    ELSE
        INSERT INTO drover.machine_photo AS p (vehicle, account, photo, media_type, content)
            VALUES (a_vehicle, drover.sight_account(), a_photo, a_type, a_content)
            ON CONFLICT (vehicle) DO UPDATE SET account = EXCLUDED.account, photo = EXCLUDED.photo, media_type = EXCLUDED.media_type,
                content = EXCLUDED.content, kept_at = now();
    END IF;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.keep_machine_photo(a_vehicle text, a_photo text, a_type text, a_content bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.keep_machine_photo(a_vehicle text, a_photo text, a_type text, a_content bytea) TO drover_page;

-- With the fleet or campus that makes neighbours, or with the role that let somebody see all.
CREATE FUNCTION drover.keep_neighbours_apart() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM drover.end_logins_of_neighbours();
    RETURN NULL;
EXCEPTION WHEN insufficient_privilege THEN
    -- A login that somebody else has made, who alone may end it. No fleet is made beside it; a worker goes on, and `drover migrate` says it again.
    IF TG_TABLE_NAME <> 'campus' THEN RAISE; END IF;
    RAISE WARNING 'logins of the database that are beside others'' rows were not ended: %', SQLERRM;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION drover.keep_neighbours_apart() FROM PUBLIC;

-- Keeps a photo, and the two before it: a vehicle in service may still show one of them.
CREATE FUNCTION drover.keep_photo(a_campus text, a_person text, a_photo text, a_type text, a_content bytea) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM drover.take_turn('drover.person_photo ' || a_campus || ' ' || a_person);
    INSERT INTO drover.person_photo (campus, person, photo, media_type, content)
        VALUES (a_campus, a_person, a_photo, a_type, a_content)
        ON CONFLICT (campus, person, photo) DO UPDATE SET kept_at = clock_timestamp();
    DELETE FROM drover.person_photo p WHERE p.campus = a_campus AND p.person = a_person AND p.photo NOT IN (
        SELECT q.photo FROM drover.person_photo q WHERE q.campus = a_campus AND q.person = a_person
        ORDER BY q.kept_at DESC LIMIT 3);
END $$;
REVOKE ALL ON FUNCTION drover.keep_photo(a_campus text, a_person text, a_photo text, a_type text, a_content bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.keep_photo(a_campus text, a_person text, a_photo text, a_type text, a_content bytea) TO drover_api;

-- False: the account has handed in so many within a day that it must wait.
CREATE FUNCTION drover.keep_survey_photo(an_account text, a_photo text, a_type text, a_content bytea, most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF EXISTS (SELECT FROM drover.survey_photo p WHERE p.photo = a_photo) THEN RETURN true; END IF;
    IF (SELECT count(*) FROM drover.survey_photo p
        WHERE p.account = an_account AND p.kept_at > clock_timestamp() - interval '1 day') >= most THEN RETURN false; END IF;
    INSERT INTO drover.survey_photo (photo, account, media_type, content) VALUES (a_photo, an_account, a_type, a_content)
        ON CONFLICT (photo) DO NOTHING;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.keep_survey_photo(an_account text, a_photo text, a_type text, a_content bytea, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.keep_survey_photo(an_account text, a_photo text, a_type text, a_content bytea, most integer) TO drover_survey;

-- Vehicles of these fleets, one's own cars, and what one has just added.
CREATE FUNCTION drover.keeps(a_kind text, a_vehicle text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT 'administrator' = ANY (drover.sight_roles())
        OR EXISTS (SELECT FROM drover.fleet_vehicle v
            WHERE v.kind = a_kind AND v.vehicle = a_vehicle AND v.fleet IN (SELECT drover.kept_fleets()))
        OR (drover.sight_roles() && ARRAY['farmer', 'fleet_manager', 'driver'] AND (
            EXISTS (SELECT FROM drover.registration r
                WHERE a_kind = 'car' AND r.kind = 'car' AND r.vehicle = a_vehicle AND r.account = drover.sight_account())
            OR EXISTS (SELECT FROM drover.vehicle_change c
                WHERE c.kind = a_kind AND c.vehicle = a_vehicle AND c.account = drover.sight_account()
                    AND NOT EXISTS (SELECT FROM drover.registration r WHERE r.kind = a_kind AND r.vehicle = a_vehicle))))
$$;
REVOKE ALL ON FUNCTION drover.keeps(a_kind text, a_vehicle text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.keeps(a_kind text, a_vehicle text) TO drover_page;

-- Fleets that one keeps as a farmer or fleet manager; an administrator keeps all.
CREATE FUNCTION drover.kept_fleets() RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 10
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT f.fleet FROM drover.fleet f WHERE 'administrator' = ANY (drover.sight_roles())
    UNION
    SELECT f.fleet FROM drover.fleet_member m JOIN drover.fleet f ON f.fleet = m.fleet OR f.part_of = m.fleet
        WHERE m.account = drover.sight_account() AND drover.sight_roles() && ARRAY['farmer', 'fleet_manager']
$$;
REVOKE ALL ON FUNCTION drover.kept_fleets() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.kept_fleets() TO drover_page;

-- Twenty at a time, each for a year after its last log-in.
CREATE FUNCTION drover.know_device(an_account text, shown_device bytea, new_device bytea) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    DELETE FROM drover.account_device d
        WHERE d.account = an_account AND (d.digest = shown_device OR d.last_used_at < now() - interval '1 year');
    INSERT INTO drover.account_device (account, digest) VALUES (an_account, new_device);
    DELETE FROM drover.account_device d WHERE d.account = an_account AND d.digest IN (
        SELECT o.digest FROM drover.account_device o WHERE o.account = an_account ORDER BY o.last_used_at DESC, o.digest OFFSET 20);
END $$;
REVOKE ALL ON FUNCTION drover.know_device(an_account text, shown_device bytea, new_device bytea) FROM PUBLIC;

-- Names and models of what one sees something of.
CREATE FUNCTION drover.known(a_kind text) RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.seen(a_kind) UNION SELECT drover.seen_partly(a_kind)
    UNION SELECT drover.driven() WHERE a_kind = 'car'
$$;
REVOKE ALL ON FUNCTION drover.known(a_kind text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.known(a_kind text) TO drover_reader, drover_relay, drover_sight, drover_writer;

-- What surveyors measured without fields that Drover does not know: these may say anything, also where it was.
CREATE FUNCTION drover.known_weather(a_weather jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(a_weather)
    WHERE key IN ('temperature_c', 'wind_speed_mps', 'wind_beaufort', 'wind_direction_deg', 'cloud_cover_pct', 'sun_pct', 'rain')
$$;

-- The newest such try counts for its address from now on, and for no account and no device: the server was too busy to look at the
-- password. A try that counts for a device alone stays with its address, too. Of several that are too many at once each gives back a try of its
-- own: all chose the newest, and all but one gave back nothing.
CREATE FUNCTION drover.leave_unchecked(a_mail text, a_remote text, for_mail boolean, a_device bytea) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    UPDATE drover.account_try t SET mail = '', device = NULL WHERE t.try_id = (
        SELECT o.try_id FROM drover.account_try o
        WHERE o.mail = lower(a_mail) AND o.remote = a_remote AND o.is_mail = for_mail AND (o.device IS NULL OR o.device = a_device)
        ORDER BY o.device IS NULL, o.try_id DESC LIMIT 1 FOR UPDATE SKIP LOCKED)
$$;
REVOKE ALL ON FUNCTION drover.leave_unchecked(a_mail text, a_remote text, for_mail boolean, a_device bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.leave_unchecked(a_mail text, a_remote text, for_mail boolean, a_device bytea) TO drover_api;

-- As it was, with the milliseconds where there are some (an export goes on behind a row by its time), and written so that it
-- becomes a part of the query that calls it: neither STRICT nor more than its parts are.
CREATE FUNCTION drover.local_time(a_time timestamp with time zone, an_offset_min integer) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT to_char(a_time AT TIME ZONE 'UTC' + make_interval(mins => an_offset_min),
            CASE WHEN date_trunc('second', a_time) = a_time THEN 'YYYY-MM-DD"T"HH24:MI:SS'
                ELSE 'YYYY-MM-DD"T"HH24:MI:SS.MS' END)
        || CASE WHEN an_offset_min < 0 THEN '-' ELSE '+' END
        || to_char(make_interval(mins => abs(an_offset_min)), 'HH24:MI')
$$;

-- For the program before, which asks for no code: who has a second factor does not get in by it.
CREATE FUNCTION drover.log_in(a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    found_account text; is_half boolean;
BEGIN
    SELECT a.account INTO found_account FROM drover.account a
        WHERE lower(a.mail) = lower(a_mail) AND a.password = a_password AND a.confirmed_at IS NOT NULL AND a.disabled_at IS NULL
        FOR SHARE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    INSERT INTO drover.account_session AS s (digest, account, agent, is_kept) VALUES (a_session, found_account, an_agent, keep)
        RETURNING s.awaits_code INTO is_half;
    PERFORM drover.trim_sessions(found_account);
    IF NOT is_half THEN DELETE FROM drover.account_try t WHERE t.mail = lower(a_mail) AND NOT t.is_mail; END IF;
    RETURN found_account;
END $$;
REVOKE ALL ON FUNCTION drover.log_in(a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.log_in(a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean) TO drover_api;

-- For the program before, which asks for no code: who has a second factor does not get in by it.
CREATE FUNCTION drover.log_in(a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean, a_remote text, shown_device bytea, new_device bytea) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    found_account text; is_half boolean;
BEGIN
    SELECT a.account INTO found_account FROM drover.account a
        WHERE lower(a.mail) = lower(a_mail) AND a.password = a_password AND a.confirmed_at IS NOT NULL AND a.disabled_at IS NULL
        FOR SHARE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    INSERT INTO drover.account_session AS s (digest, account, agent, is_kept) VALUES (a_session, found_account, an_agent, keep)
        RETURNING s.awaits_code INTO is_half;
    PERFORM drover.trim_sessions(found_account);
    IF NOT is_half THEN
        DELETE FROM drover.account_try t WHERE t.mail = lower(a_mail) AND NOT t.is_mail
            AND (t.device = shown_device OR t.device IS NULL AND t.remote = a_remote);
        PERFORM drover.know_device(found_account, shown_device, new_device);
    END IF;
    RETURN found_account;
END $$;
REVOKE ALL ON FUNCTION drover.log_in(a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean, a_remote text, shown_device bytea, new_device bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.log_in(a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean, a_remote text, shown_device bytea, new_device bytea) TO drover_api;

-- Opens a session for who logged in there. Who is not known yet is linked to the account with the mail address that the provider
-- has verified, or gets a new account without roles. No row: there is no such mail address, or the account is disabled.
CREATE FUNCTION drover.log_in_by_identity(an_issuer text, a_subject text, a_verified_mail text, a_first_name text, a_last_name text, new_account text, a_session bytea, an_agent text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    found_account text;
BEGIN
    -- Two log-ins of somebody new make one account.
    PERFORM drover.take_turn('drover.account_identity ' || a_subject);
    SELECT i.account INTO found_account FROM drover.account_identity i WHERE i.issuer = an_issuer AND i.subject = a_subject;
    IF NOT FOUND THEN
        IF a_verified_mail IS NULL THEN RETURN NULL; END IF;
        -- Somebody registered with that mail address and never confirmed it: the password is not known to be its owner's.
        UPDATE drover.account a SET confirmed_at = now(), password = NULL, salt = NULL, memory_kib = NULL, passes = NULL,
                first_name = a_first_name, last_name = a_last_name
            WHERE lower(a.mail) = lower(a_verified_mail) AND a.confirmed_at IS NULL;
        DELETE FROM drover.account_link l USING drover.account a
            WHERE l.account = a.account AND lower(a.mail) = lower(a_verified_mail) AND a.password IS NULL;
        INSERT INTO drover.account (account, mail, first_name, last_name, confirmed_at)
            VALUES (new_account, a_verified_mail, a_first_name, a_last_name, now()) ON CONFLICT (lower(mail)) DO NOTHING;
        SELECT a.account INTO found_account FROM drover.account a WHERE lower(a.mail) = lower(a_verified_mail);
        INSERT INTO drover.account_identity (issuer, subject, account) VALUES (an_issuer, a_subject, found_account);
    END IF;
    PERFORM FROM drover.account a WHERE a.account = found_account AND a.disabled_at IS NULL FOR SHARE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    INSERT INTO drover.account_session (digest, account, agent, is_kept) VALUES (a_session, found_account, an_agent, false);
    DELETE FROM drover.account_session s WHERE s.digest IN (
        SELECT o.digest FROM drover.account_session o WHERE o.account = found_account ORDER BY o.number DESC OFFSET 20);
    RETURN found_account;
END $$;
REVOKE ALL ON FUNCTION drover.log_in_by_identity(an_issuer text, a_subject text, a_verified_mail text, a_first_name text, a_last_name text, new_account text, a_session bytea, an_agent text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.log_in_by_identity(an_issuer text, a_subject text, a_verified_mail text, a_first_name text, a_last_name text, new_account text, a_session bytea, an_agent text) TO drover_api;

-- Whose logins of the database there are, for administrators: they are told whose a fleet or a role ends.
CREATE FUNCTION drover.logins_administered() RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 10
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT l.account FROM drover.account_login l WHERE 'administrator' = ANY (drover.sight_roles()) ORDER BY 1
$$;
REVOKE ALL ON FUNCTION drover.logins_administered() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.logins_administered() TO drover_page;

-- Which arguments of a function may be long. Numbers, ranges and networks never are.
CREATE FUNCTION drover.long_arguments(a_function oid) RETURNS integer[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT ARRAY(SELECT argument.place::int
        FROM pg_proc p, unnest(p.proargtypes) WITH ORDINALITY AS argument(type, place) JOIN pg_type t ON t.oid = argument.type
        WHERE p.oid = a_function AND (t.typlen = -1 AND t.typtype IN ('b', 'c') AND t.typname <> ALL (ARRAY['numeric', 'inet', 'cidr'])
            OR t.typname = ANY (ARRAY['any', 'anyarray', 'anycompatible', 'anycompatiblearray', 'anycompatiblenonarray', 'anyelement',
                'anynonarray', 'record']))
        ORDER BY argument.place)
$$;
REVOKE ALL ON FUNCTION drover.long_arguments(a_function oid) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.long_arguments(a_function oid) TO drover_query;

-- What a link is for, without using it: programs that look into mail open links, too. No row: unknown, used or too late. The
-- salt is for `confirm_account`.
CREATE FUNCTION drover.look_at_link(a_link bytea) RETURNS TABLE(purpose text, has_mail boolean, salt bytea, memory_kib integer, passes integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT l.purpose, a.mail IS NOT NULL, a.salt, a.memory_kib, a.passes
        FROM drover.account_link l JOIN drover.account a USING (account)
        WHERE l.digest = a_link AND l.expires_at > now() AND a.disabled_at IS NULL
$$;
REVOKE ALL ON FUNCTION drover.look_at_link(a_link bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.look_at_link(a_link bytea) TO drover_api;

-- What a link would acknowledge, without doing it, of what the account may still say something of: a link in an old mail opens no more than its
-- reader has today. No row: unknown, used or too late.
CREATE FUNCTION drover.look_at_notice_link(a_link bytea) RETURNS TABLE(account text, alert_id text, vehicle text, parameter text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 20
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT DISTINCT m.account, a.alert_id, a.vehicle, a.parameter
        FROM drover.notice_message m JOIN drover.notice_told t USING (message_id) JOIN drover.notice n USING (notice_id)
        JOIN drover.alert a USING (alert_id) JOIN drover.account p ON p.account = m.account
        WHERE m.link = a_link AND m.link_used_at IS NULL AND m.link_expires_at > now() AND p.disabled_at IS NULL
            AND a.kind = 'machine' AND a.state IN ('open', 'due_soon')
            AND drover.may_write(m.account, 'alert', 'machine', a.vehicle, now(), now()) = 'yes'
        ORDER BY 3, 4, 2 LIMIT 200
$$;
REVOKE ALL ON FUNCTION drover.look_at_notice_link(a_link bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.look_at_notice_link(a_link bytea) TO drover_api;

-- What a partition's clock says, for who reads fleets; alerts of silence are judged by it.
CREATE FUNCTION drover.machine_clock(a_partition integer) RETURNS timestamp with time zone
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT p.clock_at FROM drover.partition_progress p
    WHERE p.topic = 'drover.machines' AND p.partition = a_partition AND drover.reads_fleets()
$$;
REVOKE ALL ON FUNCTION drover.machine_clock(a_partition integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.machine_clock(a_partition integer) TO drover_page;

CREATE FUNCTION drover.mail_revised_report(a_schedule bigint, a_due timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE drover.report_run r SET wants_mail = true
        WHERE r.schedule_id = a_schedule AND r.due_at = a_due AND r.revision > 0 AND drover.holds_schedule(a_schedule);
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION drover.mail_revised_report(a_schedule bigint, a_due timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.mail_revised_report(a_schedule bigint, a_due timestamp with time zone) TO drover_page;

-- Makes a fleet without vehicles and people. False: not by an administrator, there is one of this id, whether a list shows it or not, or fleets
-- would be nested twice.
CREATE FUNCTION drover.make_fleet(a_fleet text, a_name text, is_part_of text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF (NOT 'administrator' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    INSERT INTO drover.fleet (fleet, name, part_of) VALUES (a_fleet, a_name, is_part_of) ON CONFLICT (fleet) DO NOTHING;
    RETURN FOUND;
EXCEPTION WHEN foreign_key_violation OR check_violation THEN
    RETURN false;
END $$;
REVOKE ALL ON FUNCTION drover.make_fleet(a_fleet text, a_name text, is_part_of text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.make_fleet(a_fleet text, a_name text, is_part_of text) TO drover_page;

-- Makes the partition that holds a time where it is missing. Of a table that has none (a replay's) it makes nothing.
-- Attached and not made in place: that would wait for whoever reads the table, and hold up all others meanwhile.
CREATE FUNCTION drover.make_period(a_table regclass, a_time timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $_$
DECLARE
    a_relation text; time_column text; a_width text; first_at timestamptz; last_at timestamptz; made text;
BEGIN
    CASE a_table
        WHEN to_regclass('drover.vehicle_minute') THEN a_relation := 'vehicle_minute'; time_column := 'minute_at';
        WHEN to_regclass('drover.machine_reading') THEN a_relation := 'machine_reading'; time_column := 'read_at';
        ELSE RETURN;
    END CASE;
    PERFORM FROM drover.period p WHERE p.relation = a_relation AND p.from_at <= a_time AND p.to_at > a_time;
    IF FOUND THEN RETURN; END IF;
    -- One at a time: the second finds what the first has made.
    PERFORM drover.take_turn('drover.period');
    PERFORM FROM drover.period p WHERE p.relation = a_relation AND p.from_at <= a_time AND p.to_at > a_time;
    IF FOUND THEN RETURN; END IF;
    SELECT w.width INTO STRICT a_width FROM drover.period_width w WHERE w.relation = a_relation;
    -- Recordings of years ago must not make hundreds of partitions: years for what is older than two. Where months or days of
    -- that time are there already, the narrower ones.
    FOREACH a_width IN ARRAY CASE
        WHEN a_time < now() - interval '2 years' THEN ARRAY['year', 'month', 'day']
        WHEN a_width = 'month' OR a_time < now() - interval '40 days' THEN ARRAY['month', 'day']
        ELSE ARRAY['day'] END
    LOOP
        first_at := date_trunc(a_width, a_time);
        last_at := first_at + ('1 ' || a_width)::interval;
        EXIT WHEN NOT EXISTS (
            SELECT FROM drover.period p WHERE p.relation = a_relation AND p.from_at < last_at AND p.to_at > first_at);
    END LOOP;
    made := a_relation || to_char(first_at, CASE a_width WHEN 'year' THEN '_YYYY' WHEN 'month' THEN '_YYYY_MM' ELSE '_YYYY_MM_DD' END);
    EXECUTE format('CREATE TABLE drover.%1$I (LIKE drover.%2$I INCLUDING ALL, CONSTRAINT period CHECK (%3$I >= %4$L AND %3$I < %5$L))',
        made, a_relation, time_column, first_at, last_at);
    -- The check tells that its rows are of the period: attaching reads none of them.
    EXECUTE format('ALTER TABLE drover.%I ATTACH PARTITION drover.%I FOR VALUES FROM (%L) TO (%L)', a_relation, made, first_at, last_at);
    EXECUTE format('ALTER TABLE drover.%I DROP CONSTRAINT period', made);
    INSERT INTO drover.period (relation, from_at, to_at, partition) VALUES (a_relation, first_at, last_at, made);
END $_$;
REVOKE ALL ON FUNCTION drover.make_period(a_table regclass, a_time timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.make_period(a_table regclass, a_time timestamp with time zone) TO drover_writer;

-- Makes the partition of a year (UTC) where it is missing. As months are made (drover.make_period): to be attached, it waits for nobody who
-- reads. CREATE TABLE … PARTITION OF waited for every open transaction of an analyst, and all surveys of the partition with it.
CREATE FUNCTION drover.make_sighting_year(a_year integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    made text := format('sighting_%s', a_year);
    from_at timestamptz; to_at timestamptz;
BEGIN
    IF a_year NOT BETWEEN 1700 AND 2200 THEN RAISE EXCEPTION 'no survey is of the year %', a_year; END IF;
    IF to_regclass(format('drover.%I', made)) IS NOT NULL THEN RETURN; END IF;
    PERFORM drover.take_turn('drover.sighting_year');
    IF to_regclass(format('drover.%I', made)) IS NOT NULL THEN RETURN; END IF;
    from_at := make_timestamptz(a_year, 1, 1, 0, 0, 0, 'UTC');
    to_at := make_timestamptz(a_year + 1, 1, 1, 0, 0, 0, 'UTC');
    EXECUTE format('CREATE TABLE drover.%1$I (LIKE drover.sighting INCLUDING ALL, CONSTRAINT period CHECK (seen_at >= %2$L AND seen_at < %3$L))',
        made, from_at, to_at);
    EXECUTE format('ALTER TABLE drover.sighting ATTACH PARTITION drover.%I FOR VALUES FROM (%L) TO (%L)', made, from_at, to_at);
    EXECUTE format('ALTER TABLE drover.%I DROP CONSTRAINT period', made);
END $_$;
REVOKE ALL ON FUNCTION drover.make_sighting_year(a_year integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.make_sighting_year(a_year integer) TO drover_writer;

-- Sets the class and tags of these machines, all or none. `new_class`: empty: none. `keeps_tags`: `some_tags` come to those that are there,
-- without `less_tags`; else they replace them. Says `done`, or why not: `not yours` (one of them was not confirmed to the asker), `tags` (more
-- than a machine may have, or too long), `too many` (machines of the account).
CREATE FUNCTION drover.mark_machines(the_vehicles text[], keeps_class boolean, new_class text, keeps_tags boolean, some_tags text[], less_tags text[]) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    me text := drover.sight_account();
    wanted text[] := ARRAY(SELECT DISTINCT v FROM unnest(the_vehicles) AS v LIMIT 501);
    held int;
BEGIN
    IF me IS NULL OR NOT 'dealer' = ANY (drover.sight_roles()) OR cardinality(wanted) NOT BETWEEN 1 AND 500 THEN RETURN 'not yours'; END IF;
    IF cardinality(some_tags) > 20 OR EXISTS (SELECT FROM unnest(some_tags) AS t WHERE t IS NULL OR octet_length(t) NOT BETWEEN 1 AND 64) THEN
        RETURN 'tags';
    END IF;
    PERFORM drover.take_turn('drover.dealership ' || me);
    -- Held until this is written: a dealership that ends meanwhile would leave its mark behind.
    PERFORM FROM drover.dealership d
        WHERE d.dealer = me AND d.vehicle = ANY (wanted) AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL FOR SHARE;
    GET DIAGNOSTICS held = ROW_COUNT;
    IF held <> cardinality(wanted) THEN RETURN 'not yours'; END IF;
    IF (SELECT count(*) FROM drover.dealer_mark m WHERE m.account = me AND m.vehicle <> ALL (wanted)) + held > 5000 THEN RETURN 'too many'; END IF;
    WITH said AS (
        SELECT w AS vehicle, CASE WHEN keeps_class THEN k.class ELSE nullif(new_class, '') END AS class, ARRAY(
            SELECT t.tag FROM (
                SELECT o.tag, o.place FROM unnest(CASE WHEN keeps_tags THEN coalesce(k.tags, '{}') ELSE '{}' END) WITH ORDINALITY AS o (tag, place)
                    WHERE o.tag <> ALL (less_tags)
                UNION ALL SELECT s.tag, 100 + s.place FROM unnest(some_tags) WITH ORDINALITY AS s (tag, place)) AS t
            GROUP BY t.tag ORDER BY min(t.place)) AS tags
        FROM unnest(wanted) AS w LEFT JOIN drover.dealer_mark k ON k.account = me AND k.vehicle = w
    ), bare AS (
        DELETE FROM drover.dealer_mark m USING said s
            WHERE m.account = me AND m.vehicle = s.vehicle AND s.class IS NULL AND cardinality(s.tags) = 0
    )
    INSERT INTO drover.dealer_mark AS m (account, vehicle, class, tags)
        SELECT me, s.vehicle, s.class, s.tags FROM said s WHERE s.class IS NOT NULL OR cardinality(s.tags) > 0
        ON CONFLICT (account, vehicle) DO UPDATE SET class = EXCLUDED.class, tags = EXCLUDED.tags, changed_at = now();
    RETURN 'done';
EXCEPTION WHEN check_violation THEN
    RETURN 'tags';
END $$;
REVOKE ALL ON FUNCTION drover.mark_machines(the_vehicles text[], keeps_class boolean, new_class text, keeps_tags boolean, some_tags text[], less_tags text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.mark_machines(the_vehicles text[], keeps_class boolean, new_class text, keeps_tags boolean, some_tags text[], less_tags text[]) TO drover_page;

-- Who looks may say who drives it: who keeps it, and who runs the installation.
CREATE FUNCTION drover.may_assign(a_vehicle text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT (drover.keeps('car', a_vehicle) OR drover.sight_roles() && ARRAY['operator', 'administrator'])
        AND (EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = 'car' AND v.vehicle = a_vehicle)
            OR EXISTS (SELECT FROM drover.registration r WHERE r.kind = 'car' AND r.vehicle = a_vehicle))
$$;
REVOKE ALL ON FUNCTION drover.may_assign(a_vehicle text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.may_assign(a_vehicle text) TO drover_page;

-- Functions that a question may call: those that look at their arguments alone. None that runs a statement (query_to_xml), changes a
-- setting or takes a lock, looks into PostgreSQL's own tables or figures, or at the clock while the question runs; none that makes a great value
-- of little; nor what PostgreSQL computes in one step, without a look at the clock or a signal, for a time that grows with the square of one
-- value: NORMALIZE orders accents by exchange (80,000 of them: 111 s), paths of JSON compare what they find each with each, and text search has
-- grammars of its own.
CREATE FUNCTION drover.may_be_asked(a_function oid) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    SELECT coalesce((SELECT p.pronamespace = 'pg_catalog'::regnamespace AND p.proname !~ '^(pg|lo|inet_server|inet_client|ts)_|xml|xpath|handler$'
            AND p.proname <> ALL (ARRAY['normalize', 'is_normalized'])
            AND NOT (p.proargtypes::oid[] || p.prorettype) && ARRAY['jsonpath', 'tsvector', 'tsquery', 'gtsvector']::regtype[]::oid[] AND (
            (p.provolatile = 'i' AND p.proname <> ALL (ARRAY['repeat', 'lpad', 'rpad', 'array_fill', 'satisfies_hash_partition', 'makeaclitem', 'acldefault']))
            OR EXISTS (SELECT FROM pg_operator o WHERE o.oprcode = p.oid)
            OR (EXISTS (SELECT FROM pg_cast c WHERE c.castfunc = p.oid) AND p.proname !~ '^reg')
            OR p.proname = ANY (ARRAY['age', 'array_to_json', 'array_to_string', 'concat', 'concat_ws', 'date_add', 'date_bin', 'date_part',
                'date_subtract', 'date_trunc', 'extract', 'format', 'generate_series', 'json_agg', 'json_build_array', 'json_build_object',
                'json_object_agg', 'json_populate_record', 'json_populate_recordset', 'json_to_record', 'json_to_recordset', 'jsonb_agg',
                'jsonb_build_array', 'jsonb_build_object', 'jsonb_object_agg', 'jsonb_path_exists_tz', 'jsonb_path_match_tz', 'jsonb_path_query_array_tz',
                'jsonb_path_query_first_tz', 'jsonb_path_query_tz', 'jsonb_populate_record', 'jsonb_populate_recordset', 'jsonb_to_record',
                'jsonb_to_recordset', 'make_timestamptz', 'now', 'overlaps', 'random', 'row_to_json', 'statement_timestamp', 'timezone', 'to_char',
                'to_date', 'to_json', 'to_jsonb', 'to_number', 'to_timestamp', 'transaction_timestamp']))
        FROM pg_proc p WHERE p.oid = a_function), false)
$_$;
REVOKE ALL ON FUNCTION drover.may_be_asked(a_function oid) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.may_be_asked(a_function oid) TO drover_query;

-- For pages: whether who looks may.
CREATE FUNCTION drover.may_do(a_deed text, a_kind text, a_vehicle text, a_begin timestamp with time zone, an_end timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.may_write(drover.sight_account(), a_deed, a_kind, a_vehicle, a_begin, an_end) = 'yes'
$$;
REVOKE ALL ON FUNCTION drover.may_do(a_deed text, a_kind text, a_vehicle text, a_begin timestamp with time zone, an_end timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.may_do(a_deed text, a_kind text, a_vehicle text, a_begin timestamp with time zone, an_end timestamp with time zone) TO drover_page;

-- Whether an account may have a login of the database: who sees all rows anyway, and everybody where nobody has neighbours. Two parts of one
-- fleet may be two customers as well: then it is for who is in the whole of it.
CREATE FUNCTION drover.may_have_login(an_account text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT coalesce((SELECT a.disabled_at IS NULL AND (a.roles && ARRAY['administrator', 'operator'] OR NOT drover.has_neighbours() AND (
            (SELECT count(*) FROM (SELECT FROM drover.fleet f WHERE f.part_of IS NOT NULL LIMIT 2) AS two) < 2
            OR EXISTS (SELECT FROM drover.fleet_member m JOIN drover.fleet f ON f.fleet = m.fleet
                WHERE m.account = a.account AND f.part_of IS NULL)))
        FROM drover.account a WHERE a.account = an_account), false)
$$;
REVOKE ALL ON FUNCTION drover.may_have_login(an_account text) FROM PUBLIC;

-- For apps: whether the account may look at what a car does now. It is its owner or driver, or uploads for it; to write about it alone,
-- or to have written once, is not enough.
CREATE FUNCTION drover.may_look(an_account text, a_vehicle text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.may_write(an_account, 'reading', 'car', a_vehicle, now(), now()) = 'yes' AND (
        coalesce(drover.car_owner_at(a_vehicle, now()) = an_account, false)
        OR EXISTS (SELECT FROM drover.assigned_spans(a_vehicle) s WHERE s.account = an_account AND s.from_at <= now() AND s.until_at > now())
        OR EXISTS (SELECT FROM drover.driving d WHERE d.vehicle = a_vehicle AND d.account = an_account AND d.until_at > now() - interval '1 hour'))
$$;
REVOKE ALL ON FUNCTION drover.may_look(an_account text, a_vehicle text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.may_look(an_account text, a_vehicle text) TO drover_api;

-- Who keeps the machine replaces and takes away any photo of it; its dealer their own.
CREATE FUNCTION drover.may_photograph(a_vehicle text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.keeps('machine', a_vehicle) OR (a_vehicle IN (SELECT drover.seen_partly('machine'))
        AND NOT EXISTS (SELECT FROM drover.machine_photo p WHERE p.vehicle = a_vehicle AND p.account <> drover.sight_account()))
$$;
REVOKE ALL ON FUNCTION drover.may_photograph(a_vehicle text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.may_photograph(a_vehicle text) TO drover_page;

-- Says `yes`, `no`, or `first`. `a_deed` as Sources/Stream/Storage/Accounts/WriteAccess.swift has them; the times are those that it is about.
CREATE FUNCTION drover.may_write(an_account text, a_deed text, a_kind text, a_vehicle text, a_begin timestamp with time zone, an_end timestamp with time zone) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    the_roles text[];
    is_disabled boolean;
BEGIN
    IF an_account IS NULL OR a_vehicle IS NULL OR a_begin IS NULL OR an_end IS NULL
        OR a_deed IS NULL OR a_deed NOT IN ('reading', 'trip', 'scan', 'ask', 'service', 'alert') THEN RETURN 'no'; END IF;
    -- Drivers of before there were accounts own cars by their name.
    SELECT a.roles, a.disabled_at IS NOT NULL INTO the_roles, is_disabled FROM drover.account a WHERE a.account = an_account;
    IF is_disabled THEN RETURN 'no'; END IF;
    the_roles := coalesce(the_roles, '{}');
    IF the_roles && ARRAY['operator', 'administrator'] THEN RETURN 'yes'; END IF;
    RETURN CASE a_kind
        WHEN 'car' THEN drover.may_write_car(an_account, the_roles, a_deed, a_vehicle, a_begin, an_end)
        WHEN 'machine' THEN drover.may_write_machine(an_account, the_roles, a_deed, a_vehicle, a_begin)
        ELSE 'no' END;
END $$;
REVOKE ALL ON FUNCTION drover.may_write(an_account text, a_deed text, a_kind text, a_vehicle text, a_begin timestamp with time zone, an_end timestamp with time zone) FROM PUBLIC;

CREATE FUNCTION drover.may_write_car(an_account text, the_roles text[], a_deed text, a_vehicle text, a_begin timestamp with time zone, an_end timestamp with time zone) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    first_owner text := drover.car_owner_at(a_vehicle, a_begin);
    last_owner text := drover.car_owner_at(a_vehicle, an_end);
    has_others boolean := EXISTS (SELECT FROM drover.car_owner o WHERE o.vehicle = a_vehicle AND o.owned_at > a_begin AND o.owned_at <= an_end
        AND o.account <> an_account);
BEGIN
    IF first_owner = an_account AND last_owner = an_account AND NOT has_others THEN RETURN 'yes'; END IF;
    -- A drive often begins before somebody enters who takes the car: up to an hour of it to either side.
    IF EXISTS (SELECT FROM drover.assigned_spans(a_vehicle) s WHERE s.account = an_account AND s.from_at <= an_end AND s.until_at > a_begin
            AND s.from_at - interval '1 hour' <= a_begin AND s.until_at + interval '1 hour' >= an_end) THEN RETURN 'yes'; END IF;
    -- To have a car's health looked at, and to take care of its alerts, is for who keeps it, too.
    IF a_deed IN ('ask', 'alert') AND the_roles && ARRAY['farmer', 'fleet_manager'] AND drover.is_of_its_fleet(an_account, 'car', a_vehicle) THEN RETURN 'yes'; END IF;
    IF first_owner IS NOT NULL OR last_owner IS NOT NULL OR has_others THEN RETURN 'no'; END IF;
    IF drover.is_of_its_fleet(an_account, 'car', a_vehicle) AND the_roles && ARRAY['farmer', 'fleet_manager'] THEN RETURN 'yes'; END IF;
    -- From here on it is nobody's own: neither who was assigned to it then, nor of trips who drove.
    IF EXISTS (SELECT FROM drover.assigned_spans(a_vehicle) s WHERE s.account <> an_account AND s.from_at <= an_end AND s.until_at > a_begin)
        OR (a_deed = 'trip' AND EXISTS (SELECT FROM drover.driving d WHERE d.vehicle = a_vehicle AND d.account <> an_account
            AND d.from_at <= an_end AND d.until_at >= a_begin))
    THEN RETURN 'no'; END IF;
    IF EXISTS (SELECT FROM drover.fleet_vehicle v WHERE v.kind = 'car' AND v.vehicle = a_vehicle) THEN
        RETURN CASE WHEN drover.is_of_its_fleet(an_account, 'car', a_vehicle) AND 'driver' = ANY (the_roles) THEN 'yes' ELSE 'no' END;
    END IF;
    RETURN drover.may_write_free(an_account, 'car', a_vehicle);
END $$;
REVOKE ALL ON FUNCTION drover.may_write_car(an_account text, the_roles text[], a_deed text, a_vehicle text, a_begin timestamp with time zone, an_end timestamp with time zone) FROM PUBLIC;

-- A vehicle without owner and fleet. `first`: nobody has written about it, so whoever takes it may (drover.refused_writes does).
CREATE FUNCTION drover.may_write_free(an_account text, a_kind text, a_vehicle text) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    writer text;
BEGIN
    SELECT CASE WHEN w.is_over THEN '' ELSE w.account END INTO writer FROM drover.first_writer w WHERE w.kind = a_kind AND w.vehicle = a_vehicle;
    IF writer IS NOT NULL THEN
        -- Who keeps it has said since whose it is: by an owner, a box or an adapter.
        RETURN CASE WHEN writer = an_account
            AND NOT EXISTS (SELECT FROM drover.registration r WHERE r.kind = a_kind AND r.vehicle = a_vehicle AND (r.host IS NOT NULL OR a_kind = 'machine'))
            AND NOT EXISTS (SELECT FROM drover.car_owner o WHERE a_kind = 'car' AND o.vehicle = a_vehicle AND o.account IS NOT NULL)
            THEN 'yes' ELSE 'no' END;
    END IF;
    -- Somebody's it is all the same: a page is registering it, or we have its readings from elsewhere, or ask its box.
    IF EXISTS (SELECT FROM drover.vehicle_change c WHERE c.kind = a_kind AND c.vehicle = a_vehicle AND c.account <> an_account)
        OR EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle)
        OR EXISTS (SELECT FROM drover.registration r WHERE r.kind = a_kind AND r.vehicle = a_vehicle
            AND (r.account IS NOT NULL OR r.host IS NOT NULL OR a_kind = 'machine'))
        OR EXISTS (SELECT FROM drover.driving d WHERE a_kind = 'car' AND d.vehicle = a_vehicle AND d.account <> an_account)
    THEN RETURN 'no'; END IF;
    RETURN 'first';
END $$;
REVOKE ALL ON FUNCTION drover.may_write_free(an_account text, a_kind text, a_vehicle text) FROM PUBLIC;

CREATE FUNCTION drover.may_write_machine(an_account text, the_roles text[], a_deed text, a_vehicle text, a_begin timestamp with time zone) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF the_roles && ARRAY['farmer', 'fleet_manager'] AND drover.is_of_its_fleet(an_account, 'machine', a_vehicle) THEN RETURN 'yes'; END IF;
    IF 'dealer' = ANY (the_roles) AND EXISTS (SELECT FROM drover.dealership d WHERE d.vehicle = a_vehicle AND d.dealer = an_account
            AND d.ended_at IS NULL AND d.confirmed_at IS NOT NULL AND (d.shares_past OR d.confirmed_at <= a_begin)) THEN RETURN 'yes'; END IF;
    -- Developers see all machines and care for them; what machines measured is not theirs to say.
    IF 'developer' = ANY (the_roles) AND a_deed <> 'reading' THEN RETURN 'yes'; END IF;
    IF EXISTS (SELECT FROM drover.fleet_vehicle v WHERE v.kind = 'machine' AND v.vehicle = a_vehicle)
        OR EXISTS (SELECT FROM drover.dealership d WHERE d.vehicle = a_vehicle AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL)
    THEN RETURN 'no'; END IF;
    -- Machines are owned by fleets. Where there are none, nobody has neighbours.
    IF NOT EXISTS (SELECT FROM drover.fleet) THEN RETURN 'yes'; END IF;
    RETURN drover.may_write_free(an_account, 'machine', a_vehicle);
END $$;
REVOKE ALL ON FUNCTION drover.may_write_machine(an_account text, the_roles text[], a_deed text, a_vehicle text, a_begin timestamp with time zone) FROM PUBLIC;

-- What people are called, for readers who meet their accounts in what they see: in acknowledgements, services, drives. The reader's own name,
-- those of their fleets (with their parts and what they are a part of), of who drives, owns, keeps or sells vehicles that the reader sees, and
-- of who runs the installation. Nobody else's: who only guesses an id learns nothing.
CREATE FUNCTION drover.names_of(the_accounts text[]) RETURNS TABLE(account text, name text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 50
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH own AS MATERIALIZED (
        SELECT DISTINCT f.fleet FROM drover.fleet_member m JOIN drover.fleet mine ON mine.fleet = m.fleet
            JOIN drover.fleet f ON f.fleet IN (mine.fleet, mine.part_of) OR f.part_of = mine.fleet
            WHERE m.account = drover.sight_account()
    ), car AS MATERIALIZED (
        -- Looked up only for whom the fleets do not tell.
        SELECT drover.seen('car') AS vehicle UNION SELECT drover.driven()
    ), machine AS MATERIALIZED (
        SELECT drover.seen('machine') AS vehicle UNION SELECT drover.seen_partly('machine')
    )
    SELECT p.account, trim(p.first_name || ' ' || p.last_name)
    FROM drover.account p
    WHERE p.account = ANY (the_accounts) AND trim(p.first_name || ' ' || p.last_name) <> '' AND drover.reads_fleets()
        AND (drover.sees_all() OR p.account = drover.sight_account() OR p.roles && ARRAY['developer', 'operator', 'administrator']
            OR EXISTS (SELECT FROM drover.fleet_member m WHERE m.account = p.account AND m.fleet IN (SELECT o.fleet FROM own o))
            OR EXISTS (SELECT FROM drover.assignment a WHERE a.account = p.account AND a.vehicle IN (SELECT c.vehicle FROM car c))
            OR EXISTS (SELECT FROM drover.car_owner o WHERE o.account = p.account AND o.vehicle IN (SELECT c.vehicle FROM car c))
            OR EXISTS (SELECT FROM drover.dealership d WHERE d.dealer = p.account AND d.confirmed_at IS NOT NULL
                AND d.vehicle IN (SELECT m.vehicle FROM machine m))
            OR EXISTS (SELECT FROM drover.fleet_member m JOIN drover.fleet f ON m.fleet IN (f.fleet, f.part_of)
                JOIN drover.fleet_vehicle v ON v.fleet = f.fleet
                WHERE m.account = p.account AND CASE v.kind WHEN 'car' THEN v.vehicle IN (SELECT c.vehicle FROM car c)
                    ELSE v.vehicle IN (SELECT m.vehicle FROM machine m) END))
    LIMIT 500
$$;
REVOKE ALL ON FUNCTION drover.names_of(the_accounts text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.names_of(the_accounts text[]) TO drover_page;

-- The next version, held until the end of the transaction. The people of the survey are not in what it returns.
CREATE FUNCTION drover.next_forward() RETURNS TABLE(site text, survey text, version integer, tries integer, is_wanted boolean, is_sensitive boolean, body text)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH next AS (
        SELECT f.site, f.survey, f.version, f.account, f.tries FROM drover.forward f
        WHERE f.state = 'waiting' AND f.try_at <= now()
            AND NOT EXISTS (SELECT FROM drover.forward_pause p WHERE p.until_at > now())
            AND NOT EXISTS (SELECT FROM drover.forward o
                WHERE o.site = f.site AND o.survey = f.survey AND o.version < f.version AND o.state = 'waiting')
        ORDER BY f.try_at, f.site, f.survey LIMIT 1 FOR UPDATE OF f SKIP LOCKED
    )
    SELECT n.site, n.survey, n.version, n.tries, drover.forwards_surveys(n.account),
        EXISTS (SELECT FROM drover.sighting s WHERE s.site = n.site AND s.is_sensitive),
        (v.body::jsonb - 'surveyors')::text
    FROM next n LEFT JOIN drover.survey_version v
        ON v.site = n.site AND v.survey = n.survey AND v.version = n.version
$$;
REVOKE ALL ON FUNCTION drover.next_forward() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.next_forward() TO drover_relay;

-- Why nothing judges a vehicle as it is now; NULL: something does. For pages, programs and reports, by the one place that decides it
-- (drover.not_monitored_of): `nobody` drives or owns the car; who does has switched all alerts off (`alerts_off`); the machine's model is not
-- known (`no_model`), or neither it nor the machine has rules (`no_rules`).
CREATE FUNCTION drover.not_monitored(a_kind text, a_vehicle text) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN (SELECT n.not_monitored FROM drover.not_monitored_of(ARRAY[a_kind], ARRAY[a_vehicle]) AS n);
END $$;
REVOKE ALL ON FUNCTION drover.not_monitored(a_kind text, a_vehicle text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.not_monitored(a_kind text, a_vehicle text) TO drover_api, drover_page, drover_reader;

-- Why nothing judges these vehicles as they are now, a row for each that nothing does. The one place that decides it, for pages, programs and
-- reports: `nobody` drives or owns the car; who does has switched all alerts off (`alerts_off`); the machine's model is not known (`no_model`),
-- or neither it nor the machine has rules (`no_rules`). The right to ask, a set of rules, and a model's rules in it are looked up once for all of them.
CREATE FUNCTION drover.not_monitored_of(the_kinds text[], the_vehicles text[]) RETURNS TABLE(kind text, vehicle text, not_monitored text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
BEGIN
    IF NOT (drover.is_program() OR drover.reads_fleets()) THEN RETURN; END IF;
    RETURN QUERY
    WITH known AS MATERIALIZED (
        SELECT asked.kind, asked.vehicle, coalesce(v.model, r.model) AS model, coalesce(v.topic_partition, r.topic_partition) AS topic_partition
        FROM (SELECT DISTINCT a.kind, a.vehicle FROM unnest(the_kinds, the_vehicles) AS a(kind, vehicle)) AS asked
        LEFT JOIN drover.vehicle v ON v.kind = asked.kind AND v.vehicle = asked.vehicle
        LEFT JOIN drover.registration r ON r.kind = asked.kind AND r.vehicle = asked.vehicle
    ), heard AS MATERIALIZED (
        -- Of a car its latest trip tells when it was heard of last.
        SELECT k.vehicle, k.topic_partition,
            (SELECT t.end_at FROM drover.trip t WHERE t.vehicle = k.vehicle ORDER BY t.start_at DESC LIMIT 1) AS last_reading_at
        FROM known k WHERE k.kind = 'car'
    ), judged AS MATERIALIZED (
        -- Whose limits a car is judged by: who uploaded its last reading, else who is to drive it now, else who owns it (Sources/Alerts/Drivers.swift).
        SELECT h.vehicle, h.topic_partition, coalesce(
            -- Bounded: a drive is uploaded in pieces, and none is of a month.
            (SELECT d.account FROM drover.driving d WHERE d.vehicle = h.vehicle
                AND d.from_at BETWEEN h.last_reading_at - interval '31 days' AND h.last_reading_at AND d.until_at >= h.last_reading_at
                ORDER BY d.from_at DESC LIMIT 1),
            (SELECT a.account FROM drover.assignment a WHERE a.vehicle = h.vehicle AND a.assigned_at <= now() ORDER BY a.assigned_at DESC LIMIT 1),
            drover.car_owner_at(h.vehicle, now())) AS account
        FROM heard h
    ), cars AS (
        -- Where nobody answers for it the installation's limits judge it, if there are any (0071).
        SELECT 'car' AS kind, j.vehicle, CASE WHEN coalesce((SELECT s.settings ~ '"alerts"\s*:\s*false' FROM drover.account_settings s
                WHERE s.topic_partition = j.topic_partition AND s.account = coalesce(j.account, 'installation') AND s.in_force_at <= now()
                ORDER BY s.in_force_at DESC LIMIT 1), j.account IS NULL)
            THEN CASE WHEN j.account IS NULL THEN 'nobody' ELSE 'alerts_off' END END AS reason
        FROM judged j
    ), in_force AS MATERIALIZED (
        SELECT p.topic_partition, s.version, s.rules
        FROM (SELECT DISTINCT k.topic_partition FROM known k WHERE k.kind = 'machine' AND k.model IS NOT NULL) AS p
        CROSS JOIN LATERAL (SELECT r.version, r.rules FROM drover.rule_set r WHERE r.topic_partition = p.topic_partition AND r.in_force_at <= now()
            ORDER BY r.in_force_at DESC LIMIT 1) AS s
    ), texts AS MATERIALIZED (
        -- Each set unpacked once, by the empty text behind it.
        SELECT one.version, one.rules || '' AS rules FROM (SELECT DISTINCT ON (f.version) f.version, f.rules FROM in_force f) AS one
    ), sets AS MATERIALIZED (
        -- With the machines that it names, to be found by name.
        SELECT t.version, t.rules, (SELECT jsonb_object_agg(split_part(behind, E'\n', 1), true)
            FROM string_to_table(t.rules, E'\nmachine\t') AS behind) AS named
        FROM texts t
    ), machine AS MATERIALIZED (
        SELECT k.kind, k.vehicle, k.model, s.version, coalesce(jsonb_exists(s.named, k.vehicle), false) AS is_named
        FROM known k LEFT JOIN in_force f ON f.topic_partition = k.topic_partition LEFT JOIN sets s ON s.version = f.version
        WHERE k.kind = 'machine'
    ), models AS MATERIALIZED (
        -- Machines without rules of their own are judged as any other of their model: one is asked for.
        SELECT one.version, one.model, drover.is_judged(s.rules, one.model, one.vehicle) AS is_judged
        FROM (SELECT m.version, m.model, min(m.vehicle) AS vehicle FROM machine m WHERE NOT m.is_named AND m.model IS NOT NULL GROUP BY 1, 2) AS one
        JOIN sets s ON s.version = one.version
    ), machines AS (
        SELECT m.kind, m.vehicle, CASE WHEN m.model IS NULL THEN 'no_model'
            WHEN NOT coalesce(CASE WHEN m.is_named THEN drover.is_judged(s.rules, m.model, m.vehicle) ELSE o.is_judged END, false)
                THEN 'no_rules' END AS reason
        FROM machine m LEFT JOIN sets s ON s.version = m.version LEFT JOIN models o ON o.version = m.version AND o.model = m.model
    )
    SELECT c.kind, c.vehicle, c.reason FROM cars c WHERE c.reason IS NOT NULL
    UNION ALL
    SELECT m.kind, m.vehicle, m.reason FROM machines m WHERE m.reason IS NOT NULL;
END $$;
REVOKE ALL ON FUNCTION drover.not_monitored_of(the_kinds text[], the_vehicles text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.not_monitored_of(the_kinds text[], the_vehicles text[]) TO drover_api, drover_page, drover_reader;

CREATE FUNCTION drover.note_rule_edit(a_model text, a_vehicle text, a_version text, the_changes text[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF drover.edits_rules(a_vehicle) IS NOT TRUE THEN RETURN false; END IF;
    INSERT INTO drover.rule_edit (account, model, vehicle, version, changes) VALUES (drover.sight_account(), a_model, a_vehicle, a_version, the_changes);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.note_rule_edit(a_model text, a_vehicle text, a_version text, the_changes text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.note_rule_edit(a_model text, a_vehicle text, a_version text, the_changes text[]) TO drover_page;

-- What is known of these accounts that matters for telling them something.
CREATE FUNCTION drover.notice_accounts(the_accounts text[]) RETURNS TABLE(account text, mail text, name text, units text, zone text, is_enabled boolean, pushes bigint, steps integer[], colleagues text[], setting drover.notice_setting)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT p.account, p.mail, trim(p.first_name || ' ' || p.last_name), p.units, p.zone,
        p.disabled_at IS NULL AND p.confirmed_at IS NOT NULL,
        (SELECT count(*) FROM drover.push_subscription b WHERE b.account = p.account),
        (SELECT coalesce(array_agg(t.after_min ORDER BY t.step), '{}') FROM drover.notice_step t WHERE t.account = p.account),
        (SELECT coalesce(array_agg(t.colleague ORDER BY t.step), '{}') FROM drover.notice_step t WHERE t.account = p.account),
        s
        FROM drover.account p LEFT JOIN drover.notice_setting s USING (account)
        WHERE p.account = ANY (the_accounts)
$$;
REVOKE ALL ON FUNCTION drover.notice_accounts(the_accounts text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.notice_accounts(the_accounts text[]) TO drover_relay;

-- What a link would acknowledge, without doing it, of what the account may still say something of: a link in an old mail opens no more than its
-- reader has today. Which roles act on alerts of which kind, the program says (AlertAccess). No row: unknown, used or too late. The programs
-- before this one ask drover.look_at_notice_link, which knows machines alone.
CREATE FUNCTION drover.notice_link_alerts(a_link bytea) RETURNS TABLE(account text, roles text[], alert_id text, kind text, vehicle text, parameter text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 20
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT DISTINCT m.account, p.roles, a.alert_id, a.kind, a.vehicle, a.parameter
        FROM drover.notice_message m JOIN drover.notice_told t USING (message_id) JOIN drover.notice n USING (notice_id)
        JOIN drover.alert a USING (alert_id) JOIN drover.account p ON p.account = m.account
        WHERE m.link = a_link AND m.link_used_at IS NULL AND m.link_expires_at > now() AND p.disabled_at IS NULL
            AND a.state IN ('open', 'due_soon')
            AND (a.kind = 'car' OR a.audience = 'farmer' OR p.roles && ARRAY['developer', 'operator', 'administrator']
                OR (a.audience = 'dealer' AND 'dealer' = ANY (p.roles)))
            AND drover.may_write(m.account, 'alert', a.kind, a.vehicle, now(), now()) = 'yes'
        ORDER BY 5, 6, 3 LIMIT 200
$$;
REVOKE ALL ON FUNCTION drover.notice_link_alerts(a_link bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.notice_link_alerts(a_link bytea) TO drover_api;

-- Who is near enough to these alerts to be told, and may see them: as Sources/Domain/Alerts/Rules/Threshold.swift, Audience, and the row policies
-- have it. Dealers from the confirmation on.
CREATE FUNCTION drover.notice_people(the_alerts text[]) RETURNS TABLE(alert_id text, account text, relation text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH near AS (
        SELECT a.alert_id, m.account, 'owner' AS relation, 1 AS rank, a.audience
            FROM drover.alert a
            JOIN drover.fleet_vehicle v ON v.kind = a.kind AND v.vehicle = a.vehicle
            JOIN drover.fleet f ON f.fleet = v.fleet
            JOIN drover.fleet_member m ON m.fleet IN (f.fleet, f.part_of)
            JOIN drover.account p ON p.account = m.account
            WHERE a.alert_id = ANY (the_alerts) AND p.roles && ARRAY['farmer', 'fleet_manager']
        UNION ALL
        SELECT a.alert_id, d.dealer, 'dealer', 2, a.audience
            FROM drover.alert a JOIN drover.dealership d ON d.vehicle = a.vehicle
            JOIN drover.account p ON p.account = d.dealer
            WHERE a.alert_id = ANY (the_alerts) AND a.kind = 'machine' AND d.confirmed_at <= a.opened_at AND d.ended_at IS NULL
                AND 'dealer' = ANY (p.roles)
        UNION ALL
        SELECT a.alert_id, a.account, 'driver', 3, a.audience
            FROM drover.alert a WHERE a.alert_id = ANY (the_alerts) AND a.kind = 'car'
        UNION ALL
        SELECT a.alert_id, p.account, 'developer', 4, a.audience
            FROM drover.alert a CROSS JOIN drover.account p
            WHERE a.alert_id = ANY (the_alerts) AND a.kind = 'machine' AND 'developer' = ANY (p.roles)
    )
    SELECT DISTINCT ON (n.alert_id, n.account) n.alert_id, n.account, n.relation
        FROM near n JOIN drover.account p USING (account)
        WHERE p.disabled_at IS NULL AND p.confirmed_at IS NOT NULL
            AND CASE n.audience WHEN 'farmer' THEN true
                                WHEN 'dealer' THEN p.roles && ARRAY['dealer', 'developer', 'administrator', 'operator']
                                ELSE p.roles && ARRAY['developer', 'administrator', 'operator'] END
        ORDER BY n.alert_id, n.account, n.rank
$$;
REVOKE ALL ON FUNCTION drover.notice_people(the_alerts text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.notice_people(the_alerts text[]) TO drover_relay;

-- Alerts that nobody decided about for a minute: no relay runs. For who runs the installation.
CREATE FUNCTION drover.notices_undecided() RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT count(*) FROM (SELECT FROM drover.notice_event e WHERE e.told_at < now() - interval '1 minute'
        AND drover.sight_roles() && ARRAY['administrator', 'operator'] LIMIT 10000) AS late
$$;
REVOKE ALL ON FUNCTION drover.notices_undecided() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.notices_undecided() TO drover_page;

-- The same for whoever is logged in, of themselves.
CREATE FUNCTION drover.open_account(a_session bytea) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT a.account FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL
$$;
REVOKE ALL ON FUNCTION drover.open_account(a_session bytea) FROM PUBLIC;

-- Of a token the last twenty are good, for a day.
CREATE FUNCTION drover.open_survey_session(a_token bytea, a_session bytea) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    DELETE FROM drover.survey_session s WHERE s.token = a_token AND (s.opened_at < clock_timestamp() - interval '1 day'
        OR s.session IN (SELECT o.session FROM drover.survey_session o WHERE o.token = a_token
            ORDER BY o.opened_at DESC OFFSET 19));
    INSERT INTO drover.survey_session (session, token) VALUES (a_session, a_token);
$$;
REVOKE ALL ON FUNCTION drover.open_survey_session(a_token bytea, a_session bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.open_survey_session(a_token bytea, a_session bytea) TO drover_survey;

CREATE FUNCTION drover.own_files(a_session bytea) RETURNS TABLE(name text, content bytea)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT f.name, f.content FROM drover.files_of_person(drover.open_account(a_session)) AS f
$$;
REVOKE ALL ON FUNCTION drover.own_files(a_session bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.own_files(a_session bytea) TO drover_api;

CREATE FUNCTION drover.own_rows(a_session bytea, a_relation text) RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.rows_of_person(drover.open_account(a_session), a_relation, true)
$$;
REVOKE ALL ON FUNCTION drover.own_rows(a_session bytea, a_relation text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.own_rows(a_session bytea, a_relation text) TO drover_api;

-- With what one's own password is to be hashed: tries are counted for the session. No row: too many.
CREATE FUNCTION drover.own_salt(a_session bytea, a_remote text) RETURNS TABLE(salt bytea, memory_kib integer, passes integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    own drover.account;
BEGIN
    SELECT a.* INTO own FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.password IS NOT NULL;
    IF NOT FOUND OR NOT drover.admit_account_try(own.mail, a_remote, false, a_session) THEN RETURN; END IF;
    RETURN QUERY SELECT own.salt, own.memory_kib, own.passes;
END $$;
REVOKE ALL ON FUNCTION drover.own_salt(a_session bytea, a_remote text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.own_salt(a_session bytea, a_remote text) TO drover_api;

-- What an app password may allow, by the roles of whose it is; with the audit log, for who sees its page.
CREATE FUNCTION drover.own_scopes(the_roles text[]) RETURNS text[]
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT coalesce(array_agg(scope ORDER BY place), '{}') FROM (VALUES
        (1, 'upload', ARRAY['farmer', 'driver', 'fleet_manager', 'operator', 'administrator']),
        (2, 'read', ARRAY['farmer', 'dealer', 'developer', 'driver', 'fleet_manager', 'dispatcher', 'analyst', 'operator', 'administrator']),
        (3, 'account', ARRAY['farmer', 'driver', 'fleet_manager', 'operator', 'administrator']),
        (4, 'survey', ARRAY['surveyor']),
        (5, 'export', ARRAY['researcher', 'analyst', 'administrator']),
        -- Who finds /query.
        (6, 'query', ARRAY['analyst', 'researcher', 'dispatcher', 'ranger', 'fleet_manager', 'developer', 'operator', 'administrator']),
        (7, 'audit', ARRAY['administrator'])) AS allowed (place, scope, roles)
        WHERE allowed.roles && the_roles
$$;
REVOKE ALL ON FUNCTION drover.own_scopes(the_roles text[]) FROM PUBLIC;

CREATE FUNCTION drover.own_scopes_of_session(a_session bytea) RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.own_scopes(a.roles) FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL
$$;
REVOKE ALL ON FUNCTION drover.own_scopes_of_session(a_session bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.own_scopes_of_session(a_session bytea) TO drover_api;

CREATE FUNCTION drover.own_survey_receipts(before_number bigint, most integer) RETURNS TABLE(number bigint, site text, survey text, received_at timestamp with time zone, is_logged boolean, is_set_aside boolean, version integer, day text, sightings integer, individuals bigint, needs_review boolean, weather_missing integer)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 50
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT r.number, r.site, r.survey, r.received_at, r.partition IS NOT NULL,
        EXISTS (SELECT FROM drover.rejected x
            WHERE x.topic = 'drover.sightings' AND x.partition = r.partition AND x.record_offset = r.record_offset),
        s.version, to_char(s.local_date, 'YYYY-MM-DD'), s.sightings, s.individuals, s.needs_review, s.weather_missing
    FROM drover.survey_receipt r
    LEFT JOIN drover.survey s ON s.site = r.site AND s.survey = r.survey AND s.account = r.account
    WHERE r.account = drover.sight_account() AND r.number < before_number
    ORDER BY r.number DESC LIMIT least(most, 200)
$$;
REVOKE ALL ON FUNCTION drover.own_survey_receipts(before_number bigint, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.own_survey_receipts(before_number bigint, most integer) TO drover_page;

-- Whose machines the asking dealer looks after: for each that was confirmed to them and has not ended, its owners as they are now. Who has left
-- the fleet, lost the role or is disabled is an owner no more.
CREATE FUNCTION drover.owners_of_dealt() RETURNS TABLE(vehicle text, owner text, owner_name text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT DISTINCT d.vehicle, a.account, trim(a.first_name || ' ' || a.last_name)
    FROM drover.dealership d
        JOIN drover.fleet_vehicle v ON v.kind = 'machine' AND v.vehicle = d.vehicle
        JOIN drover.fleet f ON f.fleet = v.fleet
        JOIN drover.fleet_member m ON m.fleet = f.fleet OR m.fleet = f.part_of
        JOIN drover.account a ON a.account = m.account
    WHERE d.dealer = drover.sight_account() AND 'dealer' = ANY (drover.sight_roles())
        AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL
        AND a.disabled_at IS NULL AND a.roles && ARRAY['farmer', 'fleet_manager']
    ORDER BY 1, 2 LIMIT 10000
$$;
REVOKE ALL ON FUNCTION drover.owners_of_dealt() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.owners_of_dealt() TO drover_page;

-- Whose machine it is: farmers and fleet managers of its fleets.
CREATE FUNCTION drover.owners_of_machine(a_vehicle text) RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT DISTINCT a.account FROM drover.fleet_vehicle v
        JOIN drover.fleet f ON f.fleet = v.fleet
        JOIN drover.fleet_member m ON m.fleet = f.fleet OR m.fleet = f.part_of
        JOIN drover.account a ON a.account = m.account
        WHERE v.kind = 'machine' AND v.vehicle = a_vehicle AND a.disabled_at IS NULL AND a.roles && ARRAY['farmer', 'fleet_manager']
$$;
REVOKE ALL ON FUNCTION drover.owners_of_machine(a_vehicle text) FROM PUBLIC;

-- The other half of a log-in: the session is open from now on, by another mark, and the browser is known. False: another code.
CREATE FUNCTION drover.pass_code(a_session bytea, a_step bigint, a_recovery bytea, new_session bytea, a_remote text, shown_device bytea, new_device bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    own drover.account;
BEGIN
    SELECT a.* INTO own FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_awaiting(s) AND a.disabled_at IS NULL FOR UPDATE OF s;
    IF NOT FOUND OR NOT drover.take_factor_code(own.account, a_step, a_recovery) THEN RETURN false; END IF;
    UPDATE drover.account_session s SET digest = new_session, awaits_code = false, last_used_at = now() WHERE s.digest = a_session;
    PERFORM drover.trim_sessions(own.account);
    DELETE FROM drover.account_try t WHERE t.mail = lower(coalesce(own.mail, own.account)) AND NOT t.is_mail
        AND (t.device = shown_device OR t.device IS NULL AND t.remote = a_remote);
    PERFORM drover.know_device(own.account, shown_device, new_device);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.pass_code(a_session bytea, a_step bigint, a_recovery bytea, new_session bytea, a_remote text, shown_device bytea, new_device bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.pass_code(a_session bytea, a_step bigint, a_recovery bytea, new_session bytea, a_remote text, shown_device bytea, new_device bytea) TO drover_api;

-- Every table is named here once: with the rows of it that are about an account ($1), and what of them is nobody's to read (secrets,
-- and content that comes as a file); or with why it holds none. Erasing and taking one's data away go by the same list.
CREATE FUNCTION drover.person_data() RETURNS TABLE(relation text, condition text, left_out text[], why_not text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    SELECT named.relation, CASE
            WHEN named.rows = 'account' THEN 'r.account = $1'
            WHEN named.rows = 'bound'
                THEN 'EXISTS (SELECT FROM drover.person_account b WHERE b.account = $1 AND b.campus = r.campus AND b.person = r.person)'
            WHEN named.rows = 'survey' THEN 'EXISTS (SELECT FROM drover.survey v WHERE v.account = $1 AND v.site = r.site AND v.survey = r.survey)'
            WHEN named.rows = 'tour' THEN 'EXISTS (SELECT FROM drover.tour t WHERE t.account = $1 AND t.tour = r.tour)'
            -- By the vehicles first, which there is an index for.
            WHEN named.rows LIKE 'driven %' THEN format('r.vehicle IN (SELECT d.vehicle FROM drover.driving d WHERE d.account = $1) AND EXISTS ('
                'SELECT FROM drover.driving d WHERE d.account = $1 AND d.vehicle = r.vehicle AND %s)', substr(named.rows, 8))
            ELSE named.rows END, string_to_array(named.left_out, ' '), NULL
        FROM (VALUES
        ('account', 'account', 'password salt'), ('account_device', 'account', 'digest'), ('account_identity', 'account', ''),
        ('account_link', 'account', 'digest'), ('account_login', 'account', ''), ('account_recovery_code', 'account', 'digest'),
        ('account_second_factor', 'account', 'secret next_secret'), ('account_session', 'account', 'digest'),
        ('account_settings', 'account', ''),
        ('account_try', 'r.mail = (SELECT lower(a.mail) FROM drover.account a WHERE a.account = $1)', 'device'),
        ('acknowledgement', 'r.acknowledged_by = $1', ''), ('alert', 'account', ''), ('alert_event', 'account', 'record'),
        ('alert_triage', '$1 IN (r.said_by, r.account)', ''),
        ('audit_name', 'account', 'digest salt'), ('audit_tally', '$1 IN (r.actor, r.subject)', 'key'),
        ('audit_entry', 'EXISTS (SELECT FROM drover.audit_name n WHERE n.account = $1 AND n.digest IN (r.actor, r.subject))', 'hash'),
        ('assignment', 'r.account = $1 OR r.assigned_by = $1', ''), ('car_owner', 'account', ''), ('code_request', 'bound', 'asker'),
        ('dealer_mark', 'account', ''), ('dealership', '$1 IN (r.dealer, r.confirmed_by, r.ended_by)', ''), ('driving', 'account', ''), ('first_writer', 'account', ''),
        ('fleet_member', 'account', ''), ('forward', 'account', ''), ('health_scan', '$1 IN (r.asked_by, r.scanned_by)', ''),
        ('machine_photo', 'account', 'content'),
        ('mail', 'lower(r.recipient) = (SELECT lower(a.mail) FROM drover.account a WHERE a.account = $1)', 'body html leave_url'),
        ('notice', 'account', ''), ('notice_message', 'account', 'payload link'), ('notice_setting', 'account', 'webhook_key'),
        ('notice_step', '$1 IN (r.account, r.colleague)', ''),
        ('notice_told', 'EXISTS (SELECT FROM drover.notice_message m WHERE m.message_id = r.message_id AND m.account = $1)', ''),
        ('person', 'bound', ''), ('person_account', 'account', ''), ('person_code', 'bound', 'digest'), ('person_photo', 'bound', 'content'),
        ('person_token', 'bound', 'digest'), ('poll_request', 'r.asked_by = $1', ''), ('push_subscription', 'account', 'p256dh auth'), ('question', 'account', ''),
        ('registration', 'account', ''), ('report_schedule', 'r.account = $1 OR $1 = ANY (r.mail_to)', ''),
        ('report_run', 'EXISTS (SELECT FROM drover.report_schedule s WHERE s.schedule_id = r.schedule_id AND s.account = $1)', 'content digest'),
        ('ride', 'EXISTS (SELECT FROM drover.person_account b WHERE b.account = $1 AND b.campus = r.campus AND b.person = r.rider)', ''),
        ('ride_vehicle', 'EXISTS (SELECT FROM drover.person_account b WHERE b.account = $1 AND b.campus = r.campus AND b.person = r.driver)', ''),
        ('rider', 'EXISTS (SELECT FROM drover.person_account b WHERE b.account = $1 AND b.campus = r.campus AND b.person = r.rider)', ''),
        ('rule_edit', 'account', ''), ('service', 'r.recorded_by = $1', ''), ('sighting', 'survey', ''),
        ('silence', 'r.silenced_by = $1', ''), ('survey', 'account', ''), ('survey_photo', 'account', 'content'),
        ('survey_receipt', 'account', 'digest'),
        ('survey_session', 'EXISTS (SELECT FROM drover.token t WHERE t.digest = r.token AND t.account = $1)', 'session token'),
        ('survey_version', 'r.said_by = $1 OR EXISTS (SELECT FROM drover.survey v WHERE v.account = $1 AND v.site = r.site AND v.survey = r.survey)', ''),
        ('survey_waiting', 'r.account = $1 OR r.said_by = $1', ''), ('survey_weather', 'survey', ''), ('surveyor', 'survey', ''),
        ('token', 'account', 'digest'), ('tour', 'account', ''), ('tour_medium', 'tour', 'content'),
        ('tour_version', 'r.published_by = $1 OR EXISTS (SELECT FROM drover.tour t WHERE t.account = $1 AND t.tour = r.tour)', ''),
        ('trip', 'driven d.from_at <= r.end_at AND d.until_at >= r.start_at', ''),
        ('trip_mark', 'r.marked_by = $1', ''), ('trip_note', 'r.noted_by = $1', ''),
        ('trip_start', 'driven r.start_at BETWEEN d.from_at AND d.until_at', ''),
        ('trip_summary', 'account', ''), ('vehicle_change', 'account', ''),
        ('vehicle_minute', 'driven d.from_at < r.minute_at + interval ''1 minute'' AND d.until_at >= r.minute_at', '')
        ) AS named (relation, rows, left_out)
    UNION ALL
    SELECT none.relation, NULL, NULL, named.why_not FROM (VALUES
        ('account_secret audit_head migration outside_call outside_service partition_progress period period_width relay_turn retained turn', 'of the installation'),
        ('campus fleet fleet_vehicle quarantine rejected vehicle', 'names no account'),
        ('car_spreading car_support car_watch debug_log live_trip machine_reading machine_rejudging machine_spreading vehicle_day watched', 'of vehicles, whoever drives'),
        ('dispatch_decision', 'why a vehicle drives where: the rides are in `ride`'),
        ('forward_pause notice_event replaced_limits rule_set trip_rules', 'of all'),
        ('geocode travel_leg travel_line trip_weather weather_hour', 'answers about places, whoever asked'),
        ('mail_file', 'reports that wait with their mail: they are in `report_run`'),
        ('outbox', 'on its way to topics: the same as in other tables'),
        ('sighting_week species_season taxon taxon_name', 'sums, and names of species'),
        ('tour_day tour_event', 'visits of phones that nobody names'), ('tour_package tour_package_part', 'made of `tour_version`')
        ) AS named (relations, why_not), unnest(string_to_array(named.relations, ' ')) AS none (relation)
$_$;
REVOKE ALL ON FUNCTION drover.person_data() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.person_data() TO drover_api;

-- Whose token it is; no row: unknown, revoked, expired, or of somebody who is disabled or no longer on the roster.
CREATE FUNCTION drover.person_of_token(wanted bytea) RETURNS TABLE(campus text, person text, role text, name text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE drover.person_token t SET last_used_at = date_trunc('hour', now())
        WHERE t.digest = wanted AND t.last_used_at IS DISTINCT FROM date_trunc('hour', now())
            AND t.revoked_at IS NULL AND t.expires_at > now();
    RETURN QUERY SELECT p.campus, p.person, p.role, p.name
        FROM drover.person_token t JOIN drover.person p USING (campus, person)
        WHERE t.digest = wanted AND t.revoked_at IS NULL AND t.expires_at > now()
            AND p.left_at IS NULL AND p.disabled_at IS NULL;
END $$;
REVOKE ALL ON FUNCTION drover.person_of_token(wanted bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.person_of_token(wanted bytea) TO drover_api;

-- Whose open session it is, where the password is theirs (or they have none).
CREATE FUNCTION drover.proven_account(a_session bytea, a_password bytea) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT a.account FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL
            AND (a.password IS NULL OR a.password = a_password)
$$;
REVOKE ALL ON FUNCTION drover.proven_account(a_session bytea, a_password bytea) FROM PUBLIC;

CREATE FUNCTION drover.put_recovery_codes(an_account text, the_codes bytea[]) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    DELETE FROM drover.account_recovery_code c WHERE c.account = an_account;
    INSERT INTO drover.account_recovery_code (account, digest) SELECT an_account, code FROM unnest(the_codes[1:10]) AS code
$$;
REVOKE ALL ON FUNCTION drover.put_recovery_codes(an_account text, the_codes bytea[]) FROM PUBLIC;

-- Of an account as it is at this moment: whether it may ask still, and of which customers it is (fleets and campuses; '': of none). Whoever
-- runs the installation is of no customer, not even of ''. No row: there is no such account.
CREATE FUNCTION drover.question_asker(an_account text) RETURNS TABLE(is_disabled boolean, customers text[])
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT a.disabled_at IS NOT NULL, CASE WHEN a.roles && ARRAY['administrator', 'operator'] THEN '{}'
        ELSE coalesce(nullif(ARRAY(
            SELECT 'fleet ' || coalesce(f.part_of, f.fleet) FROM drover.fleet_member m JOIN drover.fleet f ON f.fleet = m.fleet WHERE m.account = a.account
            UNION SELECT 'campus ' || p.campus FROM drover.person_account p WHERE p.account = a.account), '{}'), ARRAY['']) END
    FROM drover.account a WHERE a.account = an_account
$$;
REVOKE ALL ON FUNCTION drover.question_asker(an_account text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.question_asker(an_account text) TO drover_query;

-- What of a statement, which somebody has made a view of, may not be asked: PostgreSQL's own parser has found each table and function.
-- Nothing has run yet.
CREATE FUNCTION drover.question_faults(a_view regclass) RETURNS SETOF text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    WITH RECURSIVE named AS (
        SELECT DISTINCT found[1] AS field, found[2]::oid AS id
        FROM pg_rewrite r, regexp_matches(r.ev_action::text,
            ':(relid|funcid|opfuncid|aggfnoid|winfnoid|opno|eqop|sortop|tsmhandler|(?:func|op)?resulttype|consttype|vartype|aggtype|wintype|typid) ([0-9]+)', 'g') AS found
        WHERE r.ev_class = a_view AND found[2] <> '0'),
    called AS (
        SELECT id FROM named WHERE field IN ('funcid', 'opfuncid', 'aggfnoid', 'winfnoid', 'tsmhandler')
        UNION SELECT o.oprcode FROM named n JOIN pg_operator o ON o.oid = n.id WHERE n.field IN ('opno', 'eqop', 'sortop')),
    -- Also those that columns of a function's rows are said to have, which no expression need name, and what rows, lists and domains are made of.
    typed AS (
        SELECT n.id FROM named n WHERE n.field ~ 'typ(e|id)$'
        UNION SELECT said::oid FROM pg_rewrite r, regexp_matches(r.ev_action::text, 'coltypes \(o ([0-9 ]+)\)', 'g') AS found,
            string_to_table(found[1], ' ') AS said WHERE r.ev_class = a_view
        UNION SELECT part.id FROM typed d JOIN pg_type t ON t.oid = d.id CROSS JOIN LATERAL (
            SELECT t.typelem AS id UNION ALL SELECT t.typbasetype
            UNION ALL SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) AS part WHERE part.id <> 0)
    SELECT DISTINCT format('%I.%I is none of the views that may be asked', s.nspname, c.relname)
        FROM named n JOIN pg_class c ON c.oid = n.id JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE n.field = 'relid' AND c.oid <> a_view AND (s.nspname <> 'own' OR c.relkind <> 'v')
    UNION
    SELECT DISTINCT format('the function %s may not be asked', p.proname)
        FROM called JOIN pg_proc p ON p.oid = called.id WHERE NOT drover.may_be_asked(p.oid)
    UNION
    -- These turn numbers into names of PostgreSQL's own: of tables, of people's logins. XML has grammars of its own.
    SELECT DISTINCT format('the type %s may not be asked', format_type(t.oid, NULL))
        FROM typed d JOIN pg_type t ON t.oid = d.id WHERE t.typname ~ '^_?(reg|aclitem$|xml$)'
    UNION
    SELECT 'XML may not be asked' FROM pg_rewrite r WHERE r.ev_class = a_view AND r.ev_action::text ~ '\{XMLEXPR'
    ORDER BY 1
$_$;
REVOKE ALL ON FUNCTION drover.question_faults(a_view regclass) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.question_faults(a_view regclass) TO drover_query;

-- What a question's connection is called says for whom it asks, for nobody sees its row: whoever ends the account ends the question, too.
-- By a digest, for everybody on the server sees what connections are called.
CREATE FUNCTION drover.question_name(an_account text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT 'drover question ' || left(encode(sha256(convert_to(an_account, 'UTF8')), 'hex'), 32)
$$;
REVOKE ALL ON FUNCTION drover.question_name(an_account text) FROM PUBLIC;

-- What a statement calls, as the fields of its parse tree name it: whether it looks at what may be long, or at a number of 100,000 digits, and which
-- arguments of it meet.
CREATE FUNCTION drover.question_steps(a_view regclass) RETURNS TABLE(field text, id oid, name text, is_of_long boolean, sides text[])
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH named AS (
        SELECT DISTINCT found[1] AS field, found[2]::oid AS id
        FROM pg_rewrite r, regexp_matches(r.ev_action::text, ':(funcid|aggfnoid|winfnoid|opno) ([0-9]+)', 'g') AS found WHERE r.ev_class = a_view)
    SELECT n.field, n.id, p.proname::text, drover.long_arguments(p.oid) <> '{}' OR 'numeric'::regtype = ANY (p.proargtypes::oid[]),
            drover.slow_sides(p.oid)::text[] FROM named n JOIN pg_proc p ON p.oid = n.id WHERE n.field <> 'opno'
    UNION ALL
    SELECT n.field, n.id, CASE o.oprname WHEN '~~' THEN 'LIKE' WHEN '!~~' THEN 'NOT LIKE' WHEN '~~*' THEN 'ILIKE' WHEN '!~~*' THEN 'NOT ILIKE'
        ELSE o.oprname END, drover.long_arguments(o.oprcode) <> '{}' OR 'numeric'::regtype IN (o.oprleft, o.oprright),
            drover.slow_sides(o.oprcode)::text[] FROM named n JOIN pg_operator o ON o.oid = n.id WHERE n.field = 'opno'
$$;
REVOKE ALL ON FUNCTION drover.question_steps(a_view regclass) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.question_steps(a_view regclass) TO drover_query;

-- JSON of one flat object that Drover has read before it was stored, so that only a number's size can keep jsonb from taking it:
-- NULL then. The door refuses such now (Sources/Platform/Formats/JSON/JSONNumber.swift).
CREATE FUNCTION drover.readable_json(a_text text) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE WHEN a_text !~ '[0-9][eE][+-]?0*[1-9][0-9]{3}' THEN a_text::jsonb END
$$;

-- One of its numbers; NULL for what is none, or too large for any weather.
CREATE FUNCTION drover.readable_number(a_value jsonb, a_key text) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE WHEN jsonb_typeof(a_value -> a_key) = 'number' AND abs((a_value ->> a_key)::numeric) < 10000000
        THEN round((a_value ->> a_key)::numeric, 9)::double precision END
$$;

-- Who has something to do with vehicles at all.
CREATE FUNCTION drover.reads_fleets() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.sight_roles() && ARRAY['farmer', 'dealer', 'developer', 'driver', 'fleet_manager', 'dispatcher', 'analyst', 'operator', 'administrator']
$$;
REVOKE ALL ON FUNCTION drover.reads_fleets() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.reads_fleets() TO drover_reader, drover_relay, drover_researcher, drover_sight, drover_writer;

CREATE FUNCTION drover.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'what was published of a tour stays as it is: publish another version';
END $$;

-- For programs: the vehicles of these that the account may not write about. None: what nobody has written about yet is the account's
-- from now on. Its new ids are counted in one place (drover.ids_taken).
CREATE FUNCTION drover.refused_writes(an_account text, a_deed text, a_kind text, the_vehicles text[], the_begins timestamp with time zone[], the_ends timestamp with time zone[]) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    refused text[];
    fresh text[];
BEGIN
    SELECT coalesce(array_agg(DISTINCT asked.vehicle) FILTER (WHERE asked.may = 'no'), '{}'),
            coalesce(array_agg(DISTINCT asked.vehicle) FILTER (WHERE asked.may = 'first'), '{}')
        INTO refused, fresh
        FROM (SELECT w.vehicle, drover.may_write(an_account, a_deed, a_kind, w.vehicle, w.begins_at, w.ends_at) AS may
              FROM unnest(the_vehicles, the_begins, the_ends) AS w(vehicle, begins_at, ends_at)) AS asked;
    IF cardinality(refused) = 0 AND cardinality(fresh) > 0 THEN
        -- So that nobody takes all ids that others may need. An operator's program has no such bound.
        IF drover.ids_taken(an_account) + cardinality(fresh) > 1000 THEN
            refused := fresh;
        ELSE
            -- In one order, so that two who take the same do not wait for each other.
            INSERT INTO drover.first_writer (kind, vehicle, account)
                SELECT a_kind, taken, an_account FROM unnest(fresh) AS taken ORDER BY taken COLLATE "C" ON CONFLICT DO NOTHING;
            -- Taken by another a moment before.
            SELECT coalesce(array_agg(w.vehicle), '{}') INTO refused FROM drover.first_writer w
                WHERE w.kind = a_kind AND w.vehicle = ANY (fresh) AND w.account <> an_account;
            IF cardinality(refused) > 0 THEN
                DELETE FROM drover.first_writer w WHERE w.kind = a_kind AND w.vehicle = ANY (fresh) AND w.account = an_account AND w.wrote_at = now();
            END IF;
        END IF;
    END IF;
    RETURN QUERY SELECT r FROM unnest(refused) AS r ORDER BY r COLLATE "C";
END $$;
REVOKE ALL ON FUNCTION drover.refused_writes(an_account text, a_deed text, a_kind text, the_vehicles text[], the_begins timestamp with time zone[], the_ends timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.refused_writes(an_account text, a_deed text, a_kind text, the_vehicles text[], the_begins timestamp with time zone[], the_ends timestamp with time zone[]) TO drover_api;

-- Makes an account that waits for its mail to be confirmed, and the mail; to somebody who has one already another mail goes.
-- It does not say which. What nobody confirmed in a week goes, but not who was invited or has a role or a fleet by another way.
CREATE FUNCTION drover.register(a_mail text, new_account text, a_first_name text, a_last_name text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer, a_link bytea, new_mail_id text, confirm_subject text, confirm_body bytea, known_subject text, known_body bytea) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    made text; is_news boolean;
BEGIN
    DELETE FROM drover.account a WHERE a.confirmed_at IS NULL AND a.made_at < now() - interval '7 days'
        AND a.account LIKE 'a-%' AND cardinality(a.roles) = 0 AND NOT EXISTS (SELECT FROM drover.fleet_member m WHERE m.account = a.account)
        AND NOT EXISTS (SELECT FROM drover.account_link l WHERE l.account = a.account AND l.expires_at > now());
    -- Nobody has confirmed it yet: whoever comes last may.
    INSERT INTO drover.account AS a (account, mail, first_name, last_name, password, salt, memory_kib, passes)
        VALUES (new_account, a_mail, a_first_name, a_last_name, new_password, new_salt, the_memory_kib, the_passes)
        ON CONFLICT (lower(mail)) DO UPDATE SET mail = EXCLUDED.mail, first_name = EXCLUDED.first_name,
            last_name = EXCLUDED.last_name, password = EXCLUDED.password, salt = EXCLUDED.salt,
            memory_kib = EXCLUDED.memory_kib, passes = EXCLUDED.passes
        WHERE a.confirmed_at IS NULL AND a.disabled_at IS NULL AND cardinality(a.roles) = 0
        RETURNING a.account INTO made;
    is_news := FOUND;
    IF is_news THEN
        DELETE FROM drover.account_link l WHERE l.account = made;
        INSERT INTO drover.account_link (digest, account, purpose, expires_at)
            VALUES (a_link, made, 'confirm', now() + interval '1 day');
    END IF;
    INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at)
        SELECT new_mail_id, a_mail, CASE WHEN is_news THEN confirm_subject ELSE known_subject END,
            CASE WHEN is_news THEN confirm_body ELSE known_body END, true, now() + interval '1 day';
END $$;
REVOKE ALL ON FUNCTION drover.register(a_mail text, new_account text, a_first_name text, a_last_name text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer, a_link bytea, new_mail_id text, confirm_subject text, confirm_body bytea, known_subject text, known_body bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.register(a_mail text, new_account text, a_first_name text, a_last_name text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer, a_link bytea, new_mail_id text, confirm_subject text, confirm_body bytea, known_subject text, known_body bytea) TO drover_api;

-- What is registered, whole, for who may change something of it: a record says all of it. No row: one may not. `record_id` is NULL
-- where nothing is registered yet.
CREATE FUNCTION drover.registration_kept(a_kind text, a_vehicle text) RETURNS TABLE(is_keeper boolean, record_id text, name text, model text, host text, port integer, certificate_sha256 text, tags text[], is_disabled boolean, account text, vin text, make text, year integer, fuel text, tank_ml integer, displacement_cc integer, efficiency_milli_pct integer)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.keeps(a_kind, a_vehicle), r.record_id, r.name, r.model, r.host, r.port, r.certificate_sha256, coalesce(r.tags, '{}'),
        coalesce(r.is_disabled, false), r.account, r.vin, r.make, r.year, r.fuel, round(r.tank_l * 1000)::int, r.displacement_cc,
        round(r.volumetric_efficiency_pct * 1000)::int
    FROM (SELECT 1) AS one LEFT JOIN drover.registration r ON r.kind = a_kind AND r.vehicle = a_vehicle
    WHERE drover.tags_vehicle(a_kind, a_vehicle)
$$;
REVOKE ALL ON FUNCTION drover.registration_kept(a_kind text, a_vehicle text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.registration_kept(a_kind text, a_vehicle text) TO drover_page;

CREATE FUNCTION drover.report_file(a_schedule bigint, a_due timestamp with time zone) RETURNS TABLE(name text, media_type text, content bytea)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT r.name, r.media_type, r.content FROM drover.report_run r
    WHERE r.schedule_id = a_schedule AND r.due_at = a_due AND r.content IS NOT NULL AND drover.holds_schedule(a_schedule)
$$;
REVOKE ALL ON FUNCTION drover.report_file(a_schedule bigint, a_due timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.report_file(a_schedule bigint, a_due timestamp with time zone) TO drover_page;

-- The last runs of each of these.
CREATE FUNCTION drover.report_runs(most integer) RETURNS TABLE(schedule_id bigint, due_at timestamp with time zone, state text, first_date text, last_date text, tries integer, try_at timestamp with time zone, reason text, made_at timestamp with time zone, rows integer, name text, bytes integer, is_kept boolean, mails integer, revision integer, change text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT r.schedule_id, r.due_at, r.state, r.first_date, r.last_date, r.tries, r.try_at, r.reason, r.made_at, r.rows, r.name,
        r.bytes, r.content IS NOT NULL, r.mails, r.revision, r.change
    FROM drover.report_schedules() s CROSS JOIN LATERAL (
        SELECT * FROM drover.report_run x WHERE x.schedule_id = s.schedule_id ORDER BY x.due_at DESC LIMIT least(most, 50)) r
    ORDER BY r.schedule_id, r.due_at DESC
$$;
REVOKE ALL ON FUNCTION drover.report_runs(most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.report_runs(most integer) TO drover_page;

CREATE FUNCTION drover.report_schedules() RETURNS TABLE(schedule_id bigint, shipped text, account text, report text, span text, narrowed_to text, fleet text, format text, cron text, zone text, mail_to text[], is_filed boolean, is_enabled boolean, next_due_at timestamp with time zone, left_out_at timestamp with time zone, trouble text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 20
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT s.schedule_id, s.shipped, s.account, s.report, s.span, s.narrowed_to, s.fleet, s.format, s.cron, s.zone, s.mail_to,
        s.is_filed, s.is_enabled, s.next_due_at, s.left_out_at, s.trouble
    FROM drover.report_schedule s
    WHERE s.account = drover.sight_account() OR 'administrator' = ANY (drover.sight_roles())
    ORDER BY s.account IS DISTINCT FROM drover.sight_account(), s.account, s.schedule_id LIMIT 200
$$;
REVOKE ALL ON FUNCTION drover.report_schedules() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.report_schedules() TO drover_page;

-- Whose role is taken keeps no app password that it allowed; nor a token of the operator's for what the role that was taken let the account do:
-- exports and questions, which ask for no role at each request. What an operator gave to an account that never had such a role stays.
CREATE FUNCTION drover.revoke_beyond_roles() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    kept text[] := drover.own_scopes(NEW.roles);
    taken text[] := ARRAY(SELECT had.scope FROM unnest(drover.own_scopes(OLD.roles)) AS had(scope)
        WHERE had.scope <> ALL (kept) AND had.scope IN ('export', 'query'));
BEGIN
    UPDATE drover.token t SET revoked_at = now()
        WHERE t.account = NEW.account AND t.revoked_at IS NULL AND (t.is_own AND NOT t.scopes <@ kept OR t.scopes && taken);
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION drover.revoke_beyond_roles() FROM PUBLIC;

CREATE FUNCTION drover.revoke_own_token(a_session bytea, a_token text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    UPDATE drover.token t SET revoked_at = coalesce(t.revoked_at, now())
        FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL AND t.account = s.account AND t.token_id = a_token
$$;
REVOKE ALL ON FUNCTION drover.revoke_own_token(a_session bytea, a_token text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.revoke_own_token(a_session bytea, a_token text) TO drover_api;

-- Rows as JSON, one after the other. `is_sight`: of vehicles what the account may see today; else of all that it said it drove, which an
-- operator looks through before handing it to who has left.
CREATE FUNCTION drover.rows_of_person(an_account text, a_relation text, is_sight boolean DEFAULT false) RETURNS SETOF text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    named record;
BEGIN
    SELECT d.* INTO named FROM drover.person_data() AS d WHERE d.relation = a_relation AND d.condition IS NOT NULL;
    IF NOT FOUND THEN RAISE EXCEPTION 'there are no rows of people in %', a_relation; END IF;
    IF is_sight THEN named.condition := replace(named.condition, 'drover.driving d', 'drover.believed_drives($1) d'); END IF;
    RETURN QUERY EXECUTE format('SELECT (to_jsonb(r) - $2)::text FROM drover.%I AS r WHERE %s', named.relation, named.condition)
        USING an_account, named.left_out;
END $_$;
REVOKE ALL ON FUNCTION drover.rows_of_person(an_account text, a_relation text, is_sight boolean) FROM PUBLIC;

-- By whose rule an alert of a machine was judged: the machine's own where its set has one of the parameter, else its model's. It follows
-- from the set, so it is not kept beside it. NULL: the set is not on record. A list asks once a set for its text, then for each alert.
CREATE FUNCTION drover.rule_text(a_version text) RETURNS text
    LANGUAGE sql STABLE COST 10000
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT r.rules FROM drover.rule_set_seen r WHERE r.version = a_version LIMIT 1
$$;
REVOKE ALL ON FUNCTION drover.rule_text(a_version text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.rule_text(a_version text) TO drover_reader, drover_relay, drover_sight, drover_writer;

CREATE FUNCTION drover.rule_whose(the_rules text, a_vehicle text, a_model text, a_parameter text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT CASE
        WHEN strpos(drover.rules_of_group(the_rules, E'machine\t' || a_vehicle), E'\nrule\t' || a_parameter || E'\t') > 0 THEN 'of this machine'
        WHEN a_model <> '' THEN 'of model ' || a_model END
$$;
REVOKE ALL ON FUNCTION drover.rule_whose(the_rules text, a_vehicle text, a_model text, a_parameter text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.rule_whose(the_rules text, a_vehicle text, a_model text, a_parameter text) TO drover_reader, drover_relay, drover_sight, drover_writer;

-- The rules of a model or machine in a rule set's text (Sources/Domain/Alerts/Rules/RuleText.swift), a line each; empty: it has none. `a_group` is its
-- line there. Plain expressions, and no settings of its own: it is asked for each vehicle of a page. A set may have 400 kB: cut by
-- split_part, which counts no characters, and first where the cut leaves little.
CREATE FUNCTION drover.rules_of_group(the_rules text, a_group text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
DECLARE
    behind text := split_part(the_rules, E'\n' || a_group || E'\n', 2);
BEGIN
    IF behind = '' THEN RETURN ''; END IF;
    -- The line's end belongs to the next line's mark, too.
    RETURN split_part(split_part(E'\n' || behind, E'\nmachine\t', 1), E'\nmodel\t', 1);
END $$;
REVOKE ALL ON FUNCTION drover.rules_of_group(the_rules text, a_group text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.rules_of_group(the_rules text, a_group text) TO drover_reader, drover_relay, drover_sight, drover_writer;

-- Of whoever's session it is, open or half. No row: neither.
CREATE FUNCTION drover.second_factor_of_session(a_session bytea) RETURNS TABLE(is_on boolean, is_half boolean, has_password boolean, codes_left integer, next_secret bytea)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT f.secret IS NOT NULL, s.awaits_code, a.password IS NOT NULL,
            (SELECT count(*)::int FROM drover.account_recovery_code c WHERE c.account = a.account),
            CASE WHEN NOT s.awaits_code AND f.next_at > now() - interval '1 hour' THEN f.next_secret END
        FROM drover.account_session s JOIN drover.account a USING (account) LEFT JOIN drover.account_second_factor f USING (account)
        WHERE s.digest = a_session AND (drover.is_session_open(s) OR drover.is_session_awaiting(s)) AND a.disabled_at IS NULL
$$;
REVOKE ALL ON FUNCTION drover.second_factor_of_session(a_session bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.second_factor_of_session(a_session bytea) TO drover_api, drover_page;

-- Vehicles that are seen with their whole past. Developers see the machines that they made.
CREATE FUNCTION drover.seen(a_kind text) RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT v.vehicle FROM drover.fleet_member m
        JOIN drover.fleet f ON f.fleet = m.fleet OR f.part_of = m.fleet
        JOIN drover.fleet_vehicle v ON v.fleet = f.fleet
        WHERE m.account = drover.sight_account() AND v.kind = a_kind
            AND drover.sight_roles() && ARRAY['farmer', 'fleet_manager', 'analyst', 'dispatcher']
    UNION
    SELECT o.vehicle FROM drover.car_owner o
        WHERE a_kind = 'car' GROUP BY o.vehicle
        HAVING drover.sight_account() IS NOT NULL AND bool_and(o.account IS NOT DISTINCT FROM drover.sight_account())
    UNION
    SELECT d.vehicle FROM drover.dealership d
        WHERE a_kind = 'machine' AND d.dealer = drover.sight_account() AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL
            AND d.shares_past AND 'dealer' = ANY (drover.sight_roles())
    UNION
    SELECT v.vehicle FROM drover.vehicle v
        WHERE a_kind = 'machine' AND v.kind = 'machine' AND 'developer' = ANY (drover.sight_roles())
    UNION
    SELECT r.vehicle FROM drover.registration r
        WHERE a_kind = 'machine' AND r.kind = 'machine' AND 'developer' = ANY (drover.sight_roles())
$$;
REVOKE ALL ON FUNCTION drover.seen(a_kind text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.seen(a_kind text) TO drover_reader, drover_sight, drover_writer;

-- Alerts are for one of these: as Sources/Domain/Alerts/Rules/Threshold.swift, Audience, has them. Who reads no fleets gets none.
CREATE FUNCTION drover.seen_audiences() RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT CASE WHEN drover.sight_roles() && ARRAY['developer', 'administrator', 'operator'] THEN ARRAY['farmer', 'dealer', 'developer']
                WHEN drover.sight_roles() && ARRAY['dealer'] THEN ARRAY['farmer', 'dealer']
                WHEN drover.reads_fleets() THEN ARRAY['farmer']
                ELSE '{}'::text[] END
$$;
REVOKE ALL ON FUNCTION drover.seen_audiences() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.seen_audiences() TO drover_reader, drover_sight, drover_writer;

-- Vehicles of which some times are seen: a dealer's machines from the confirmation on, a car while one owned it.
CREATE FUNCTION drover.seen_partly(a_kind text) RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT d.vehicle FROM drover.dealership d
        WHERE a_kind = 'machine' AND d.dealer = drover.sight_account() AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL
            AND 'dealer' = ANY (drover.sight_roles())
    UNION
    SELECT o.vehicle FROM drover.car_owner o WHERE a_kind = 'car' AND o.account = drover.sight_account()
$$;
REVOKE ALL ON FUNCTION drover.seen_partly(a_kind text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.seen_partly(a_kind text) TO drover_reader, drover_sight, drover_writer;

-- Not of a person, or of one who runs the installation. As the caller, so that it knows as whom it was asked.
CREATE FUNCTION drover.sees_all() RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.is_program() OR drover.sight_roles() && ARRAY['administrator', 'operator']
$$;
REVOKE ALL ON FUNCTION drover.sees_all() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.sees_all() TO drover_reader, drover_relay, drover_researcher, drover_sight, drover_writer;

-- Of one of these, whether this time is seen. What was recorded before anybody owned a car is its first owner's.
CREATE FUNCTION drover.sees_at(a_kind text, a_vehicle text, a_time timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT CASE a_kind
        WHEN 'machine' THEN EXISTS (SELECT FROM drover.dealership d
            WHERE d.vehicle = a_vehicle AND d.dealer = drover.sight_account() AND d.confirmed_at <= a_time AND d.ended_at IS NULL)
        ELSE coalesce((SELECT o.account = drover.sight_account() FROM drover.car_owner o
            WHERE o.vehicle = a_vehicle
            ORDER BY o.owned_at <= a_time DESC, CASE WHEN o.owned_at <= a_time THEN o.owned_at END DESC, o.owned_at LIMIT 1), false)
        END
$$;
REVOKE ALL ON FUNCTION drover.sees_at(a_kind text, a_vehicle text, a_time timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.sees_at(a_kind text, a_vehicle text, a_time timestamp with time zone) TO drover_reader, drover_sight, drover_writer;

-- `how`: 'exact', 'shown' (blurred) or 'own'.
CREATE FUNCTION drover.sees_sightings(how text) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.sight_roles() && CASE how
        WHEN 'exact' THEN ARRAY['researcher', 'administrator']
        WHEN 'shown' THEN ARRAY['researcher', 'administrator', 'analyst']
        WHEN 'own' THEN ARRAY['surveyor'] END
$$;
REVOKE ALL ON FUNCTION drover.sees_sightings(how text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.sees_sightings(how text) TO drover_page, drover_reader, drover_researcher, drover_sight;

CREATE FUNCTION drover.sessions_of_session(a_session bytea) RETURNS TABLE(number bigint, agent text, made_at timestamp with time zone, last_used_at timestamp with time zone, is_this boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT o.number, o.agent, o.made_at, o.last_used_at, o.digest = a_session
        FROM drover.account_session s JOIN drover.account_session o USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND drover.is_session_open(o)
        ORDER BY o.number DESC
$$;
REVOKE ALL ON FUNCTION drover.sessions_of_session(a_session bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.sessions_of_session(a_session bytea) TO drover_api;

-- Whoever opens a mailed or printed link gets in with the password that they choose, whatever others try: the device is known from
-- then on, and those from before are not.
CREATE FUNCTION drover.set_password(a_link bytea, a_mail text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    used text;
BEGIN
    DELETE FROM drover.account_link l USING drover.account a
        WHERE l.digest = a_link AND l.purpose = 'password' AND l.expires_at > now() AND a.account = l.account
            AND a.disabled_at IS NULL AND (a.mail IS NOT NULL OR a_mail IS NOT NULL
                AND NOT EXISTS (SELECT FROM drover.account o WHERE lower(o.mail) = lower(a_mail)))
        RETURNING l.account INTO used;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE drover.account a SET password = new_password, salt = new_salt, memory_kib = the_memory_kib, passes = the_passes,
            mail = coalesce(a.mail, a_mail), confirmed_at = coalesce(a.confirmed_at, now())
        WHERE a.account = used;
    DELETE FROM drover.account_session s WHERE s.account = used;
    DELETE FROM drover.account_link l WHERE l.account = used;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.set_password(a_link bytea, a_mail text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.set_password(a_link bytea, a_mail text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer) TO drover_api;

-- Whoever opens a mailed or printed link gets in with the password that they choose, whatever others try: the device is known from
-- then on, and those from before are not.
CREATE FUNCTION drover.set_password(a_link bytea, a_mail text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer, new_device bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    holder text := (SELECT l.account FROM drover.account_link l WHERE l.digest = a_link AND l.purpose = 'password');
BEGIN
    IF NOT drover.set_password(a_link, a_mail, new_password, new_salt, the_memory_kib, the_passes) THEN RETURN false; END IF;
    DELETE FROM drover.account_device d WHERE d.account = holder;
    PERFORM drover.know_device(holder, NULL, new_device);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.set_password(a_link bytea, a_mail text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer, new_device bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.set_password(a_link bytea, a_mail text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer, new_device bytea) TO drover_api;

-- Beside others who share it.
CREATE FUNCTION drover.share_turn(a_name text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM FROM drover.turn t WHERE t.what = split_part(a_name, ' ', 1) AND t.slot = drover.turn_slot(a_name) FOR SHARE;
    IF NOT FOUND THEN RAISE EXCEPTION 'there is no such turn as %', a_name; END IF;
END $$;
REVOKE ALL ON FUNCTION drover.share_turn(a_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.share_turn(a_name text) TO drover_writer;

-- Who reads: what the pages say, or whose login it is; of the login that asks for people, for whom its transaction does. NULL: nobody, or
-- disabled; then nothing is seen.
CREATE FUNCTION drover.sight_account() RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT a.account FROM drover.account a
    WHERE a.disabled_at IS NULL AND a.account = CASE
        WHEN EXISTS (SELECT FROM drover.account_login l WHERE l.login = session_user)
            THEN (SELECT l.account FROM drover.account_login l WHERE l.login = session_user)
        WHEN pg_has_role(session_user, 'drover_page', 'MEMBER') THEN nullif(current_setting('drover.account', true), '')
        WHEN pg_has_role(session_user, 'drover_query', 'MEMBER') THEN (SELECT q.account FROM drover.question q WHERE q.pid = pg_backend_pid())
    END
$$;
REVOKE ALL ON FUNCTION drover.sight_account() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.sight_account() TO drover_reader, drover_sight, drover_writer;

CREATE FUNCTION drover.sight_roles() RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT coalesce((SELECT a.roles FROM drover.account a WHERE a.account = drover.sight_account()), '{}')
$$;
REVOKE ALL ON FUNCTION drover.sight_roles() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.sight_roles() TO drover_reader, drover_relay, drover_researcher, drover_sight, drover_writer;

-- Which arguments of a function meet each with each, so that it takes the product of their lengths in one step: 75,000 numbers `<@` as many took 43 s.
-- Whatever has two arguments that may be long, but for those named here, which go through each once (equality, order, putting together, taking one thing
-- out), and regular expressions, which do look at the clock. None: it is fast. docs/decisions/0027-questions.md.
CREATE FUNCTION drover.slow_sides(a_function oid) RETURNS integer[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    SELECT CASE WHEN cardinality(sides.long) < 2
            OR p.prosrc = ANY (ARRAY[
                -- Arrays: put together, or looked through for one element.
                'array_append', 'array_cat', 'array_larger', 'array_position', 'array_position_start', 'array_positions', 'array_prepend',
                'array_remove', 'array_replace', 'array_smaller', 'array_to_text', 'array_to_text_null', 'width_bucket_array',
                -- Texts and bytes: put together, or compared from the start on.
                'bit_and', 'bitcat', 'bit_or', 'bitxor', 'bitoverlay', 'bitoverlay_no_len', 'bpchar_larger', 'bpchar_smaller', 'byteacat',
                'byteaoverlay', 'byteaoverlay_no_len', 'text_concat_ws', 'text_format', 'text_larger', 'text_smaller', 'text_starts_with',
                'textcat', 'textoverlay', 'textoverlay_no_len', 'timestamptz_trunc_zone',
                -- A pattern becomes another.
                'like_escape', 'like_escape_bytea', 'similar_escape', 'similar_to_escape_2',
                -- JSON: put together, or one key or path looked for.
                'json_extract_path', 'json_extract_path_text', 'json_object_field', 'json_object_field_text', 'json_object_two_arg',
                'json_populate_record', 'json_populate_recordset', 'jsonb_concat', 'jsonb_delete', 'jsonb_delete_path', 'jsonb_exists',
                'jsonb_extract_path', 'jsonb_extract_path_text', 'jsonb_insert', 'jsonb_object_field', 'jsonb_object_field_text',
                'jsonb_object_two_arg', 'jsonb_populate_record', 'jsonb_populate_recordset', 'jsonb_set', 'jsonb_set_lax',
                -- Paths and polygons: put together, or their corners counted, or the boxes around them compared.
                'path_add', 'path_n_eq', 'path_n_ge', 'path_n_gt', 'path_n_le', 'path_n_lt', 'poly_above', 'poly_below', 'poly_left',
                'poly_overabove', 'poly_overbelow', 'poly_overleft', 'poly_overright', 'poly_right',
                'window_lag_with_offset_and_default', 'window_lead_with_offset_and_default'])
            OR p.proname = ANY (ARRAY['anytextcat', 'textanycat', 'json_object_agg', 'jsonb_object_agg', 'percentile_disc', 'string_agg'])
            OR p.proname ~ '^regexp_|regexeq$|regexne$' OR p.proname = 'substring'
            OR EXISTS (SELECT FROM pg_operator o LEFT JOIN pg_operator negated ON negated.oid = o.oprnegate
                JOIN pg_amop m ON m.amopopr IN (o.oid, negated.oid) AND m.amopmethod = (SELECT a.oid FROM pg_am a WHERE a.amname = 'btree')
                WHERE o.oprcode = p.oid)
        THEN '{}'
        -- The third is what is put in, or a text that stands for NULL.
        WHEN p.prosrc ~ '^(replace_text|text_to_(array|table)(_null)?)$' THEN '{1,2}'
        ELSE sides.long END
    FROM pg_proc p CROSS JOIN LATERAL (SELECT drover.long_arguments(p.oid) AS long) AS sides
    WHERE p.oid = a_function
$_$;
REVOKE ALL ON FUNCTION drover.slow_sides(a_function oid) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.slow_sides(a_function oid) TO drover_query;

-- What may be met at a place in a month: names that were seen within a cell of one degree and its neighbours, in that month
-- and the ones beside it; where nothing was, all of the taxonomy. Names that nobody knows may be anything, and where
-- sensitive species live is nobody's business: neither is told.
CREATE FUNCTION drover.species_list(a_latitude double precision, a_longitude double precision, a_month integer) RETURNS TABLE(species text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    cell_latitude int;
    cell_longitude int;
BEGIN
    IF a_latitude IS NULL OR a_longitude IS NULL OR a_month IS NULL OR NOT a_latitude BETWEEN -90 AND 90
        OR NOT a_longitude BETWEEN -180 AND 180 OR NOT a_month BETWEEN 1 AND 12 THEN
        RAISE EXCEPTION 'no such place or month' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    cell_latitude := floor(a_latitude)::int;
    cell_longitude := floor(a_longitude)::int;
    RETURN QUERY
        SELECT t.name FROM drover.taxon t
        WHERE NOT t.is_sensitive AND EXISTS (
            SELECT FROM drover.species_season s
            WHERE s.species = t.name
                AND s.latitude_cell IN (cell_latitude - 1, cell_latitude, cell_latitude + 1)
                -- 180° east and west are one meridian.
                AND s.longitude_cell IN ((cell_longitude + 179 + 360) % 360 - 180, (cell_longitude + 180) % 360 - 180,
                    (cell_longitude + 181) % 360 - 180)
                AND s.month IN ((a_month + 10) % 12 + 1, a_month, a_month % 12 + 1))
        ORDER BY t.name COLLATE "C" LIMIT 5000;
    IF NOT FOUND THEN
        RETURN QUERY
            SELECT t.name FROM drover.taxon t WHERE NOT t.is_sensitive AND t.rank IN ('species', 'subspecies')
            ORDER BY t.name COLLATE "C" LIMIT 5000;
    END IF;
END $$;
REVOKE ALL ON FUNCTION drover.species_list(a_latitude double precision, a_longitude double precision, a_month integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.species_list(a_latitude double precision, a_longitude double precision, a_month integer) TO drover_api, drover_survey;

-- Which of these streams go on, by their places from 1: what each was opened with, a session or a token, holds still, and a session's
-- account is still who it was on the campus ('': it was nobody there) and has the roles that it had when it asked (with commas between them):
-- a page's stream went on for a quarter of an hour, and the answer of a question went out. Of a token the trigger revoke_beyond_roles sees to
-- that. Asked with each heartbeat.
CREATE FUNCTION drover.streams_that_hold(the_keys bytea[], the_campuses text[], the_people text[]) RETURNS SETOF integer
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT w.place::int FROM unnest(the_keys, the_campuses, the_people) WITH ORDINALITY AS w(key, campus, person, place)
    WHERE EXISTS (SELECT FROM drover.account_session s JOIN drover.account a USING (account)
            WHERE s.digest = w.key AND drover.is_session_open(s) AND a.disabled_at IS NULL
                AND (w.campus = '' OR EXISTS (
                    SELECT FROM drover.person_account b JOIN drover.person p USING (campus, person)
                    WHERE b.campus = w.campus AND b.person = w.person AND b.account = a.account AND p.role = ANY (a.roles)
                        AND p.left_at IS NULL AND p.disabled_at IS NULL)))
        OR EXISTS (SELECT FROM drover.token t LEFT JOIN drover.account a USING (account)
            WHERE t.digest = w.key AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now()) AND a.disabled_at IS NULL)
        OR EXISTS (SELECT FROM drover.person_token t JOIN drover.person p USING (campus, person)
            WHERE t.digest = w.key AND t.revoked_at IS NULL AND t.expires_at > now() AND p.left_at IS NULL AND p.disabled_at IS NULL)
$$;
REVOKE ALL ON FUNCTION drover.streams_that_hold(the_keys bytea[], the_campuses text[], the_people text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.streams_that_hold(the_keys bytea[], the_campuses text[], the_people text[]) TO drover_api;

-- Which of these streams go on, by their places from 1: what each was opened with, a session or a token, holds still, and a session's
-- account is still who it was on the campus ('': it was nobody there) and has the roles that it had when it asked (with commas between them):
-- a page's stream went on for a quarter of an hour, and the answer of a question went out. Of a token the trigger revoke_beyond_roles sees to
-- that. Asked with each heartbeat.
CREATE FUNCTION drover.streams_that_hold(the_keys bytea[], the_campuses text[], the_people text[], the_roles text[]) RETURNS SETOF integer
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT w.place::int FROM unnest(the_keys, the_campuses, the_people, the_roles) WITH ORDINALITY AS w(key, campus, person, roles, place)
    WHERE EXISTS (SELECT FROM drover.account_session s JOIN drover.account a USING (account)
            WHERE s.digest = w.key AND drover.is_session_open(s) AND a.disabled_at IS NULL AND string_to_array(w.roles, ',') <@ a.roles
                AND (w.campus = '' OR EXISTS (
                    SELECT FROM drover.person_account b JOIN drover.person p USING (campus, person)
                    WHERE b.campus = w.campus AND b.person = w.person AND b.account = a.account AND p.role = ANY (a.roles)
                        AND p.left_at IS NULL AND p.disabled_at IS NULL)))
        OR EXISTS (SELECT FROM drover.token t LEFT JOIN drover.account a USING (account)
            WHERE t.digest = w.key AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now()) AND a.disabled_at IS NULL)
        OR EXISTS (SELECT FROM drover.person_token t JOIN drover.person p USING (campus, person)
            WHERE t.digest = w.key AND t.revoked_at IS NULL AND t.expires_at > now() AND p.left_at IS NULL AND p.disabled_at IS NULL)
$$;
REVOKE ALL ON FUNCTION drover.streams_that_hold(the_keys bytea[], the_campuses text[], the_people text[], the_roles text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.streams_that_hold(the_keys bytea[], the_campuses text[], the_people text[], the_roles text[]) TO drover_api, drover_query;

-- A browser that several people log in with belongs to the last one. Twenty an account; the oldest go first.
CREATE FUNCTION drover.subscribe_push(an_endpoint text, a_key bytea, an_auth bytea, an_agent text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO drover.push_subscription (endpoint, account, p256dh, auth, agent)
        VALUES (an_endpoint, drover.sight_account(), a_key, an_auth, an_agent)
        ON CONFLICT (endpoint) DO UPDATE SET account = EXCLUDED.account, p256dh = EXCLUDED.p256dh, auth = EXCLUDED.auth,
            agent = EXCLUDED.agent, made_at = now();
    DELETE FROM drover.push_subscription s WHERE s.endpoint IN (SELECT o.endpoint FROM drover.push_subscription o
        WHERE o.account = drover.sight_account() ORDER BY o.made_at DESC, o.endpoint OFFSET 20);
END $$;
REVOKE ALL ON FUNCTION drover.subscribe_push(an_endpoint text, a_key bytea, an_auth bytea, an_agent text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.subscribe_push(an_endpoint text, a_key bytea, an_auth bytea, an_agent text) TO drover_page;

-- Reviewers see all photos of surveys, everybody else the own ones.
CREATE FUNCTION drover.survey_photo_seen(a_photo text) RETURNS TABLE(media_type text, content bytea)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT p.media_type, p.content FROM drover.survey_photo p
    WHERE p.photo = a_photo AND (drover.sees_sightings('exact')
        OR (drover.sees_sightings('own') AND p.account = drover.sight_account()))
$$;
REVOKE ALL ON FUNCTION drover.survey_photo_seen(a_photo text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.survey_photo_seen(a_photo text) TO drover_page;

CREATE FUNCTION drover.survey_receipt_of(an_account text, a_site text, a_survey text) RETURNS TABLE(number bigint, digest bytea, received_at timestamp with time zone, is_logged boolean, is_set_aside boolean, version integer, weather_missing integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT r.number, r.digest, r.received_at, r.partition IS NOT NULL,
        EXISTS (SELECT FROM drover.rejected x
            WHERE x.topic = 'drover.sightings' AND x.partition = r.partition AND x.record_offset = r.record_offset),
        s.version, s.weather_missing
    FROM drover.survey_receipt r LEFT JOIN drover.survey s ON s.site = r.site AND s.survey = r.survey
    WHERE r.account = an_account AND r.site = a_site AND r.survey = a_survey
$$;
REVOKE ALL ON FUNCTION drover.survey_receipt_of(an_account text, a_site text, a_survey text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.survey_receipt_of(an_account text, a_site text, a_survey text) TO drover_survey;

CREATE FUNCTION drover.survey_session_token(a_session bytea) RETURNS bytea
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT s.token FROM drover.survey_session s
    WHERE s.session = a_session AND s.opened_at > clock_timestamp() - interval '1 day'
$$;
REVOKE ALL ON FUNCTION drover.survey_session_token(a_session bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.survey_session_token(a_session bytea) TO drover_survey;

-- The versions of a survey that one may see, each with who said it; the text of one of them (NULL: the newest).
CREATE FUNCTION drover.survey_versions_seen(a_site text, a_survey text, a_version integer) RETURNS TABLE(version integer, record_id text, said_at timestamp with time zone, said_by text, note text, body text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 5
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT v.version, v.record_id, v.said_at, v.said_by, v.note,
        CASE WHEN v.version = coalesce(a_version, max(v.version) OVER ()) THEN v.body END
    FROM drover.survey_version v
    WHERE v.site = a_site AND v.survey = a_survey
        AND (drover.sees_sightings('exact') OR (drover.sees_sightings('own') AND EXISTS (
            SELECT FROM drover.survey s WHERE s.site = a_site AND s.survey = a_survey AND s.account = drover.sight_account())))
    ORDER BY v.version
$$;
REVOKE ALL ON FUNCTION drover.survey_versions_seen(a_site text, a_survey text, a_version integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.survey_versions_seen(a_site text, a_survey text, a_version integer) TO drover_page;

-- Of each the first place on the log is kept: it is the one that counts.
CREATE FUNCTION drover.surveys_logged(the_numbers bigint[], the_partitions integer[], the_offsets bigint[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE drover.survey_receipt r SET partition = place.partition, record_offset = place.record_offset
        FROM (SELECT DISTINCT ON (number) * FROM unnest(the_numbers, the_partitions, the_offsets)
            AS place (number, partition, record_offset) ORDER BY number, record_offset) AS place
        WHERE r.number = place.number AND r.partition IS NULL;
END $$;
REVOKE ALL ON FUNCTION drover.surveys_logged(the_numbers bigint[], the_partitions integer[], the_offsets bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.surveys_logged(the_numbers bigint[], the_partitions integer[], the_offsets bigint[]) TO drover_survey;

-- What a reviewer should see, with the reasons. A survey that a reviewer has been through is not asked for its places and months
-- again. NULL: of all sites.
CREATE FUNCTION drover.surveys_open(a_site text, most integer) RETURNS TABLE(site text, survey text, version integer, day text, submitted_at timestamp with time zone, reasons text)
    LANGUAGE sql STABLE ROWS 100
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH open AS (
        SELECT x.site, x.survey, x.given_name, x.review_reason AS reason FROM drover.survey s
        JOIN drover.sighting x ON x.site = s.site AND x.survey = s.survey AND x.needs_review
        WHERE s.needs_review AND (a_site IS NULL OR s.site = a_site)
        UNION
        SELECT x.site, x.survey, x.given_name, u.reason FROM drover.unusual_sightings(a_site) u
        JOIN drover.sighting x ON x.site = u.site AND x.species = u.species AND x.individuals > 0
            AND x.seen_at >= make_date(u.year, u.month, 1)::timestamptz - interval '2 days'
            AND x.seen_at < make_date(u.year, u.month, 1)::timestamptz + interval '33 days'
            AND x.local_date >= make_date(u.year, u.month, 1)
            AND x.local_date < make_date(u.year, u.month, 1) + interval '1 month'
        JOIN drover.survey s ON s.site = x.site AND s.survey = x.survey AND s.version = 0)
    SELECT s.site, s.survey, s.version, to_char(s.local_date, 'YYYY-MM-DD'), s.submitted_at,
        string_agg(o.given_name || ': ' || o.reason, '; ' ORDER BY o.given_name, o.reason)
    FROM open o JOIN drover.survey s ON s.site = o.site AND s.survey = o.survey
    GROUP BY s.site, s.survey, s.version, s.local_date, s.submitted_at ORDER BY s.submitted_at, s.site, s.survey
    LIMIT most
$$;
REVOKE ALL ON FUNCTION drover.surveys_open(a_site text, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.surveys_open(a_site text, most integer) TO drover_writer;

CREATE FUNCTION drover.surveys_to_review(a_site text, most integer) RETURNS TABLE(site text, survey text, version integer, day text, submitted_at timestamp with time zone, reasons text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF NOT drover.sees_sightings('exact') THEN RETURN; END IF;
    RETURN QUERY SELECT * FROM drover.surveys_open(a_site, least(most, 1000));
END $$;
REVOKE ALL ON FUNCTION drover.surveys_to_review(a_site text, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.surveys_to_review(a_site text, most integer) TO drover_page;

-- What fell due while it was off is not caught up. Who takes one that comes with Drover gets it by mail, by his own clock.
CREATE FUNCTION drover.switch_report_schedule(a_schedule bigint, to_be_on boolean) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF (NOT drover.holds_schedule(a_schedule)) THEN RETURN false; END IF;
    UPDATE drover.report_schedule s SET account = a.account, zone = a.zone, units = a.units, mail_to = ARRAY[a.account]
        FROM drover.account a
        WHERE s.schedule_id = a_schedule AND to_be_on AND s.account IS NULL AND a.account = drover.sight_account();
    UPDATE drover.report_schedule s SET is_enabled = to_be_on, next_due_at = NULL, trouble = NULL,
            planned_until = CASE WHEN to_be_on AND NOT s.is_enabled THEN now() ELSE s.planned_until END
        WHERE s.schedule_id = a_schedule;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION drover.switch_report_schedule(a_schedule bigint, to_be_on boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.switch_report_schedule(a_schedule bigint, to_be_on boolean) TO drover_page;

-- The common tags are the owner's: of a registration a dealer changes nothing. By this name for the program before this migration.
CREATE FUNCTION drover.tags_vehicle(a_kind text, a_vehicle text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT drover.keeps(a_kind, a_vehicle)
$$;
REVOKE ALL ON FUNCTION drover.tags_vehicle(a_kind text, a_vehicle text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.tags_vehicle(a_kind text, a_vehicle text) TO drover_page;

-- A code for a token, once: `taken`, `wrong` (also: no such person, no code, too late, too many tries) or `too_many`.
CREATE FUNCTION drover.take_code(for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    outcome text := drover.use_code(for_campus, for_person, code_digest);
BEGIN
    IF outcome <> 'taken' THEN RETURN outcome; END IF;
    INSERT INTO drover.person_token (digest, campus, person, device, expires_at)
        VALUES (token_digest, for_campus, for_person, device_name, now() + interval '180 days');
    -- Ten devices a person; what is over for a month is forgotten.
    UPDATE drover.person_token SET revoked_at = now() WHERE digest IN (
        SELECT t.digest FROM drover.person_token t
        WHERE t.campus = for_campus AND t.person = for_person AND t.revoked_at IS NULL AND t.expires_at > now()
        ORDER BY t.made_at DESC, t.digest OFFSET 10);
    DELETE FROM drover.person_token t WHERE t.campus = for_campus AND t.person = for_person
        AND least(t.revoked_at, t.expires_at) < now() - interval '30 days';
    RETURN 'taken';
END $$;
REVOKE ALL ON FUNCTION drover.take_code(for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.take_code(for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text) TO drover_api;

-- A code for a token, once: `taken`, `wrong` (also: no such person, no code, too late, too many tries) or `too_many`.
CREATE FUNCTION drover.take_code(for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text, an_asker text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    outcome text := drover.use_code(for_campus, for_person, code_digest, an_asker);
BEGIN
    IF outcome <> 'taken' THEN RETURN outcome; END IF;
    INSERT INTO drover.person_token (digest, campus, person, device, expires_at)
        VALUES (token_digest, for_campus, for_person, device_name, now() + interval '180 days');
    -- Ten devices a person; what is over for a month is forgotten.
    UPDATE drover.person_token SET revoked_at = now() WHERE digest IN (
        SELECT t.digest FROM drover.person_token t
        WHERE t.campus = for_campus AND t.person = for_person AND t.revoked_at IS NULL AND t.expires_at > now()
        ORDER BY t.made_at DESC, t.digest OFFSET 10);
    DELETE FROM drover.person_token t WHERE t.campus = for_campus AND t.person = for_person
        AND least(t.revoked_at, t.expires_at) < now() - interval '30 days';
    RETURN 'taken';
END $$;
REVOKE ALL ON FUNCTION drover.take_code(for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text, an_asker text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.take_code(for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text, an_asker text) TO drover_api;

-- Takes the code of a step, or a recovery code, for good. False: it was taken before, or there is no such code.
CREATE FUNCTION drover.take_factor_code(an_account text, a_step bigint, a_recovery bytea) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF a_recovery IS NOT NULL THEN
        DELETE FROM drover.account_recovery_code c WHERE c.account = an_account AND c.digest = a_recovery;
        IF NOT FOUND THEN RETURN false; END IF;
        UPDATE drover.account_second_factor f SET tries = 0 WHERE f.account = an_account;
    ELSE
        UPDATE drover.account_second_factor f SET last_step = a_step, tries = 0
            WHERE f.account = an_account AND f.secret IS NOT NULL AND f.last_step < a_step;
        IF NOT FOUND THEN RETURN false; END IF;
    END IF;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION drover.take_factor_code(an_account text, a_step bigint, a_recovery bytea) FROM PUBLIC;

-- Promises a survey, or finds the promise that is there. No row: the survey was stored without one, by an import.
CREATE FUNCTION drover.take_survey(a_site text, a_survey text, a_digest bytea, an_account text, a_token text) RETURNS TABLE(number bigint, is_same boolean, is_logged boolean, received_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO drover.survey_receipt (site, survey, digest, account, token_id)
        SELECT a_site, a_survey, a_digest, an_account, a_token
        WHERE NOT EXISTS (SELECT FROM drover.survey s WHERE s.site = a_site AND s.survey = a_survey)
        ON CONFLICT (site, survey) DO NOTHING;
    RETURN QUERY SELECT r.number, r.digest = a_digest AND r.account = an_account, r.partition IS NOT NULL, r.received_at
        FROM drover.survey_receipt r WHERE r.site = a_site AND r.survey = a_survey;
END $$;
REVOKE ALL ON FUNCTION drover.take_survey(a_site text, a_survey text, a_digest bytea, an_account text, a_token text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.take_survey(a_site text, a_survey text, a_digest bytea, an_account text, a_token text) TO drover_survey;

CREATE FUNCTION drover.take_turn(a_name text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM drover.take_turns(ARRAY[a_name]);
END $$;
REVOKE ALL ON FUNCTION drover.take_turn(a_name text) FROM PUBLIC;

-- Until the end of the transaction. Of many in the order of their rows, so that two transactions do not wait for each other.
CREATE FUNCTION drover.take_turns(the_names text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    taken int; asked int;
BEGIN
    PERFORM FROM drover.turn t
        WHERE (t.what, t.slot) IN (SELECT split_part(n, ' ', 1), drover.turn_slot(n) FROM unnest(the_names) AS n)
        ORDER BY t.what, t.slot FOR UPDATE;
    GET DIAGNOSTICS taken = ROW_COUNT;
    SELECT count(DISTINCT (split_part(n, ' ', 1), drover.turn_slot(n))) INTO asked FROM unnest(the_names) AS n;
    IF taken <> asked THEN RAISE EXCEPTION 'there are no such turns as %', the_names; END IF;
END $$;
REVOKE ALL ON FUNCTION drover.take_turns(the_names text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.take_turns(the_names text[]) TO drover_api, drover_page, drover_writer;

CREATE FUNCTION drover.tell_alert_event() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_alert_event', ''); END IF;
    RETURN NULL;
END $$;

-- How far the campuses of a partition are decided and committed: PARTITION OFFSET, all before it is in the tables.
CREATE FUNCTION drover.tell_dispatch_progress() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_dispatch_progress', NEW.partition || ' ' || NEW.replay_offset); END IF;
    RETURN NULL;
END $$;

-- Open pages are told that something was committed of cars or machines. That there is news is all that is said: pages ask for it
-- with their own rights.
CREATE FUNCTION drover.tell_fleet_progress() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_fleet', ''); END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION drover.tell_mail() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_mail', ''); END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION drover.tell_notice_event() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_notice', ''); END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION drover.tell_notice_message() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_notice_message', ''); END IF;
    RETURN NULL;
END $$;

-- Everybody who may log in may LISTEN and NOTIFY, and PostgreSQL knows no way to forbid it. Whoever listens and does not read keeps the
-- queue from being emptied, and when it is full every commit that tells something fails: ours. So nothing is told any more once it is half
-- full. Who is told looks at the tables anyway, and once a second without being told.
CREATE FUNCTION drover.tell_outbox() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_outbox', ''); END IF;
    RETURN NULL;
END $$;

-- All that hold, also those that an operator made.
CREATE FUNCTION drover.tokens_of_session(a_session bytea) RETURNS TABLE(token_id text, name text, scopes text[], is_own boolean, made_at timestamp with time zone, expires_at timestamp with time zone, last_used_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT t.token_id, t.name, t.scopes, t.is_own, t.made_at, t.expires_at, t.last_used_at
        FROM drover.account_session s JOIN drover.account a USING (account) JOIN drover.token t USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL AND t.revoked_at IS NULL
            AND (t.expires_at IS NULL OR t.expires_at > now())
        ORDER BY t.made_at DESC, t.token_id LIMIT 200
$$;
REVOKE ALL ON FUNCTION drover.tokens_of_session(a_session bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.tokens_of_session(a_session bytea) TO drover_api;

-- Twenty that are open and twenty that wait: who has the password alone ends nobody's.
CREATE FUNCTION drover.trim_sessions(an_account text) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    DELETE FROM drover.account_session s USING (
            SELECT o.digest, row_number() OVER (PARTITION BY o.awaits_code ORDER BY o.number DESC) AS place
            FROM drover.account_session o WHERE o.account = an_account) AS placed
        WHERE s.digest = placed.digest AND placed.place > 20
$$;
REVOKE ALL ON FUNCTION drover.trim_sessions(an_account text) FROM PUBLIC;

-- What people said of a span of driving, and whose limits, units and price hold for it. The driver is the account whose upload covers
-- the end of the trip best, else who was assigned when it began; limits, units and prices are the driver's, else the owner's, at its end.
CREATE FUNCTION drover.trip_context(car text, from_at timestamp with time zone, until_at timestamp with time zone) RETURNS TABLE(tag text, discarded_at timestamp with time zone, driver text, owner text, fuel text, tank_l double precision, displacement_cc integer, volumetric_efficiency_pct double precision, settings text)
    LANGUAGE sql STABLE
    AS $_$
    SELECT tag.tag, discard.noted_at, coalesce(upload.account, assigned.account), car.account, car.fuel, car.tank_l,
           car.displacement_cc, car.volumetric_efficiency_pct, settings.settings
    FROM (SELECT) AS always
    LEFT JOIN drover.vehicle v ON v.kind = 'car' AND v.vehicle = $1
    LEFT JOIN drover.registration car ON car.kind = 'car' AND car.vehicle = $1
    LEFT JOIN LATERAL (
        SELECT n.tag FROM drover.trip_note n
        WHERE n.vehicle = $1 AND NOT n.is_discard AND n.trip_at BETWEEN $2 AND $3
        ORDER BY n.noted_at DESC, n.record_id COLLATE "C" DESC LIMIT 1) AS tag ON true
    LEFT JOIN LATERAL (
        SELECT n.noted_at FROM drover.trip_note n
        WHERE n.vehicle = $1 AND n.is_discard AND n.trip_at BETWEEN $2 AND $3
        ORDER BY n.noted_at, n.record_id COLLATE "C" LIMIT 1) AS discard ON true
    LEFT JOIN LATERAL (
        SELECT d.account FROM drover.driving d
        WHERE d.vehicle = $1 AND d.from_at <= $3 AND d.until_at >= $2
        ORDER BY d.from_at DESC, d.record_id COLLATE "C" DESC LIMIT 1) AS upload ON true
    LEFT JOIN LATERAL (
        SELECT a.account FROM drover.assignment a
        WHERE a.vehicle = $1 AND a.assigned_at <= $2
        ORDER BY a.assigned_at DESC LIMIT 1) AS assigned ON true
    LEFT JOIN LATERAL (
        SELECT s.settings FROM drover.account_settings s
        WHERE s.topic_partition = v.topic_partition
            AND s.account = coalesce(upload.account, assigned.account, car.account) AND s.in_force_at <= $3
        ORDER BY s.in_force_at DESC LIMIT 1) AS settings ON true
$_$;
REVOKE ALL ON FUNCTION drover.trip_context(car text, from_at timestamp with time zone, until_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.trip_context(car text, from_at timestamp with time zone, until_at timestamp with time zone) TO drover_reader, drover_writer;

-- False: somebody else has it.
CREATE FUNCTION drover.try_turn(a_name text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM FROM drover.turn t WHERE t.what = split_part(a_name, ' ', 1) AND t.slot = drover.turn_slot(a_name) FOR UPDATE SKIP LOCKED;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION drover.try_turn(a_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.try_turn(a_name text) TO drover_relay;

-- `what`, or `what` and a key behind a blank.
CREATE FUNCTION drover.turn_slot(a_name text) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT CASE WHEN position(' ' IN a_name) = 0 THEN 0 ELSE (hashtextextended(a_name, 0) & 1023)::int END
$$;
REVOKE ALL ON FUNCTION drover.turn_slot(a_name text) FROM PUBLIC;

-- A species that one survey met, where no other survey met it within three degrees in that month and the ones beside it:
--   out of place   no other met it within three degrees at all, and 300 records of any species are from there;
--   out of season  others met it there 20 times, and 300 records of any species are from there in these months.
-- A record is a species that a survey met in a cell of one degree. Rows of one site's month never speak for each other: they
-- can be of one survey. NULL: all sites.
CREATE FUNCTION drover.unusual_sightings(a_site text) RETURNS TABLE(site text, year integer, month integer, species text, reason text)
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    AS $$
    WITH met AS (
        -- Of one site each is a row; of all sites what two met in one cell and month is left out first.
        SELECT s.site, s.latitude_cell, s.longitude_cell, s.year, s.month, s.species FROM drover.species_season s
        WHERE a_site IS NOT NULL AND s.site = a_site AND s.surveys = 1
        UNION ALL
        SELECT min(s.site), s.latitude_cell, s.longitude_cell, min(s.year), s.month, s.species FROM drover.species_season s
        WHERE a_site IS NULL GROUP BY s.species, s.latitude_cell, s.longitude_cell, s.month HAVING sum(s.surveys) = 1
    ), alone AS (
        SELECT met.*, ARRAY[(met.month + 10) % 12 + 1, met.month, met.month % 12 + 1] AS months
        FROM met LEFT JOIN LATERAL (
            SELECT true AS is_met FROM drover.species_season o
            WHERE o.species = met.species AND o.latitude_cell BETWEEN met.latitude_cell - 3 AND met.latitude_cell + 3
                -- 180° east and west are one meridian.
                AND (o.longitude_cell - met.longitude_cell + 540) % 360 BETWEEN 177 AND 183
                AND o.month IN ((met.month + 10) % 12 + 1, met.month, met.month % 12 + 1)
                AND (o.site, o.year, o.month) <> (met.site, met.year, met.month)
            LIMIT 1) other ON true
        WHERE other.is_met IS NULL
    ), judged AS MATERIALIZED (
        SELECT alone.*, others.records = 0 AS is_place
        FROM alone, LATERAL (
            SELECT coalesce(sum(surveys), 0) AS records FROM (
                SELECT o.surveys FROM drover.species_season o
                WHERE o.species = alone.species
                    AND o.latitude_cell BETWEEN alone.latitude_cell - 3 AND alone.latitude_cell + 3
                    AND (o.longitude_cell - alone.longitude_cell + 540) % 360 BETWEEN 177 AND 183
                    AND (o.site, o.year, o.month) <> (alone.site, alone.year, alone.month)
                -- Each has a record or more: enough is enough.
                LIMIT 20) o) others
        WHERE others.records = 0 OR others.records >= 20
    ), totals AS MATERIALIZED (
        SELECT s.latitude_cell, s.longitude_cell, s.month, sum(s.surveys) AS records FROM drover.species_season s
        WHERE s.latitude_cell BETWEEN (SELECT min(latitude_cell) - 3 FROM judged) AND (SELECT max(latitude_cell) + 3 FROM judged)
        GROUP BY 1, 2, 3
    ), near AS MATERIALIZED (
        SELECT t.latitude_cell + dy AS latitude_cell, (t.longitude_cell + dx + 540) % 360 - 180 AS longitude_cell, t.month,
            sum(t.records) AS records
        FROM totals t, generate_series(-3, 3) AS dy, generate_series(-3, 3) AS dx
        GROUP BY 1, 2, 3
    )
    SELECT j.site, j.year, j.month, j.species,
        CASE WHEN j.is_place THEN 'out of place: no other survey met it within three degrees'
            ELSE 'out of season: no other survey within three degrees met it in that month or the ones beside it' END
    FROM judged j JOIN near n ON n.latitude_cell = j.latitude_cell AND n.longitude_cell = j.longitude_cell
        AND (j.is_place OR n.month = ANY (j.months))
    GROUP BY j.site, j.year, j.month, j.species, j.is_place, j.latitude_cell, j.longitude_cell HAVING sum(n.records) >= 300
$$;
REVOKE ALL ON FUNCTION drover.unusual_sightings(a_site text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.unusual_sightings(a_site text) TO drover_reader, drover_writer;

-- Uses a code up: `taken`, `wrong` (also: no such person, no code, too late, too many tries) or `too_many`. Whoever asks has five tries of one
-- code, and all together 50: a stranger's wrong ones leave the person theirs.
CREATE FUNCTION drover.use_code(for_campus text, for_person text, code_digest bytea) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    kept drover.person_code;
BEGIN
    IF NOT drover.admit_code_request(for_campus, for_person, true) THEN RETURN 'too_many'; END IF;
    SELECT c.* INTO kept FROM drover.person_code c
        JOIN drover.person p USING (campus, person)
        WHERE c.campus = for_campus AND c.person = for_person AND c.expires_at > now() AND c.tries < 5
            AND p.left_at IS NULL AND p.disabled_at IS NULL
        FOR UPDATE OF c FOR SHARE OF p;
    IF NOT FOUND THEN RETURN 'wrong'; END IF;
    IF kept.digest <> code_digest THEN
        UPDATE drover.person_code SET tries = tries + 1 WHERE campus = for_campus AND person = for_person;
        RETURN 'wrong';
    END IF;
    DELETE FROM drover.person_code WHERE campus = for_campus AND person = for_person;
    RETURN 'taken';
END $$;
REVOKE ALL ON FUNCTION drover.use_code(for_campus text, for_person text, code_digest bytea) FROM PUBLIC;

-- Uses a code up: `taken`, `wrong` (also: no such person, no code, too late, too many tries) or `too_many`. Whoever asks has five tries of one
-- code, and all together 50: a stranger's wrong ones leave the person theirs.
CREATE FUNCTION drover.use_code(for_campus text, for_person text, code_digest bytea, an_asker text) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    kept drover.person_code;
BEGIN
    an_asker := drover.code_asker(an_asker);
    IF NOT drover.admit_code_request(for_campus, for_person, true, an_asker) THEN RETURN 'too_many'; END IF;
    SELECT c.* INTO kept FROM drover.person_code c
        JOIN drover.person p USING (campus, person)
        WHERE c.campus = for_campus AND c.person = for_person AND c.expires_at > now()
            AND c.tries < CASE WHEN an_asker IS NULL THEN 5 ELSE 50 END AND p.left_at IS NULL AND p.disabled_at IS NULL
        FOR UPDATE OF c FOR SHARE OF p;
    IF NOT FOUND THEN RETURN 'wrong'; END IF;
    -- With this one.
    IF (SELECT count(*) FROM drover.code_request r WHERE r.campus = for_campus AND r.person = for_person AND r.is_try AND r.asker = an_asker
            AND r.asked_at >= kept.expires_at - interval '15 minutes') > 5 THEN RETURN 'wrong'; END IF;
    IF kept.digest <> code_digest THEN
        UPDATE drover.person_code SET tries = tries + 1 WHERE campus = for_campus AND person = for_person;
        RETURN 'wrong';
    END IF;
    DELETE FROM drover.person_code WHERE campus = for_campus AND person = for_person;
    RETURN 'taken';
END $$;
REVOKE ALL ON FUNCTION drover.use_code(for_campus text, for_person text, code_digest bytea, an_asker text) FROM PUBLIC;

CREATE FUNCTION drover.use_notice_link(a_link bytea) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    UPDATE drover.notice_message m SET link_used_at = now() WHERE m.link = a_link AND m.link_used_at IS NULL
$$;
REVOKE ALL ON FUNCTION drover.use_notice_link(a_link bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.use_notice_link(a_link bytea) TO drover_api;

-- Whose token it is and whether it holds, for who has it in hand. The page's login may call this and not read the table:
-- it can neither list tokens nor make one valid.
CREATE FUNCTION drover.use_token(wanted bytea) RETURNS TABLE(token_id text, account text, scopes text[], role text, is_revoked boolean, is_expired boolean, is_of_account boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE drover.token t SET last_used_at = date_trunc('hour', now())
        WHERE t.digest = wanted AND t.last_used_at IS DISTINCT FROM date_trunc('hour', now())
            AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now());
    RETURN QUERY SELECT t.token_id, t.account, t.scopes, t.role, t.revoked_at IS NOT NULL OR a.disabled_at IS NOT NULL,
            coalesce(t.expires_at <= now(), false), a.account IS NOT NULL
        FROM drover.token t LEFT JOIN drover.account a ON a.account = t.account WHERE t.digest = wanted;
END $$;
REVOKE ALL ON FUNCTION drover.use_token(wanted bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.use_token(wanted bytea) TO drover_api, drover_survey;

-- The views that may be asked, with what their rows are and their columns.
CREATE FUNCTION drover.views_asked() RETURNS TABLE(view text, about text, columns text[])
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 20
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT c.relname::text, obj_description(c.oid, 'pg_class'), array_agg(a.attname::text ORDER BY a.attnum)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'analyst'::regnamespace AND c.relkind = 'v' GROUP BY c.oid, c.relname ORDER BY 1
$$;
REVOKE ALL ON FUNCTION drover.views_asked() FROM PUBLIC;
GRANT ALL ON FUNCTION drover.views_asked() TO drover_page;

-- The web asks for a car to be looked at. Bounded: ten thousand at a time.
CREATE FUNCTION drover.watch(car text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog'
    AS $$
    WITH gone AS (DELETE FROM drover.watched WHERE until_at < now() AND vehicle <> car RETURNING vehicle)
    DELETE FROM drover.live_trip l USING gone WHERE l.vehicle = gone.vehicle;
    INSERT INTO drover.watched (vehicle, until_at)
    SELECT car, now() + interval '30 seconds'
    WHERE EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = 'car' AND v.vehicle = car)
        AND (SELECT count(*) FROM drover.watched) < 10000
    ON CONFLICT (vehicle) DO UPDATE SET until_at = EXCLUDED.until_at;
$$;
REVOKE ALL ON FUNCTION drover.watch(car text) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.watch(car text) TO drover_api;

-- Weather of a cell that somebody asked for before and that is still believed, hour by hour.
CREATE FUNCTION drover.weather_known(a_source text, a_cell integer, a_latitude integer, a_longitude integer, the_first timestamp with time zone, the_last timestamp with time zone, a_time timestamp with time zone) RETURNS TABLE(answer text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT w.answer::text FROM drover.weather_hour w
    WHERE w.source = a_source AND w.cell_millideg = a_cell AND w.latitude_index = a_latitude
        AND w.longitude_index = a_longitude AND w.hour_at BETWEEN the_first AND the_last AND w.kept_until > a_time
    ORDER BY w.hour_at
$$;
REVOKE ALL ON FUNCTION drover.weather_known(a_source text, a_cell integer, a_latitude integer, a_longitude integer, the_first timestamp with time zone, the_last timestamp with time zone, a_time timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.weather_known(a_source text, a_cell integer, a_latitude integer, a_longitude integer, the_first timestamp with time zone, the_last timestamp with time zone, a_time timestamp with time zone) TO drover_gateway, drover_survey, drover_writer;

-- The weather of a trip, each value with its unit; all NULL while nobody has told of it. Of the answers that can be read the last one.
CREATE FUNCTION drover.weather_of_trip(car text, from_at timestamp with time zone) RETURNS TABLE(weather text, weather_source text, weather_fetched_at timestamp with time zone, weather_temperature_c double precision, weather_wind_speed_mps double precision, weather_wind_gust_mps double precision, weather_wind_direction_deg double precision, weather_cloud_cover_pct double precision, weather_precipitation_mm_per_h double precision, weather_humidity_pct double precision, weather_pressure_hpa double precision, weather_condition_code integer)
    LANGUAGE sql STABLE
    AS $_$
    SELECT told.answer, (told.value ->> 'source') || ' ' || (told.value ->> 'model'), told.fetched_at,
           drover.readable_number(told.value, 'temperature_c'), drover.readable_number(told.value, 'wind_speed_mps'),
           drover.readable_number(told.value, 'wind_gust_mps'), drover.readable_number(told.value, 'wind_direction_deg'),
           drover.readable_number(told.value, 'cloud_cover_pct'), drover.readable_number(told.value, 'precipitation_mm_per_h'),
           drover.readable_number(told.value, 'humidity_pct'), drover.readable_number(told.value, 'pressure_hpa'),
           drover.readable_number(told.value, 'condition_code')::int
    FROM (SELECT) AS always
    LEFT JOIN LATERAL (
        SELECT w.answer, drover.readable_json(w.answer) AS value, w.fetched_at FROM drover.trip_start s
        JOIN drover.trip_weather w ON w.vehicle = s.vehicle AND w.hour_at = date_trunc('hour', s.start_at, 'UTC')
            AND drover.is_in_cell(s.latitude_deg, s.longitude_deg, w.cell_millideg, w.latitude_index, w.longitude_index)
        WHERE s.vehicle = $1 AND s.start_at = $2 AND drover.readable_json(w.answer) IS NOT NULL
        ORDER BY w.fetched_at DESC, w.answer COLLATE "C" DESC LIMIT 1) AS told ON true
$_$;
REVOKE ALL ON FUNCTION drover.weather_of_trip(car text, from_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION drover.weather_of_trip(car text, from_at timestamp with time zone) TO drover_reader, drover_writer;


-- MARK: own

-- The views of analyst for questions of people (drover query, /query): docs/analyst.md.
CREATE SCHEMA own;
GRANT USAGE ON SCHEMA own TO drover_query;

CREATE VIEW own.alert WITH (security_invoker='true') AS
 SELECT a.alert_id,
    a.kind,
    a.vehicle,
    a.model,
    a.account,
    a.parameter,
    a.unit,
    a.severity,
    a.state,
    a.test,
    a.threshold,
    a.since_at,
    a.opened_at,
    a.opening_value,
    a.worst_value,
    a.worst_at,
    a.resolved_at,
    a.told_at,
    a.resolved_told_at,
    a.audience,
    a.recommended,
    a.advice,
    a.rules_version,
    a.revision,
    a.revised_at,
    a.acknowledged_at,
    a.acknowledged_by,
    a.open_s
   FROM analyst.alert a
 OFFSET 0;
GRANT SELECT ON TABLE own.alert TO drover_query;

CREATE VIEW own.decision WITH (security_invoker='true') AS
 SELECT a.campus,
    a.record_offset,
    a.made_at,
    a.why
   FROM analyst.decision a
 OFFSET 0;
GRANT SELECT ON TABLE own.decision TO drover_query;

CREATE VIEW own.dispatch_hour WITH (security_invoker='true') AS
 SELECT a.campus,
    a.hour_at,
    a.requests,
    a.passengers,
    a.served,
    a.cancelled,
    a.expired,
    a.refused,
    a.outstanding,
    a.waiting_p50_s,
    a.waiting_p90_s,
    a.waiting_mean_s,
    a.riding_mean_s
   FROM analyst.dispatch_hour a
 OFFSET 0;
GRANT SELECT ON TABLE own.dispatch_hour TO drover_query;

CREATE VIEW own.fleet_vehicle WITH (security_invoker='true') AS
 SELECT a.fleet,
    a.fleet_name,
    a.kind,
    a.vehicle
   FROM analyst.fleet_vehicle a
 OFFSET 0;
GRANT SELECT ON TABLE own.fleet_vehicle TO drover_query;

CREATE VIEW own.machine_reading WITH (security_invoker='true') AS
 SELECT a.vehicle,
    a.read_at,
    a.model,
    a.serial,
    a.firmware,
    a.engine_hours_h,
    a.engine_turn_on_count,
    a.key_turn_on_count,
    a.fuel_level_gal,
    a.coolant_c,
    a.hydraulic_oil_c,
    a.tire_pressure_kpa,
    a.gps_available,
    a.gps_fix_at,
    a.latitude_deg,
    a.longitude_deg,
    a.rda_license,
    a.wdt_license,
    a.machine_sync,
    a.connected_devices,
    a.last_cell_call_in_at,
    a.last_reprogramming_ok,
    a.last_reprogramming_at,
    a.is_partial,
    a.is_answering,
    a.machine_id
   FROM analyst.machine_reading a
  WHERE (a.vehicle = ANY (ARRAY( SELECT v.vehicle
           FROM drover.vehicle v
          WHERE (v.kind = 'machine'::text))))
 OFFSET 0;
GRANT SELECT ON TABLE own.machine_reading TO drover_query;

CREATE VIEW own.notice WITH (security_invoker='true') AS
 SELECT a.notice_id,
    a.alert_id,
    a.vehicle,
    a.account,
    a.occasion,
    a.round,
    a.relation,
    a.manner,
    a.state,
    a.reason,
    a.decided_at,
    a.due_at,
    a.settled_at,
    a.channels,
    a.sent_at,
    a.tries
   FROM analyst.notice a
 OFFSET 0;
GRANT SELECT ON TABLE own.notice TO drover_query;

CREATE VIEW own.ride WITH (security_invoker='true') AS
 SELECT a.campus,
    a.request,
    a.state,
    a.reason,
    a.passengers,
    a.from_latitude_deg,
    a.from_longitude_deg,
    a.to_latitude_deg,
    a.to_longitude_deg,
    a.straight_m,
    a.requested_at,
    a.vehicle,
    a.place_in_line,
    a.pickup_at,
    a.dropoff_at,
    a.ended_at,
    a.waiting_s,
    a.riding_s
   FROM analyst.ride a
 OFFSET 0;
GRANT SELECT ON TABLE own.ride TO drover_query;

CREATE VIEW own.scan WITH (security_invoker='true') AS
 SELECT a.vehicle,
    a.scan_id,
    a.asked_at,
    a.asked_by,
    a.scanned_at,
    a.scanned_by,
    a.is_done,
    a.answer,
    a.stored,
    a.pending,
    a.permanent,
    a.stored_codes,
    a.pending_codes,
    a.is_lamp_on,
    a.not_ready,
    a.freeze_frame
   FROM analyst.scan a
 OFFSET 0;
GRANT SELECT ON TABLE own.scan TO drover_query;

CREATE VIEW own.service WITH (security_invoker='true') AS
 SELECT a.vehicle,
    a.done_at,
    a.engine_hours_h,
    a.recorded_by,
    a.note
   FROM analyst.service a
 OFFSET 0;
GRANT SELECT ON TABLE own.service TO drover_query;

CREATE VIEW own.sighting WITH (security_invoker='true') AS
 SELECT a.occurrence,
    a.event,
    a.site,
    a.survey,
    a.version,
    a.sighting,
    a.seen_at,
    a.local_date,
    a.utc_offset_min,
    a.species,
    a.given_name,
    a.taxon,
    a.individuals,
    a.latitude_deg,
    a.longitude_deg,
    a.uncertainty_m,
    a.generalization,
    a.section,
    a.habitat,
    a.conditions,
    a.behaviour,
    a.certainty,
    a.life_stage,
    a.sex,
    a.light_lux,
    a.temperature_c,
    a.wind_speed_mps,
    a.wind_direction_deg,
    a.cloud_cover_pct,
    a.weather_at,
    a.weather_source,
    a.protocol,
    a.gate,
    a.observers,
    a.needs_review,
    a.is_sensitive
   FROM analyst.sighting a;
GRANT SELECT ON TABLE own.sighting TO drover_query;

CREATE VIEW own.species_week WITH (security_invoker='true') AS
 SELECT a.site,
    a.species,
    a.iso_year,
    a.iso_week,
    a.behaviour,
    a.temperature_band,
    a.sightings,
    a.individuals
   FROM analyst.species_week a;
GRANT SELECT ON TABLE own.species_week TO drover_query;

CREATE VIEW own.survey WITH (security_invoker='true') AS
 SELECT a.event,
    a.site,
    a.survey,
    a.version,
    a.started_at,
    a.stopped_at,
    a.utc_offset_min,
    a.local_date,
    a.latitude_deg,
    a.longitude_deg,
    a.uncertainty_m,
    a.generalization,
    a.distance_m,
    a.pace_mps,
    a.protocol,
    a.gate,
    a.gate_reasons,
    a.observers,
    a.expertise,
    a.weather_missing_hours,
    a.sightings,
    a.individuals,
    a.needs_review,
    a.is_blurred
   FROM analyst.survey a;
GRANT SELECT ON TABLE own.survey TO drover_query;

CREATE VIEW own.tour_day WITH (security_invoker='true') AS
 SELECT a.tour,
    a.kind,
    a.waypoint,
    a.local_date,
    a.events
   FROM analyst.tour_day a;
GRANT SELECT ON TABLE own.tour_day TO drover_query;

CREATE VIEW own.tour_waypoint WITH (security_invoker='true') AS
 SELECT a.tour,
    a.version,
    a."position",
    a.waypoint
   FROM analyst.tour_waypoint a;
GRANT SELECT ON TABLE own.tour_waypoint TO drover_query;

CREATE VIEW own.trip WITH (security_invoker='true') AS
 SELECT a.vehicle,
    a.start_at,
    a.end_at,
    a.is_open,
    a.readings,
    a.disputed_readings,
    a.speed_readings,
    a.integrated_ms,
    a.distance_mm,
    a.idle_ms,
    a.holes,
    a.sharp_accelerations,
    a.sharp_brakings,
    a.max_speed_m_per_h,
    a.rpm_ms,
    a.milli_turns,
    a.max_rpm_milli,
    a.air_mg,
    a.air_calculated_mg,
    a.max_coolant_milli_c,
    a.min_voltage_mv,
    a.max_voltage_mv,
    a.max_acceleration_mm_per_s2,
    a.max_braking_mm_per_s2,
    a.acceleration_mm2_per_s3,
    a.braking_mm2_per_s3,
    a.fuel_rate_ul,
    a.fuel_rate_ms,
    a.burnt_air_mg,
    a.air_ms,
    a.burnt_air_calculated_mg,
    a.air_calculated_ms,
    a.burnt_air_per_litre_mg,
    a.air_per_litre_ms,
    a.fuel_cut_ms,
    a.revision,
    a.revised_at,
    a.fuel_l,
    a.fuel_method,
    a.tag,
    a.discarded_at,
    a.driver,
    a.owner,
    a.weather_source,
    a.weather_temperature_c,
    a.weather_wind_speed_mps,
    a.weather_wind_gust_mps,
    a.weather_wind_direction_deg,
    a.weather_cloud_cover_pct,
    a.weather_precipitation_mm_per_h,
    a.weather_humidity_pct,
    a.weather_pressure_hpa,
    a.weather_condition_code,
    a.from_before,
    a.goes_on
   FROM analyst.trip a
  WHERE (a.vehicle = ANY (ARRAY( SELECT v.vehicle
           FROM drover.vehicle v
          WHERE (v.kind = 'car'::text))))
 OFFSET 0;
GRANT SELECT ON TABLE own.trip TO drover_query;

CREATE VIEW own.vehicle WITH (security_invoker='true') AS
 SELECT a.kind,
    a.vehicle,
    a.name,
    a.model,
    a.make,
    a.year,
    a.tags,
    a.owner,
    a.fuel,
    a.tank_l,
    a.displacement_cc,
    a.last_reading_at,
    a.is_disabled
   FROM analyst.vehicle a
 OFFSET 0;
GRANT SELECT ON TABLE own.vehicle TO drover_query;

CREATE VIEW own.vehicle_day WITH (security_invoker='true') AS
 SELECT a.vehicle,
    a.day_at,
    a.readings,
    a.disputed_readings,
    a.speed_readings,
    a.integrated_ms,
    a.distance_mm,
    a.idle_ms,
    a.holes,
    a.sharp_accelerations,
    a.sharp_brakings,
    a.max_speed_m_per_h,
    a.rpm_ms,
    a.milli_turns,
    a.max_rpm_milli,
    a.air_mg,
    a.air_calculated_mg,
    a.max_coolant_milli_c,
    a.min_voltage_mv,
    a.max_voltage_mv,
    a.max_acceleration_mm_per_s2,
    a.max_braking_mm_per_s2,
    a.acceleration_mm2_per_s3,
    a.braking_mm2_per_s3,
    a.fuel_rate_ul,
    a.fuel_rate_ms,
    a.burnt_air_mg,
    a.air_ms,
    a.burnt_air_calculated_mg,
    a.air_calculated_ms,
    a.burnt_air_per_litre_mg,
    a.air_per_litre_ms,
    a.fuel_cut_ms,
    a.revision,
    a.revised_at,
    a.fuel_l,
    a.fuel_method
   FROM analyst.vehicle_day a
  WHERE (a.vehicle = ANY (ARRAY( SELECT v.vehicle
           FROM drover.vehicle v
          WHERE (v.kind = 'car'::text))))
 OFFSET 0;
GRANT SELECT ON TABLE own.vehicle_day TO drover_query;

CREATE VIEW own.vehicle_minute WITH (security_invoker='true') AS
 SELECT a.vehicle,
    a.minute_at,
    a.trip_start_at,
    a.readings,
    a.disputed_readings,
    a.speed_readings,
    a.integrated_ms,
    a.distance_mm,
    a.idle_ms,
    a.holes,
    a.sharp_accelerations,
    a.sharp_brakings,
    a.max_speed_m_per_h,
    a.rpm_ms,
    a.milli_turns,
    a.max_rpm_milli,
    a.air_mg,
    a.air_calculated_mg,
    a.max_coolant_milli_c,
    a.min_voltage_mv,
    a.max_voltage_mv,
    a.max_acceleration_mm_per_s2,
    a.max_braking_mm_per_s2,
    a.acceleration_mm2_per_s3,
    a.braking_mm2_per_s3,
    a.fuel_rate_ul,
    a.fuel_rate_ms,
    a.burnt_air_mg,
    a.air_ms,
    a.burnt_air_calculated_mg,
    a.air_calculated_ms,
    a.burnt_air_per_litre_mg,
    a.air_per_litre_ms,
    a.fuel_cut_ms,
    a.revision,
    a.revised_at
   FROM analyst.vehicle_minute a
  WHERE (a.vehicle = ANY (ARRAY( SELECT v.vehicle
           FROM drover.vehicle v
          WHERE (v.kind = 'car'::text))))
 OFFSET 0;
GRANT SELECT ON TABLE own.vehicle_minute TO drover_query;

CREATE VIEW own.weather_hour WITH (security_invoker='true') AS
 SELECT a.source,
    a.cell_millideg,
    a.latitude_index,
    a.longitude_index,
    a.hour_at,
    a.latitude_deg,
    a.longitude_deg,
    a.temperature_c,
    a.wind_speed_mps,
    a.wind_gust_mps,
    a.wind_direction_deg,
    a.cloud_cover_pct,
    a.precipitation_mm_per_h,
    a.humidity_pct,
    a.pressure_hpa,
    a.condition_code
   FROM analyst.weather_hour a
 OFFSET 0;
GRANT SELECT ON TABLE own.weather_hour TO drover_query;
