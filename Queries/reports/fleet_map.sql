-- Question: where is each vehicle, and what did it say last? Disabled ones are left out.
-- Parameters: $1 a part of the name or id, or empty; $2 a group (tag), or empty; $3 audiences that the reader belongs to; $4 how
-- many.
-- Example result: car | dodge-caliber | Dodge | | {north} | 2020-03-25 17:02:00+00 | \x01… | 2020-03-25 17:02:42+00 | f | 300000 | …
WITH found AS MATERIALIZED (
    SELECT v.kind, v.vehicle, r.name, coalesce(v.model, r.model) AS model, coalesce(r.tags, '{}') AS tags, v.last_reading_at,
           v.topic_partition
    FROM drover.vehicle v LEFT JOIN drover.registration r USING (kind, vehicle)
    WHERE r.is_disabled IS NOT TRUE AND ($2 = '' OR $2 = ANY (r.tags))
        AND ($1 = '' OR strpos(lower(v.vehicle), lower($1)) > 0 OR strpos(lower(r.name), lower($1)) > 0)
    ORDER BY lower(coalesce(r.name, v.vehicle)), v.kind, v.vehicle
    LIMIT $4
)
SELECT found.kind, found.vehicle, found.name, found.model, found.tags, found.last_reading_at,
       minute.minute_at, minute.samples, trip.end_at, trip.is_open, rules.trip_gap_ms,
       CASE WHEN latest.contact IS NULL THEN latest.read_at ELSE said.read_at END AS read_at,
       CASE WHEN latest.contact IS NULL THEN latest.is_reporting ELSE said.is_reporting END AS is_reporting, latest.contact, places.place_ats, places.latitudes_deg, places.longitudes_deg,
       alerts.open_alerts, alerts.worst_severity, unjudged.not_monitored
FROM found
LEFT JOIN drover.not_monitored_of(ARRAY(SELECT found.kind FROM found), ARRAY(SELECT found.vehicle FROM found)) AS unjudged
    ON unjudged.kind = found.kind AND unjudged.vehicle = found.vehicle
LEFT JOIN LATERAL (
    SELECT m.minute_at, m.samples FROM drover.vehicle_minute m
    WHERE found.kind = 'car' AND m.vehicle = found.vehicle ORDER BY m.minute_at DESC LIMIT 1) AS minute ON true
LEFT JOIN LATERAL (
    SELECT t.start_at, t.end_at, t.is_open FROM drover.trip t
    WHERE found.kind = 'car' AND t.vehicle = found.vehicle ORDER BY t.start_at DESC LIMIT 1) AS trip ON true
LEFT JOIN LATERAL (
    SELECT r.trip_gap_ms FROM drover.trip_rules r
    WHERE r.topic_partition = found.topic_partition AND r.in_force_at <= trip.start_at
    ORDER BY r.in_force_at DESC LIMIT 1) AS rules ON true
-- The gateway's last word counts while the machine itself has said nothing since. Only then what the machine said is looked for behind it.
LEFT JOIN LATERAL (
    SELECT m.read_at, m.is_reporting, m.contact FROM drover.machine_reading m
    WHERE found.kind = 'machine' AND m.vehicle = found.vehicle ORDER BY m.read_at DESC LIMIT 1) AS latest ON true
LEFT JOIN LATERAL (
    SELECT m.read_at, m.is_reporting FROM drover.machine_reading m
    WHERE latest.contact IS NOT NULL AND m.vehicle = found.vehicle AND m.contact IS NULL ORDER BY m.read_at DESC LIMIT 1
) AS said ON true
-- Bounded, for those that never tell where they are: a week of readings is looked at.
LEFT JOIN LATERAL (
    SELECT array_agg(p.read_at ORDER BY p.read_at DESC) AS place_ats,
           array_agg(p.latitude_deg ORDER BY p.read_at DESC) AS latitudes_deg,
           array_agg(p.longitude_deg ORDER BY p.read_at DESC) AS longitudes_deg
    FROM (SELECT m.read_at, m.latitude_deg, m.longitude_deg FROM drover.machine_reading m
          WHERE found.kind = 'machine' AND m.vehicle = found.vehicle AND m.contact IS NULL
              AND m.latitude_deg IS NOT NULL AND m.longitude_deg IS NOT NULL
              AND m.read_at > found.last_reading_at - interval '7 days'
          ORDER BY m.read_at DESC LIMIT 2) AS p) AS places ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS open_alerts, min(a.severity) AS worst_severity FROM drover.alert a
    WHERE a.vehicle = found.vehicle AND a.kind = found.kind AND a.state IN ('open', 'due_soon') AND a.audience = ANY ($3)
) AS alerts ON true
ORDER BY lower(coalesce(found.name, found.vehicle)), found.kind, found.vehicle
