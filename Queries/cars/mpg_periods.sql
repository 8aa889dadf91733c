-- Question: Does each car use more or less fuel per distance than in the period before?
-- Parameter: from date: the first day
-- Parameter: to date: the last day; the period before has as many days
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: vehicle_day
-- Chart: mpg_us by vehicle
-- Example result: 2018-02-20_Seat_Leon_KA_KA_Frei.1hz |  | 11.4 | 
WITH half AS (
    SELECT vehicle, day_at >= $1::date::timestamp AT TIME ZONE 'UTC' AS is_now, sum(distance_mm) / 1e6 / 1.609344 AS miles,
        sum(fuel_l) / 3.785411784 AS gallons
    FROM analyst.vehicle_day
    WHERE fuel_l > 0 AND ($3::text = '' OR vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'car' AND f.fleet = $3))
        AND day_at >= ($1::date - ($2::date - $1::date + 1))::timestamp AT TIME ZONE 'UTC' AND day_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
    GROUP BY 1, 2
), pair AS (
    SELECT vehicle, sum(miles / gallons) FILTER (WHERE is_now) AS mpg, sum(miles / gallons) FILTER (WHERE NOT is_now) AS before_mpg
    FROM half GROUP BY 1
)
SELECT vehicle, round(mpg::numeric, 2)::float8 AS mpg_us, round(before_mpg::numeric, 2)::float8 AS before_mpg_us,
    round((100 * (mpg / before_mpg - 1))::numeric, 1)::float8 AS change_pct
FROM pair
ORDER BY change_pct, vehicle
