-- Question: why did this ride come to its vehicle, and when was it given to another one? Who was tried is listed with the growth
-- of the itinerary in seconds of driving and what it is made of, the cheapest first; the second is the runner-up.
-- Parameters: $1 request, $2 campus or ''.
-- Example result: north | 2026-11-21 08:00:03+00 | pickup | tried | 1 | bus-2 | 214.2 | 0 | 214.2 | 118 | 18 | 78.2 | 0 | 0 | 0 | 0 | t |
--   | 1.25 | 0.08 | 0.01 | 0.01 | 1 | 1 | osrm.example/driving | 0.234 | {"ride": 1, …} | [{"s": 31.2, "to": "r-1 p", "measured": true}, …]
WITH decided AS (
    SELECT d.campus, d.made_at, d.record_offset, step.value AS step, step.place AS step_place, d.why - 'steps' AS by
    FROM drover.ride r
    JOIN drover.dispatch_decision d ON d.campus = r.campus AND d.made_at >= r.requested_at
        AND d.made_at <= coalesce(r.ended_at, 'infinity'),
    jsonb_array_elements(d.why -> 'steps') WITH ORDINALITY AS step(value, place)
    WHERE r.request = $1 AND ($2 = '' OR r.campus = $2)
), told AS (
    SELECT d.campus, d.made_at, d.record_offset, d.step_place, d.step ->> 'event' AS event, 'tried' AS outcome,
           option.place, option.value, choice, d.by
    FROM decided d, jsonb_array_elements(d.step -> 'choices') AS choice,
        jsonb_array_elements(choice -> 'options') WITH ORDINALITY AS option(value, place)
    WHERE choice ->> 'request' = $1
    UNION ALL
    SELECT d.campus, d.made_at, d.record_offset, d.step_place, d.step ->> 'event',
           CASE WHEN moved ->> 'vehicle' = moved ->> 'vehicle_before' THEN 'other time' ELSE 'other vehicle' END, 1000, moved, NULL, d.by
    FROM decided d, jsonb_array_elements(d.step -> 'moved') AS moved
    WHERE moved ->> 'request' = $1
)
SELECT campus, made_at, event, outcome, CASE outcome WHEN 'tried' THEN place END AS rank, value ->> 'vehicle' AS vehicle,
       (value ->> 'growth_s')::float8 AS growth_s, (value ->> 'before_s')::float8 AS before_s,
       (value ->> 'after_s')::float8 AS after_s, (value ->> 'travel_s')::float8 AS travel_s,
       (value ->> 'wait_s')::float8 AS wait_s, (value ->> 'ride_s')::float8 AS ride_s,
       (value ->> 'order_s')::float8 AS order_s, (value ->> 'cancel_s')::float8 AS cancel_s,
       (value ->> 'override_s')::float8 AS override_s, (value ->> 'promises_s')::float8 AS promises_s,
       (value ->> 'proven')::boolean AS is_proven, (value ->> 'pickup')::timestamptz AS pickup_at,
       (by -> 'weights' ->> 'surge')::float8 AS surge, (choice ->> 'cancel_likelihood')::float8 AS cancel_likelihood,
       (choice ->> 'override_likelihood')::float8 AS override_likelihood,
       (choice ->> 'dropoff_override_likelihood')::float8 AS dropoff_override_likelihood,
       (value ->> 'legs_measured')::int AS legs_measured, (value ->> 'legs_estimated')::int AS legs_estimated,
       by ->> 'measured_by' AS measured_by, (by ->> 'seconds_per_metre')::float8 AS seconds_per_metre, by ->> 'weights' AS weights,
       value ->> 'legs' AS legs
FROM told ORDER BY made_at, record_offset, step_place, place
