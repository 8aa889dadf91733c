-- Question: what went otherwise than planned on a campus, the last first: who took a ride back or was given up, which driver
-- refused one, which vehicle broke down, left or fell silent?
-- Parameters: $1 campus, $2 from when on.
-- Example result: 2026-11-21 08:03:11+00 | override | r-1207 | A. Lovelace | bus-2 |
SELECT told.happened_at, told.event, told.request, coalesce(p.name, r.rider) AS rider, told.vehicle, told.reason
FROM (
    SELECT e.ended_at AS happened_at, e.state AS event, e.request, e.vehicle, e.reason
    FROM drover.ride e
    WHERE e.campus = $1 AND e.ended_at >= $2 AND e.state IN ('cancelled', 'expired', 'refused', 'ended')
    UNION ALL
    -- A ride that a driver refused is given to the vehicle that is named.
    SELECT d.made_at, step ->> 'event', step ->> 'request', coalesce(step ->> 'of_vehicle', step ->> 'vehicle'), step ->> 'reason'
    FROM drover.dispatch_decision d, jsonb_array_elements(d.why -> 'steps') AS step
    WHERE d.campus = $1 AND d.made_at >= $2 AND step ->> 'event' IN ('override', 'breakdown', 'out_of_service', 'hand_over', 'silence', 'fell_silent')
        -- Of a rider it is a cancellation already.
        AND (step ->> 'event' <> 'silence' OR step ->> 'of_vehicle' IS NOT NULL)
) AS told
LEFT JOIN drover.ride r ON r.campus = $1 AND r.request = told.request
LEFT JOIN drover.rider p ON p.campus = $1 AND p.rider = r.rider
ORDER BY told.happened_at DESC, told.request LIMIT 30
