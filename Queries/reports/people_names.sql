-- Question: what are these people called, of those whom the reader may know?
-- Parameters: $1 accounts.
-- Example result: mia | Mia Virtanen
SELECT account, name FROM drover.names_of($1::text[])
