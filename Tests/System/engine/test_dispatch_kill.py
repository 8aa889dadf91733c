"""A decision is made once: workers and relays killed between decision and answer, while riders ask again every second."""
import collections
import json
import random
import signal
import threading
import time

from confluent_kafka import Consumer, TopicPartition
from harness import HANG_S, freeze, is_long, until
from test_dispatch import Office
from world import connect, query


class Answers:
    """What a gateway would see on drover.assignments, in the order of the log."""

    def __init__(self, brokers):
        self.lock, self.records, self.ended = threading.Lock(), [], False
        self.consumer = Consumer({"bootstrap.servers": brokers, "group.id": "answers", "enable.auto.commit": False})
        known = self.consumer.list_topics("drover.assignments", timeout=HANG_S).topics["drover.assignments"].partitions
        self.consumer.assign([TopicPartition("drover.assignments", partition, 0) for partition in known])
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        while not self.ended:
            message = self.consumer.poll(0.1)
            if message is not None and not message.error():
                with self.lock:
                    self.records.append(json.loads(message.value()))

    def vehicles(self):
        """By request, each vehicle that its rider was told, once, in order."""
        told = collections.defaultdict(list)
        with self.lock:
            for record in self.records:
                if record["vehicle"] and record["vehicle"] not in told[record["request"]]:
                    told[record["request"]].append(record["vehicle"])
        return told

    def stop(self):
        self.ended = True
        self.thread.join(HANG_S)
        self.consumer.close()


class Riders:
    """An app each: asks, and asks the same again every second until it has an answer."""

    def __init__(self, campus, answers, chance):
        self.campus, self.answers, self.chance, self.count = campus, answers, chance, 0

    def ask(self, number):
        records = []
        for _ in range(number):
            self.count += 1
            request, spot = f"r-{self.count}", lambda: self.chance.uniform(-900, 900)
            records.append(self.campus.pickup(request, spot(), spot(), spot(), spot()))
        return {record["request"]: record for record in records}

    def wait(self, asked):
        again = time.monotonic() + 1

        def answered():
            nonlocal again
            waiting = [request for request in asked if not self.answers.vehicles()[request]]
            if time.monotonic() >= again:
                again += 1
                for request in waiting:
                    self.campus.push(asked[request])
            return not waiting
        until(answered, about="an answer for each rider")

    def ride(self, asked):
        """So that the next ones find a campus that is not full."""
        for request in asked:
            self.campus.say("done", request=request, stop="pickup")
            self.campus.say("done", request=request, stop="dropoff")


def decided(connection, campus):
    return {request for request, in connection.execute("SELECT request FROM drover.ride WHERE campus = %s", [campus.name])}


def test_each_rider_gets_one_vehicle_whatever_is_killed_meanwhile(world):
    kills, seed = (200, 20) if is_long() else (3, 10)
    chance, office = random.Random(seed), Office(world)
    # A change of vehicle costs more than it ever saves: whoever is told two was told by two deciders.
    campus = office.campus(other_vehicle_s=3600, silence_s=3600, queue_s=3600)
    for number in range(5):
        campus.vehicle(f"bus-{number}", chance.uniform(-900, 900), chance.uniform(-900, 900))
    campus.rides()
    answers = Answers(world.brokers)
    looking = connect(office.env)
    riders, moments = Riders(campus, answers, chance), collections.Counter()
    for number in range(kills):
        # However fast the machine: every third time the relay sleeps, and what is decided is told to nobody when the kill comes;
        # every third time the worker sleeps, and what is asked is not decided.
        mute, deaf = number % 3 == 0, number % 3 == 1
        if mute or deaf:
            freeze(office.relay if mute else office.worker)
        asked = riders.ask(chance.randint(1, 4))
        if deaf or not mute and chance.random() < 0.5:
            # From before the records are read to after they are answered.
            time.sleep(chance.random() ** 2 * 0.12)
        else:
            # From the commit on: the answer is on its way.
            until(lambda: decided(looking, campus) >= set(asked), about="a decision")
            time.sleep(chance.random() ** 2 * 0.01)
        victims = chance.choice([[office.worker], *([] if deaf else [[office.relay]]), [office.worker, office.relay]])
        for victim in victims:
            victim.process.send_signal(signal.SIGKILL)
        for victim in victims:
            victim.wait()
        rides = decided(looking, campus)
        told = answers.vehicles()
        for request in asked:
            moments["answered" if told[request] else "decided" if request in rides else "asked"] += 1
        if mute and office.relay not in victims:
            office.relay.process.send_signal(signal.SIGCONT)
        if office.relay in victims:
            office.relay = world.drover.start("notify", env=office.env)
        if office.worker in victims:
            office.work()
        riders.wait(asked)
        riders.ride(asked)
    office.settle()
    rides, told = campus.rides(), answers.vehicles()
    answers.stop()
    looking.close()
    office.stop()
    print(f"seed {seed}: {kills} kills; at the kill {dict(moments)}")
    assert set(rides) == set(told) == {f"r-{number + 1}" for number in range(riders.count)}
    for request, (state, vehicle) in rides.items():
        assert (state, told[request]) == ("done", [vehicle]), request
    by_id = collections.defaultdict(set)
    for record in answers.records:
        by_id[record["id"]].add(json.dumps(record, sort_keys=True))
    assert all(len(same) == 1 for same in by_id.values()), "what is sent again is the same"
    decisions = query(office.env, "SELECT step ->> 'request', step ->> 'vehicle' FROM drover.dispatch_decision, jsonb_array_elements(why -> 'steps') AS step "
                      "WHERE campus = %s AND step ->> 'event' = 'pickup'", campus.name)
    assert sorted(decisions) == sorted((request, vehicle) for request, (_, vehicle) in rides.items()), "decided once"
    assert sum(moments.values()) == riders.count and moments["asked"] > 0 and moments["decided"] > 0
