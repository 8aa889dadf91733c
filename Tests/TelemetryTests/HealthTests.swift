import Synchronization
import Telemetry
import Testing

@Suite struct HealthTests {
    /// A clock that the test sets.
    final class Hand: Sendable {
        private let ms = Atomic<Int64>(1_000_000)
        var now: Int64 { ms.load(ordering: .relaxed) }
        func go(_ more: Int64) { ms.wrappingAdd(more, ordering: .relaxed) }
    }

    private let hand = Hand()
    private let stopping = AtomicFlag()

    final class AtomicFlag: Sendable {
        private let flag = Atomic(false)
        var isSet: Bool { flag.load(ordering: .relaxed) }
        func set() { flag.store(true, ordering: .relaxed) }
    }

    private func health() -> Health {
        let health = Health(isStopping: { [stopping] in stopping.isSet }, nowMs: { [hand] in hand.now })
        health.setStuck(ms: 60_000)
        return health
    }

    @Test func aLoopThatTurnsIsWellUntilItStandsTooLong() {
        let health = health()
        let loop = health.loop("lane-0")
        hand.go(60_000)
        #expect(
            health.live().json == #"{"status":"live","checks":{"lane-0":{"ok":true,"why":"turned 60000 ms ago"}}}\#n"#)
        hand.go(1)
        #expect(!health.live().isWell)
        #expect(health.live().json.contains(#""why":"turned 60001 ms ago; 60 s are allowed""#))
        loop.turned()
        #expect(health.live().isWell)
    }

    @Test func aWaitForAServerIsAllowedToBeLongerButIsNotReady() {
        let health = health()
        health.started()
        let loop = health.loop("commit-0")
        loop.whileWaiting {
            hand.go(60_001)
            #expect(health.live().isWell)
            #expect(
                health.ready().json
                    == #"{"status":"not ready","checks":{"commit-0":{"ok":false,"why":"waits for a server for 60 s"}}}\#n"#
            )
            hand.go(540_000)
            #expect(!health.live().isWell)
        }
        #expect(health.live().isWell)
        #expect(health.ready().isWell)
    }

    @Test func aLoopThatHasEndedIsNotMissed() {
        let health = health()
        health.started()
        let loop = health.loop("lane-0")
        loop.ended()
        hand.go(1_000_000)
        #expect(health.live().json == #"{"status":"live","checks":{}}\#n"#)
        // One of the same name takes its place.
        let next = health.loop("lane-0")
        loop.turned()
        hand.go(60_001)
        #expect(!health.live().isWell)
        next.turned()
        #expect(health.live().isWell)
    }

    @Test func patienceMultiplies() {
        let health = health()
        _ = health.loop("mail", patience: 10)
        hand.go(600_000)
        #expect(health.live().isWell)
        hand.go(1)
        #expect(!health.live().isWell)
    }

    @Test func itIsNotReadyWhileItStartsAndWhileItStops() {
        let health = health()
        health.check("database") { .well("migration 1") }
        #expect(health.ready().json.contains("is starting"))
        health.started()
        #expect(health.ready().isWell)
        stopping.set()
        #expect(!health.ready().isWell)
        #expect(
            health.ready().json == #"{"status":"not ready","checks":{"process":{"ok":false,"why":"is stopping"}}}\#n"#)
        #expect(health.live().isWell)
    }

    @Test func itHasStartedWhenEachOfItsPartsHas() {
        let health = health()
        health.setParts(2)
        health.started()
        #expect(health.ready().json.contains("is starting"))
        health.started()
        #expect(health.ready().isWell)
    }

    @Test func whatCanBeDoneWithoutDoesNotDecide() {
        let health = health()
        health.started()
        health.check("broker") { Health.Finding.ill("away").bearable }
        #expect(
            health.ready().json
                == #"{"status":"ready","checks":{"broker":{"ok":false,"needed":false,"why":"away"}}}\#n"#)
        health.check("database") { .ill("say \"no\"\n") }
        #expect(!health.ready().isWell)
        #expect(health.ready().json.contains("\"why\":\"say \\\"no\\\"\\n\""))
    }

    @Test func hundredsOfLanesMakeAShortAnswerThatNamesWhatIsIll() {
        let health = health()
        let loops = (0..<300).map { health.loop("lane-\($0)") }
        hand.go(60_001)
        for (number, loop) in loops.enumerated() where number != 277 { loop.turned() }
        let answer = health.live()
        #expect(!answer.isWell && answer.json.contains(#"{"lane-277":{"ok":false"#))
        #expect(answer.json.utf8.count < 8_000 && answer.json.contains("\"others_well\":236"))
    }
}
