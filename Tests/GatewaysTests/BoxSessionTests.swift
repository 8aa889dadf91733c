import Codecs
import Gateways
import SimKit
import Testing

/// One connection to a box, fact by fact.
struct BoxSessionTests {
    private func reading(_ sequence: Int64, serial: String = "BOX-1") -> MTGReading {
        var reading = MTGReading(sequence: sequence, ts: 1_789_344_000_000 + sequence * 60_000)
        reading.serial = serial
        reading.connectedDevices = []
        return reading
    }

    private func opened(known: [String: Int64] = ["BOX-1": 10], pageMost: Int = 4) -> BoxSession {
        var session = BoxSession(known: known, pageMost: pageMost)
        #expect(session.opened() == .ask(.reading))
        return session
    }

    @Test func nothingNewIsDone() {
        var session = opened()
        #expect(session.received(.reading(reading(10))) == .done)
        #expect(session.readings == 0)
    }

    @Test func theNextReadingIsStoredWithoutAskingForMore() {
        var session = opened()
        #expect(session.received(.reading(reading(11))) == .store([reading(11)], serial: "BOX-1"))
        #expect(session.stored() == .done)
    }

    @Test("A backlog comes page by page, each asked for when the one before is stored; answers in any pieces")
    func backlog() {
        for pieceBytes in [1, 7, 300, 100_000] {
            var session = opened()
            func give(_ answer: MTGAnswer) -> BoxSession.Action {
                var (rest, action) = (answer.encoded()[...], BoxSession.Action.wait)
                while !rest.isEmpty {
                    #expect(action == .wait)
                    action = session.received(Array(rest.prefix(pieceBytes)))
                    rest = rest.dropFirst(pieceBytes)
                }
                return action
            }
            #expect(give(.reading(reading(15))) == .ask(.backlog(after: 10, most: 4)))
            let first = (11...14).map { reading($0) }
            #expect(give(.backlog(newest: 15, first)) == .store(first, serial: "BOX-1"))
            #expect(session.stored() == .ask(.backlog(after: 14, most: 4)))
            // Another reading was made meanwhile.
            let second = (15...16).map { reading($0) }
            #expect(give(.backlog(newest: 16, second)) == .store(second, serial: "BOX-1"))
            #expect(session.stored() == .done && session.readings == 6)
        }
    }

    @Test func aBoxThatIsMetForTheFirstTimeOrWasPutOntoAnotherMachineBeginsAtZero() {
        var session = opened()
        let action = session.received(.reading(reading(7, serial: "BOX-2")))
        #expect(action == .ask(.backlog(after: 0, most: 4)) && !session.wasReset)
    }

    @Test func aBoxThatCountsFromTheBeginningAgainIsReadAnew() {
        var session = opened()
        #expect(session.received(.reading(reading(3))) == .ask(.backlog(after: 0, most: 4)))
        #expect(session.wasReset)
    }

    @Test(
        "A box that has no backlog gives its newest reading",
        arguments: [MTGAnswer.refused(.requestUnknown), .refused(.nothingThere), .backlog(newest: 0, [])])
    func noBacklog(_ answer: MTGAnswer) {
        var session = opened()
        _ = session.received(.reading(reading(15)))
        #expect(session.received(answer) == .store([reading(15)], serial: "BOX-1"))
        #expect(session.stored() == .done)
    }

    @Test func anEmptyPageEndsTheBacklog() {
        var session = opened()
        _ = session.received(.reading(reading(12)))
        _ = session.received(.backlog(newest: 99, [reading(11), reading(12)]))
        #expect(session.stored() == .ask(.backlog(after: 12, most: 4)))
        #expect(session.received(.backlog(newest: 99, [])) == .done)
    }

    @Test func whatIsNotTheAnswerEndsTheConnection() {
        let page = MTGAnswer.backlog(newest: 15, [11, 12].map { reading($0) })
        var session = opened()
        #expect(session.received(page) == .fail(.unasked))
        session = opened()
        #expect(session.received(Array("HTTP/1.1".utf8)) == .fail(.notMTG(.magicMissing)))
        session = opened()
        #expect(session.received(MTGAnswer.reading(reading(11)).encoded() + [0]) == .fail(.unasked))
        session = opened()
        #expect(session.received(.refused(nil)) == .fail(.refused(nil)))
        session = opened()
        #expect(session.closed() == .fail(.closed))
        // While readings are being stored, and after the end, nothing is asked.
        session = opened()
        _ = session.received(.reading(reading(11)))
        #expect(session.received([0x4D]) == .fail(.unasked))
        session = opened()
        _ = session.received(.reading(reading(15)))
        let old = MTGAnswer.backlog(newest: 15, [10, 11].map { reading($0) })
        #expect(session.received(old) == .fail(.notMTG(.sequenceNotRising)))
        session = opened(pageMost: 1)
        _ = session.received(.reading(reading(15)))
        #expect(session.received(page) == .fail(.unasked))
    }

    @Test func everyFaultHasItsLabelAndSaysSomething() {
        let faults: [BoxFault] = [
            .unreachable("why"), .distrusted("why"), .late, .closed, .notMTG(.magicMissing), .unasked, .refused(nil),
            .overlong, .spool("why"),
        ]
        #expect(faults.map(\.label) == BoxFault.labels && faults.allSatisfy { !$0.description.isEmpty })
    }

    @Test("A box that fails is tried soon, then more and more rarely, and never in step with others") func backOff() {
        var chance = SeededChance(seed: 3)
        var schedule = CallSchedule(nowMs: 0, intervalMs: 60_000, backOffMsMax: 900_000, chance: &chance)
        #expect((0..<60_000).contains(schedule.nextMs))
        var now: Int64 = 100_000
        for most in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 900_000, 900_000] {
            schedule.failed(nowMs: now, madeProgress: false, chance: &chance)
            #expect((Int64(most) / 2...Int64(most)).contains(schedule.nextMs - now))
            now = schedule.nextMs
        }
        #expect(schedule.isWithoutContact)
        // What was stored proves contact, and the rest is fetched soon.
        schedule.failed(nowMs: now, madeProgress: true, chance: &chance)
        #expect(!schedule.isWithoutContact && schedule.nextMs - now <= 1_000)
    }

    @Test func aPollKeepsItsPlaceAndDoesNotMakeUpForMissedOnes() {
        var chance = SeededChance(seed: 3)
        var schedule = CallSchedule(nowMs: 0, intervalMs: 60_000, backOffMsMax: 900_000, chance: &chance)
        let first = schedule.nextMs
        schedule.succeeded(nowMs: first + 500)
        #expect(schedule.nextMs == first + 60_000)
        schedule.succeeded(nowMs: first + 60_000 * 5 + 700)
        #expect(schedule.nextMs == first + 60_000 * 6)
    }
}

extension BoxSession {
    fileprivate mutating func received(_ answer: MTGAnswer) -> Action { received(answer.encoded()) }
}
