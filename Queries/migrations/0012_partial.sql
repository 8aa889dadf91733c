-- What the reading lacks says nothing: one of several that tell a part of one state each (ISO 15143-3).
ALTER TABLE drover.machine_reading ADD COLUMN is_partial boolean NOT NULL DEFAULT false;
