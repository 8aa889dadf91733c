-- Question: which surveys of a span of time did not keep to their protocol, and why?
-- Parameters: $1 from, $2 before.
-- Example result: watamu | 2020-05-01_1000 | pollard-walk | {too windy}
SELECT site, survey, protocol, gate_reasons FROM drover.survey
WHERE started_at >= $1::timestamptz AND started_at < $2::timestamptz AND gate = 'outside' ORDER BY started_at, site, survey
