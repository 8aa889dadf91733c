"""A row in every table that pages show, with a hostile text in each column that may hold a text at all."""
import json
from datetime import timedelta

# Short, so that fields with a bound of a few signs hold it, too. No page of ours has such a tag.
HOSTILE = "<q>\"'&"
HEX32, HEX64 = "0" * 32, "0" * 64
CORNERS = "38.89,-77.06 38.91,-77.06 38.91,-77.04 38.89,-77.04"
SURVEY = {"schema": 1, "survey": "x-1", "site": "x-1", "site_name": HOSTILE, "route": HOSTILE, "start": "2026-05-01T13:00:00+03:00", "stop": "2026-05-01T13:33:00+03:00",
          "comments": HOSTILE, "protocol": HOSTILE, "latitude": -3.4, "longitude": 40, "weather": {"temperature_c": 27, HOSTILE: HOSTILE}, HOSTILE: HOSTILE, "forward_to": "x-1",
          "surveyors": [{"name": HOSTILE, "role": "recorder", "mail": HOSTILE, "phone": HOSTILE, "expertise": HOSTILE}],
          "sections": [{"section": HOSTILE, "distance_m": 10, "habitat": HOSTILE}],
          "sightings": [{"count": 1, "latitude": -3.4, "longitude": 40, "photos": ["https://" + HOSTILE], HOSTILE: HOSTILE} | dict.fromkeys(
              ["species", "comments", "behaviour", "habitat", "section", "conditions", "life_stage", "sex", "mark", "animals", "plants"], HOSTILE)]}
TOUR = {"area": HOSTILE, "text": HOSTILE, "corners": {"south_west": [47, 8], "north_east": [48, 9]}, "track": [[47.1, 8.1], [47.2, 8.2]], "map_zoom": 10,
        "waypoints": [{"id": "w1", "latitude": 47.5, "longitude": 8.5, "title": HOSTILE, "text": HOSTILE, "media": []}]}
CAMPUS = {"schema": 1, "kind": "campus", "id": "x-1", "campus": "x-1", "ts": 1_777_593_600_000, "name": HOSTILE, "boundary": CORNERS}
OPTION = {"vehicle": HOSTILE, "growth_s": 1, "before_s": 1, "after_s": 2, "travel_s": 1, "proven": True, "legs_measured": 1, "legs_estimated": 1}
WHY = {"steps": [{"event": HOSTILE, "moved": [{"request": "x-1", "vehicle_before": "x-2", "vehicle": HOSTILE}],
                  "choices": [{"request": "x-1", "cancel_likelihood": 0.1, "options": [OPTION]}]}], "weights": {"surge": 1, HOSTILE: 1}, "measured_by": HOSTILE}
THING = {"vehicle": "x-1"}
OUTING = {"site": "x-1", "survey": "x-1", "account": "surveyor"}
OPEN = {"resolved_at": None, "state": "open", "severity": "critical", "test": "above", "audience": "farmer", "account": None}


def rows(accounts, now):
    """In an order in which they may be made: the table, and what is said of its columns."""
    yield "fleet", {"fleet": "x-1", "part_of": None}
    for account in accounts:
        yield "fleet_member", {"fleet": "x-1", "account": account}
        yield "token", {"token_id": f"own-{account}", "account": account, "scopes": ["read"], "role": "farmer", "is_own": True, "expires_at": None, "revoked_at": None, "digest": account.encode().ljust(32, b"0")}
        yield "push_subscription", {"endpoint": f"https://push.example/{account}/{HOSTILE}", "account": account, "p256dh": bytes(65), "auth": bytes(16)}
        yield "notice_setting", {"account": account, "critical_manner": "at_once", "warning_manner": "daily", "critical_channels": ["mail"], "warning_channels": ["mail"], "backlog": "daily",
                                 "daily_minute": 1, "quiet_from": 1, "quiet_until": 2, "repeat_min": 60, "webhook_key": b"k"}
        yield "notice_step", {"account": account, "step": 1, "after_min": 5, "colleague": "farmer"}
    for number, kind in enumerate(["car", "machine"]):
        own = {**THING, "kind": kind}
        yield "fleet_vehicle", {**own, "fleet": "x-1"}
        yield "vehicle", {**own, "last_reading_at": now}
        yield "registration", {**own, "fuel": "diesel", "host": None, "port": None, "certificate_sha256": None, "account": None}
        yield "alert", {**own, **OPEN, "alert_id": f"x-{number + 1}"}
        yield "notice", {"notice_id": f"n-{number}".ljust(34, "0"), "alert_id": f"x-{number + 1}", "account": "farmer", "occasion": "opened", "manner": "at_once", "state": "told", **THING}
    yield "alert", {**THING, **OPEN, "kind": "machine", "alert_id": "x-3", "state": "resolved", "resolved_at": now}
    yield "notice_message", {"message_id": "notice-" + HEX32, "account": "farmer", "channel": "mail", "manner": "at_once", "state": "refused", "link": None, "payload": None}
    yield "notice_told", {"message_id": "notice-" + HEX32, "notice_id": "n-0".ljust(34, "0")}
    yield "acknowledgement", {**THING, "alert_id": "x-2"}
    yield "silence", {**THING, "model": None, "until_at": now + timedelta(days=1)}
    yield "machine_reading", {**THING, "read_at": now, "latitude_deg": 42, "longitude_deg": -93}
    yield "service", THING
    yield "poll_request", {**THING, "is_done": False, "wants": None}
    yield "health_scan", {**THING, "is_done": True, "expires_at": None}
    yield "debug_log", {**THING, "log": ("2026-05-01 10:00:00 ERROR " + HOSTILE).encode()}
    yield "dealership", {**THING, "dealer": "dealer", "confirmed_at": None, "confirmed_by": None, "ended_at": None, "ended_by": None}
    yield "dealership", {"vehicle": "x-2", "dealer": "dealer", "confirmed_by": "farmer", "ended_at": None, "ended_by": None}
    yield "vehicle", {"vehicle": "x-2", "kind": "machine", "last_reading_at": now}
    yield "dealer_mark", {"vehicle": "x-2", "account": "dealer"}
    yield "trip", {**THING, "start_at": now - timedelta(minutes=20), "end_at": now, "state": None, "carry": None}
    yield "trip_note", {**THING, "trip_at": now - timedelta(minutes=10), "is_discard": False}
    yield "driving", {**THING, "from_at": now - timedelta(minutes=20), "until_at": now, "account": "driver"}
    yield "assignment", {**THING, "account": "driver", "assigned_at": now - timedelta(days=1)}
    yield "trip_summary", {**THING, "account": "driver", "basis": "no readings"}
    yield "rule_edit", {"account": HOSTILE, "model": None, **THING}
    for account in accounts:
        schedule = {"account": account, "report": "alerts", "span": "day", "format": "html", "units": "metric", "cron": "0 6 * * *", "zone": "UTC", "is_enabled": True, "shipped": None,
                    "shipped_cron": None}
        yield "report_schedule", schedule | {"schedule_id": 100 + accounts.index(account)}
        for days, state, revision in [(1, "done", 1), (2, "failed", 0), (3, "waiting", 0)]:
            yield "report_run", {"schedule_id": 100 + accounts.index(account), "due_at": now - timedelta(days=days), "state": state, "revision": revision, "media_type": "text/csv", "content": b"x"}
    yield "campus", {"campus": "x-1", "settings": json.dumps(CAMPUS), "likelihoods": None}
    for role in ("rider", "ride_driver", "dispatcher"):
        yield "person", {"campus": "x-1", "person": role, "role": role, "left_at": None, "disabled_at": None}
        yield "person_account", {"campus": "x-1", "person": role, "account": role}
    place = {"latitude_deg": 38.9, "longitude_deg": -77.05}
    way = {f"{end}_{key}": value for end in ("from", "to") for key, value in place.items()}
    yield "rider", {"campus": "x-1", "rider": "rider"}
    yield "ride", {"campus": "x-1", "request": "x-1", "rider": "rider", "state": "assigned", "vehicle": "x-1", "ended_at": None, "requested_at": now - timedelta(hours=1), **way}
    yield "ride", {"campus": "x-1", "request": "x-2", "rider": "other", "state": "cancelled", "vehicle": None, "requested_at": now - timedelta(hours=2), **way}
    yield "ride_vehicle", {"campus": "x-1", "vehicle": "x-1", "driver": "ride_driver", "state": "in_service", "stops": ["x-1 p", "x-1 d"], "seen_at": now, **place}
    yield "dispatch_decision", {"campus": "x-1", "made_at": now - timedelta(minutes=30), "why": json.dumps(WHY)}
    yield "survey", {**OUTING, "version": 0, "gate": "outside", "service_weather": "[]", "needs_review": True, "weather_missing": 0, "latitude_deg": -3.4, "longitude_deg": 40}
    for version in (0, 1):
        yield "survey_version", {**OUTING, "version": version, "body": json.dumps(SURVEY)}
    yield "survey_receipt", OUTING | {"digest": bytes(32)}
    yield "taxon", {"taxon": "x-1", "name": HOSTILE, "parent": None}
    yield "taxon", {"taxon": "x-2", "name": HOSTILE * 2, "parent": "x-1"}
    yield "taxon_name", {"name": HOSTILE, "taxon": "x-1", "kind": "accepted"}
    yield "sighting", {"site": "x-1", "survey": "x-1", "seen_at": now, "species": HOSTILE, "taxon": "x-1", "needs_review": True, "latitude_deg": -3.4, "longitude_deg": 40}
    yield "tour", {"tour": "x-1", "draft": json.dumps(TOUR)}
    document = {"area": HOSTILE, "text": HOSTILE, "corners": TOUR["corners"], "walk": {"length_m": 10, "walking_min": 1}, "waypoints": TOUR["waypoints"]}
    yield "tour_version", {"tour": "x-1", "document": json.dumps(document), "files": "[]", "waypoint_ids": ["w1"]}
    yield "tour_package", {"tour": "x-1", "from_version": 0, "digest": bytes(32)}
    yield "tour_package_part", {"tour": "x-1", "from_version": 0, "number": 0, "content": b"x"}
    yield "tour_day", {"tour": "x-1", "kind": "visit"}


PLAIN = {"integer": 1, "bigint": 1, "smallint": 1, "double precision": 1.5, "boolean": False, "jsonb": json.dumps({HOSTILE: HOSTILE}),
         "text": HOSTILE, "text[]": [HOSTILE], "bytea": b""}


def fill(connection, accounts):
    now, = connection.execute("SELECT date_trunc('second', now())").fetchone()
    connection.execute("SELECT drover.make_sighting_year(%s)", [now.year])
    plain = PLAIN | {"timestamp with time zone": now, "date": now.date()}
    for table, said in rows(accounts, now):
        columns = connection.execute("""SELECT attname, format_type(atttypid, atttypmod), attidentity <> '' FROM pg_attribute
            WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''""", [f"drover.{table}"]).fetchall()
        assert set(said) <= {name for name, _, _ in columns}, (table, said)
        values = {name: plain[kind] for name, kind, is_counted in columns if not is_counted} | said
        connection.execute(f"INSERT INTO drover.{table} ({', '.join(values)}) OVERRIDING SYSTEM VALUE VALUES ({', '.join(['%s'] * len(values))})", list(values.values()))
