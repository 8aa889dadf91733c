-- Who sees which rows. Fleets, dealers and owners give an account its sight; row-level security holds whoever reads as a person to it, in the
-- pages and in psql alike. Sight is no result: it is asked when somebody reads, and no replay needs it.

ALTER TABLE drover.vehicle ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.registration ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.machine_reading ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.poll_request ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.service ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.debug_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.first_writer ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.trip_weather ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.vehicle_minute ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.vehicle_day ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.trip ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.trip_start ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.trip_rules ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.trip_summary ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.live_trip ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.health_scan ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.account_settings ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.rule_set ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.rule_edit ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.alert ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.acknowledgement ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.silence ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.notice_setting ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.notice_step ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.notice ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.notice_message ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.notice_told ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.push_subscription ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.campus ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.ride ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.rider ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.ride_vehicle ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.dispatch_decision ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.person_photo ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.tour ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.tour_medium ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.tour_version ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.tour_package ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.tour_package_part ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.tour_day ENABLE ROW LEVEL SECURITY;

-- Programs of the installation see all.
DO $$
DECLARE
    guarded text; holder text;
BEGIN
    FOREACH guarded IN ARRAY ARRAY[
        'vehicle', 'registration', 'machine_reading', 'poll_request', 'service', 'trip_weather', 'vehicle_minute', 'vehicle_day', 'trip',
        'trip_start', 'trip_summary', 'live_trip', 'health_scan', 'alert', 'acknowledgement', 'silence', 'campus', 'ride', 'rider',
        'ride_vehicle', 'dispatch_decision', 'person_photo']
    LOOP
        FOREACH holder IN ARRAY ARRAY[
            'drover_api', 'drover_debug', 'drover_gateway', 'drover_reader', 'drover_relay', 'drover_researcher', 'drover_survey',
            'drover_writer']
        LOOP
            EXECUTE format('CREATE POLICY %I ON drover.%I TO %I USING (true) WITH CHECK (true)', 'all_rows_of_' || holder, guarded, holder);
        END LOOP;
    END LOOP;
END $$;

CREATE POLICY sight ON drover.vehicle FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR ((kind = 'car'::text) AND (vehicle IN (SELECT drover.known('car'::text))))
    OR ((kind = 'machine'::text) AND (vehicle IN (SELECT drover.known('machine'::text)))));

CREATE POLICY sight ON drover.registration FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR ((kind = 'car'::text) AND (vehicle IN (SELECT drover.known('car'::text))))
    OR ((kind = 'machine'::text) AND (vehicle IN (SELECT drover.known('machine'::text)))));

CREATE POLICY sight ON drover.machine_reading FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (vehicle IN (SELECT drover.seen('machine'::text)))
    OR ((vehicle IN (SELECT drover.seen_partly('machine'::text))) AND drover.sees_at('machine'::text, vehicle, read_at)));

CREATE POLICY sight ON drover.poll_request FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (vehicle IN (SELECT drover.seen('machine'::text)))
    OR ((vehicle IN (SELECT drover.seen_partly('machine'::text))) AND drover.sees_at('machine'::text, vehicle, COALESCE(asked_at, answered_at))));

CREATE POLICY sight ON drover.service FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (vehicle IN (SELECT drover.seen('machine'::text)))
    OR ((vehicle IN (SELECT drover.seen_partly('machine'::text))) AND drover.sees_at('machine'::text, vehicle, done_at)));

CREATE POLICY sight ON drover.debug_log FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR ('developer'::text = ANY ((SELECT drover.sight_roles())::text[])));
CREATE POLICY all_rows_of_drover_debug ON drover.debug_log TO drover_debug USING (true) WITH CHECK (true);

CREATE POLICY sight ON drover.trip_weather FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (vehicle IN (SELECT drover.seen('car'::text)))
    OR ((vehicle IN (SELECT drover.seen_partly('car'::text))) AND drover.sees_at('car'::text, vehicle, hour_at)));

CREATE POLICY sight ON drover.vehicle_minute FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (vehicle IN (SELECT drover.seen('car'::text)))
    OR ((vehicle IN (SELECT drover.seen_partly('car'::text))) AND drover.sees_at('car'::text, vehicle, minute_at))
    OR ((vehicle IN (SELECT drover.driven())) AND drover.drove(vehicle, minute_at, (minute_at + '00:01:00'::interval))));

CREATE POLICY sight ON drover.vehicle_day FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (vehicle IN (SELECT drover.seen('car'::text)))
    OR ((vehicle IN (SELECT drover.seen_partly('car'::text))) AND drover.sees_at('car'::text, vehicle, day_at)));

CREATE POLICY sight ON drover.trip FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (vehicle IN (SELECT drover.seen('car'::text)))
    OR ((vehicle IN (SELECT drover.seen_partly('car'::text))) AND drover.sees_at('car'::text, vehicle, start_at))
    OR ((vehicle IN (SELECT drover.driven())) AND drover.drove(vehicle, start_at, end_at)));

CREATE POLICY sight ON drover.trip_start FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (vehicle IN (SELECT drover.seen('car'::text)))
    OR ((vehicle IN (SELECT drover.seen_partly('car'::text))) AND drover.sees_at('car'::text, vehicle, start_at))
    OR ((vehicle IN (SELECT drover.driven())) AND drover.drove(vehicle, start_at, start_at)));

CREATE POLICY sight ON drover.trip_rules FOR SELECT TO drover_sight USING ((SELECT drover.reads_fleets()));
CREATE POLICY all_rows_of_drover_reader ON drover.trip_rules TO drover_reader USING (true);
CREATE POLICY all_rows_of_drover_writer ON drover.trip_rules TO drover_writer USING (true) WITH CHECK (true);

CREATE POLICY sight ON drover.trip_summary FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (vehicle IN (SELECT drover.seen('car'::text)))
    OR ((vehicle IN (SELECT drover.seen_partly('car'::text))) AND drover.sees_at('car'::text, vehicle, start_at))
    OR (account = (SELECT drover.sight_account())));

CREATE POLICY sight ON drover.live_trip FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (vehicle IN (SELECT drover.seen('car'::text)))
    OR ((vehicle IN (SELECT drover.seen_partly('car'::text))) AND drover.sees_at('car'::text, vehicle, start_at))
    OR ((vehicle IN (SELECT drover.driven())) AND drover.drove(vehicle, start_at, end_at)));

CREATE POLICY sight ON drover.health_scan FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (vehicle IN (SELECT drover.seen('car'::text)))
    OR ((vehicle IN (SELECT drover.seen_partly('car'::text))) AND drover.sees_at('car'::text, vehicle, COALESCE(asked_at, scanned_at))));

CREATE POLICY sight ON drover.account_settings FOR SELECT TO drover_sight USING ((account = (SELECT drover.sight_account())));
CREATE POLICY all_rows_of_drover_reader ON drover.account_settings TO drover_reader USING (true);
CREATE POLICY all_rows_of_drover_writer ON drover.account_settings TO drover_writer USING (true) WITH CHECK (true);

CREATE POLICY sight ON drover.rule_set FOR SELECT TO drover_sight USING ((SELECT drover.reads_fleets()));
CREATE POLICY all_rows_of_drover_reader ON drover.rule_set TO drover_reader USING (true);
CREATE POLICY all_rows_of_drover_writer ON drover.rule_set TO drover_writer USING (true) WITH CHECK (true);

CREATE POLICY sight ON drover.rule_edit FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR ((model IS NOT NULL) AND ((SELECT drover.sight_roles()) && ARRAY['fleet_manager'::text, 'developer'::text, 'farmer'::text]))
    OR (vehicle IN (SELECT drover.seen('machine'::text))));
CREATE POLICY all_rows_of_drover_reader ON drover.rule_edit TO drover_reader USING (true);

CREATE POLICY sight ON drover.alert FOR SELECT TO drover_sight USING (
    ((kind = 'machine'::text) AND (audience = ANY ((SELECT drover.seen_audiences())::text[])) AND ((SELECT drover.sees_all()) OR (vehicle IN (SELECT drover.seen('machine'::text))) OR ((vehicle IN (SELECT drover.seen_partly('machine'::text))) AND drover.sees_at('machine'::text, vehicle, opened_at))))
    OR ((kind = 'car'::text) AND ((account = (SELECT drover.sight_account())) OR (SELECT drover.sees_all()) OR (vehicle IN (SELECT drover.seen('car'::text))) OR ((vehicle IN (SELECT drover.seen_partly('car'::text))) AND drover.sees_at('car'::text, vehicle, opened_at)))));

CREATE POLICY sight ON drover.acknowledgement FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (EXISTS (SELECT FROM drover.alert a WHERE (a.alert_id = acknowledgement.alert_id))));

CREATE POLICY sight ON drover.silence FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR ((vehicle IS NULL) AND (SELECT drover.reads_fleets()))
    OR (vehicle IN (SELECT drover.known('machine'::text))));

CREATE POLICY own ON drover.notice_setting TO drover_page USING (
    account = (SELECT drover.sight_account())) WITH CHECK (
    account = (SELECT drover.sight_account()));

CREATE POLICY own ON drover.notice_step TO drover_page USING (
    account = (SELECT drover.sight_account())) WITH CHECK (
    (account = (SELECT drover.sight_account())) AND (colleague IN (SELECT c.account FROM drover.colleagues() c(account, name))));

CREATE POLICY sight ON drover.notice FOR SELECT TO drover_sight USING (((account = (SELECT drover.sight_account())) OR (SELECT drover.sees_all())));
CREATE POLICY all_rows_of_drover_reader ON drover.notice TO drover_reader USING (true);
CREATE POLICY all_rows_of_drover_relay ON drover.notice TO drover_relay USING (true) WITH CHECK (true);

CREATE POLICY sight ON drover.notice_message FOR SELECT TO drover_sight USING (
    (account = (SELECT drover.sight_account()))
    OR (SELECT drover.sees_all()));
CREATE POLICY all_rows_of_drover_reader ON drover.notice_message TO drover_reader USING (true);
CREATE POLICY all_rows_of_drover_relay ON drover.notice_message TO drover_relay USING (true) WITH CHECK (true);

CREATE POLICY sight ON drover.notice_told FOR SELECT TO drover_sight USING ((notice_id IN (SELECT n.notice_id FROM drover.notice n)));
CREATE POLICY all_rows_of_drover_reader ON drover.notice_told TO drover_reader USING (true);
CREATE POLICY all_rows_of_drover_relay ON drover.notice_told TO drover_relay USING (true) WITH CHECK (true);

CREATE POLICY own ON drover.push_subscription TO drover_page USING ((account = (SELECT drover.sight_account())));
CREATE POLICY all_rows_of_drover_relay ON drover.push_subscription TO drover_relay USING (true) WITH CHECK (true);

CREATE POLICY sight ON drover.campus FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (campus IN (SELECT b.campus FROM drover.bound_people() b(campus, person, role, name))));

CREATE POLICY sight ON drover.ride FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (campus IN (SELECT drover.dispatched_campuses()))
    OR ((campus, rider) IN (SELECT b.campus, b.person FROM drover.bound_people() b(campus, person, role, name) WHERE (b.role = 'rider'::text)))
    OR (((ended_at IS NULL) OR (ended_at > (now() - '01:00:00'::interval))) AND ((campus, vehicle) IN (SELECT d.campus, d.vehicle FROM drover.driven_vehicles() d(campus, vehicle)))));

CREATE POLICY sight ON drover.rider FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (campus IN (SELECT drover.dispatched_campuses()))
    OR ((campus, rider) IN (SELECT b.campus, b.person FROM drover.bound_people() b(campus, person, role, name)))
    OR (EXISTS (SELECT FROM drover.ride r WHERE ((r.campus = rider.campus) AND (r.rider = rider.rider) AND (r.ended_at IS NULL) AND ((r.campus, r.vehicle) IN (SELECT d.campus, d.vehicle FROM drover.driven_vehicles() d(campus, vehicle)))))));

CREATE POLICY sight ON drover.ride_vehicle FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (campus IN (SELECT b.campus FROM drover.bound_people() b(campus, person, role, name))));

CREATE POLICY sight ON drover.dispatch_decision FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all())
    OR (campus IN (SELECT drover.dispatched_campuses())));

CREATE POLICY sight ON drover.person_photo FOR SELECT TO drover_page USING (
    (SELECT drover.sees_all())
    OR (campus IN (SELECT drover.dispatched_campuses()))
    OR ((campus, person) IN (SELECT b.campus, b.person FROM drover.bound_people() b(campus, person, role, name)))
    OR (EXISTS (SELECT FROM (drover.ride r JOIN drover.ride_vehicle v ON (((v.campus = r.campus) AND (v.vehicle = r.vehicle)))) WHERE ((r.campus = person_photo.campus) AND (r.ended_at IS NULL) AND ((person_photo.person = r.rider) OR (person_photo.person = v.driver))))));

CREATE POLICY rangers ON drover.tour TO drover_page USING (
    drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]) WITH CHECK (
    drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]);

CREATE POLICY rangers ON drover.tour_medium TO drover_page USING (
    drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]) WITH CHECK (
    drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]);

CREATE POLICY published ON drover.tour_version FOR SELECT TO drover_reader, drover_api USING (true);
CREATE POLICY rangers ON drover.tour_version TO drover_page USING (
    drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]) WITH CHECK (
    drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]);

CREATE POLICY published ON drover.tour_package FOR SELECT TO drover_reader, drover_api USING (true);
CREATE POLICY rangers ON drover.tour_package TO drover_page USING (
    drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]) WITH CHECK (
    drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]);

CREATE POLICY published ON drover.tour_package_part FOR SELECT TO drover_reader, drover_api USING (true);
CREATE POLICY rangers ON drover.tour_package_part TO drover_page USING (
    drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]) WITH CHECK (
    drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]);

CREATE POLICY rangers ON drover.tour_day TO drover_page USING (
    drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]) WITH CHECK (
    drover.sight_roles() && ARRAY['ranger'::text, 'administrator'::text]);
CREATE POLICY readers ON drover.tour_day FOR SELECT TO drover_reader USING (true);
CREATE POLICY workers ON drover.tour_day TO drover_writer USING (true) WITH CHECK (true);
