-- Question: which rides did the reader ask for last?
-- Parameters: $1 how many.
-- Example result: done | Main Library | Station | 2026-11-24 15:19:00+00 | 2026-11-24 15:27:00+00 | 2026-11-24 15:41:00+00
SELECT r.state, r.from_address, r.to_address, r.requested_at, r.pickup_at, r.ended_at
FROM drover.bound_people() AS b JOIN drover.ride AS r ON r.campus = b.campus AND r.rider = b.person
WHERE b.role = 'rider'
ORDER BY r.requested_at DESC
LIMIT $1
