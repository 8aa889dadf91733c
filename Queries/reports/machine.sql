-- Question: what is this machine, and which rules are in force for it?
-- Parameters: $1 vehicle.
SELECT vehicle, r.name, coalesce(v.model, r.model) AS model, v.machine_id, coalesce(r.tags, '{}') AS tags,
       coalesce(r.is_disabled, false) AS is_disabled,
       (SELECT m.read_at FROM drover.machine_reading m WHERE m.vehicle = $1 AND m.contact IS NULL
        ORDER BY m.read_at DESC LIMIT 1) AS last_reading_at,
       drover.not_monitored('machine', vehicle) AS not_monitored,
       own.own_class, coalesce(own.own_tags, '{}') AS own_tags,
       (SELECT s.rules FROM drover.rule_set_seen s
        WHERE s.topic_partition = coalesce(v.topic_partition, r.topic_partition) AND s.in_force_at <= now()
        ORDER BY s.in_force_at DESC LIMIT 1) AS rules
FROM (SELECT vehicle, model, topic_partition, machine_id FROM drover.vehicle WHERE kind = 'machine' AND vehicle = $1) v
FULL JOIN (SELECT vehicle, name, model, tags, is_disabled, topic_partition FROM drover.registration
           WHERE kind = 'machine' AND vehicle = $1) r USING (vehicle)
LEFT JOIN (SELECT vehicle AS marked, class AS own_class, tags AS own_tags FROM drover.dealer_mark
    WHERE account = (SELECT drover.sight_account())) AS own ON vehicle = own.marked
