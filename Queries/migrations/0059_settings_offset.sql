-- Where an account's settings stand on the log: a car that is taken up again alone is judged by what its partition knew there. Null:
-- from before, long ago.
ALTER TABLE drover.account_settings ADD COLUMN record_offset bigint;
