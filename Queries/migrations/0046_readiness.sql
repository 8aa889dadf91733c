-- Each role says whether it is ready: it must see which migration the database has.

GRANT SELECT ON drover.migration TO drover_reader, drover_relay, drover_gateway;
