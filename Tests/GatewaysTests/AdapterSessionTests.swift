import Codecs
import Fleet
import Gateways
import SimKit
import Testing

/// A car behind an adapter, and the clocks: what a session is told and what it says, without sockets.
struct AdapterTrial {
    var session: AdapterSession
    var nowMs: Int64 = 1_000_000
    var sent: [String] = []
    var readings: [CarReading] = []
    var scans: [(requests: [String], scan: Fleet.Action.HealthScan)] = []
    var supported: Set<UInt8>?
    var notes: [ELMFault] = []
    var ending: AdapterSession.Ending?

    /// What the adapter answers instead, by request; else as `car` does.
    var instead: [String: String] = [:]
    var car: [String: String] = AdapterTrial.car
    /// The adapter repeats what it was asked.
    var echoes = false
    var latencyMs: Int64 = 20

    static let car = [
        "ATZ": "\r\rELM327 v1.5\r\r", "AT@1": "OBDII to RS232 Interpreter\r\r", "AT@2": "?\r\r", "ATSP00": "OK\r\r",
        "0100": "SEARCHING...\r41 00 BE 3F A8 13 \r\r", "0120": "41 20 90 1F F0 15 \r\r",
        "0140": "41 40 7A 1C 80 20 \r\r", "0101": "41 01 00 07 A1 00 \r\r", "010D": "41 0D 32 \r\r",
        "010C": "41 0C 1F 40 \r\r", "0110": "41 10 05 DC \r\r", "0142": "41 42 36 B0 \r\r",
        "0105": "41 05 7B \r\r", "03": "43 02 01 33 04 20 \r\r", "07": "47 01 01 71 \r\r", "0A": "4A 00 \r\r",
        "020000": "42 00 00 48 18 00 00 \r\r", "020200": "42 02 00 01 33 \r\r", "020500": "42 05 00 7B \r\r",
        "020C00": "42 0C 00 1F 40 \r\r", "020D00": "42 0D 00 32 \r\r", "0900": "49 00 40 00 00 00 \r\r",
        "0902": "014\r0: 49 02 01 57 50 30 \r1: 5A 5A 5A 39 39 5A 54 \r2: 53 33 39 32 31 32 34 \r\r",
    ]

    init(_ schedule: String = PollSchedule.standardText, knownCodes: Int? = nil) {
        session = AdapterSession(schedule: try! PollSchedule(schedule), answerTimeoutMs: 10_000, knownCodes: knownCodes)
    }

    var now: Moment { .init(steadyMs: nowMs, wallMs: 1_789_344_000_000 + nowMs) }

    /// The line that the adapter has not answered yet.
    var open: String?

    mutating func take(_ actions: [AdapterSession.Action]) {
        for action in actions {
            #expect(ending == nil, "nothing happens after the end")
            switch action {
            case .send(let command):
                #expect(open == nil, "one request is outstanding at a time")
                open = command.text
                sent.append(command.text)
            case .reading(let reading): readings.append(reading)
            case .supports(let pids): supported = pids
            case .scan(let requests, let scan): scans.append((requests, scan))
            case .note(let fault, _): notes.append(fault)
            case .end(let how): ending = how
            }
        }
    }

    func reply(_ request: String) -> String {
        (echoes ? request + "\r" : "") + (instead[request] ?? car[request] ?? "NO DATA\r\r") + ">"
    }

    mutating func give(_ text: String) { take(session.received(Array(text.utf8), now)) }

    /// Answers, and lets time pass, until the session ends or so much time is over.
    /// - Parameter pieces: how a reply is cut.
    mutating func run(ms: Int64, pieces: (String) -> [[UInt8]] = { [Array($0.utf8)] }) {
        let untilMs = nowMs + ms
        while nowMs < untilMs, ending == nil {
            if let request = open {
                nowMs += latencyMs
                open = nil
                for piece in pieces(reply(request)) {
                    // The next request comes only with the last piece.
                    take(session.received(piece, now))
                }
            } else {
                nowMs = min(max(nowMs, session.dueMs), untilMs)
                take(session.due(now))
            }
        }
    }

    mutating func begin() { take(session.opened(now)) }
}

struct AdapterSessionTests {
    /// - Parameter change: what is otherwise than usual, before it begins.
    private func driving(
        _ schedule: String = PollSchedule.standardText, knownCodes: Int? = nil, ms: Int64 = 0,
        _ change: (inout AdapterTrial) -> Void = { _ in }
    ) -> AdapterTrial {
        var trial = AdapterTrial(schedule, knownCodes: knownCodes)
        change(&trial)
        trial.begin()
        if ms > 0 { trial.run(ms: ms) }
        return trial
    }

    /// It has driven for three seconds, and the adapter has a request to answer; it is not answered by itself.
    private func asked() -> (trial: AdapterTrial, request: String) {
        var trial = driving(ms: 3_000)
        while trial.open == nil { trial.run(ms: 1) }
        return (trial, trial.open!)
    }

    @Test func itBeginsAsTheAdapterWantsItAndAsksForNothingThatTheCarHasNot() {
        let trial = driving(ms: 20_000)
        #expect(trial.sent.prefix(8) == ["ATZ", "AT@1", "AT@2", "ATSP00", "0100", "0120", "0140", "0101"])
        #expect(trial.ending == nil && trial.notes.isEmpty)
        // Bits of BE 3F A8 13, 90 1F F0 15 and 7A 1C 80 20 (SAE J1979), worked out by hand.
        let first: [UInt8] = [0x01, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x13, 0x15]
        let second: [UInt8] = [
            0x1C, 0x1F, 0x20, 0x21, 0x24, 0x2C, 0x2D, 0x2E, 0x2F, 0x30, 0x31, 0x32, 0x33, 0x34, 0x3C,
        ]
        let third: [UInt8] = [0x3E, 0x40, 0x42, 0x43, 0x44, 0x45, 0x47, 0x4C, 0x4D, 0x4E, 0x51, 0x5B]
        #expect(trial.supported == Set(first + second + third))
        let polled = Set(trial.sent.dropFirst(8))
        #expect(polled == ["010D", "010C", "0110", "0142", "0105"])
    }

    @Test func aCycleAsksEachSecondForWhatTheSpecificationSaysAndGivesOneReading() {
        var trial = driving(ms: 1)
        while trial.sent.last != "010D" { trial.run(ms: 1) }
        let start = trial.sent.count - 1
        trial.run(ms: 10_000)
        #expect(
            trial.sent[start..<start + 20] == [
                "010D", "010C", "010D", "0110", "010D", "010C", "010D", "0110", "010D", "010C", "010D", "0142", "010D",
                "010C", "010D", "0110", "010D", "010C", "010D", "0105",
            ])
        #expect(trial.readings.count >= 10)
        let signals: [[Signal]] = [
            [.speed, .rpm], [.speed, .maf], [.speed, .rpm], [.speed, .maf], [.speed, .rpm], [.speed, .voltage],
            [.speed, .rpm], [.speed, .maf], [.speed, .rpm], [.speed, .coolant],
        ]
        for (reading, wanted) in zip(trial.readings, signals) {
            #expect(Signal.allCases.filter { reading[$0] != nil } == wanted)
        }
        // 50 km/h, 2000 rpm, 15 g/s, 14 V, 83 °C in thousandths, by the formulas of SAE J1979.
        let whole = trial.readings.prefix(10).reduce(into: [Signal: Int32]()) { known, reading in
            for signal in Signal.allCases { known[signal] = reading[signal] ?? known[signal] }
        }
        #expect(whole == [.speed: 50_000, .rpm: 2_000_000, .maf: 15_000, .voltage: 14_000, .coolant: 83_000])
        for (a, b) in zip(trial.readings, trial.readings.dropFirst()) { #expect(b.ts - a.ts == 1_000) }
    }

    @Test func aCarWithoutAirFlowMeterIsAskedForPressureAndIntakeTemperature() {
        // 0B, 0C, 0D, 0F and no 10.
        let other = ["0100": "41 00 00 3A 00 00 \r\r", "010B": "41 0B 32 \r\r", "010F": "41 0F 46 \r\r"]
        let trial = driving(ms: 30_000) { $0.car.merge(other) { $1 } }
        #expect(Set(trial.sent.dropFirst(5)) == ["010D", "010C", "010B", "010F"])
    }

    @Test func aFasterScheduleIsAnotherText() {
        var trial = driving("200 ms: 0D 1-5; 0C 1-5", ms: 1_000)
        let count = trial.readings.count
        trial.run(ms: 10_000)
        #expect((49...51).contains(trial.readings.count - count))
    }

    @Test func aSlowAdapterIsAskedInTheSameOrderWithoutHurry() {
        let trial = driving(ms: 60_000) { $0.latencyMs = 900 }
        let polled = trial.sent.filter { $0.hasPrefix("01") && !["0100", "0120", "0140", "0101"].contains($0) }
        #expect(polled.prefix(8) == ["010D", "010C", "010D", "0110", "010D", "010C", "010D", "0110"])
        #expect(trial.ending == nil && trial.readings.count > 20)
    }

    @Test("Replies cut anywhere, with and without echo, give the same") func cuts() {
        let whole = driving(ms: 12_000)
        for pieceBytes in [1, 2, 3, 7] {
            for echoes in [false, true] {
                var trial = driving { $0.echoes = echoes }
                trial.run(ms: 12_000) { text in
                    let bytes = Array(text.utf8)
                    return stride(from: 0, to: bytes.count, by: pieceBytes).map {
                        Array(bytes[$0..<min($0 + pieceBytes, bytes.count)])
                    }
                }
                #expect(trial.readings == whole.readings && trial.sent == whole.sent)
            }
        }
    }

    @Test("A connection that closes anywhere ends it, and what was read is kept") func closesAnywhere() {
        let whole = driving(ms: 4_000)
        for requests in 1...whole.sent.count {
            for isInTheMiddle in [false, true] {
                var trial = driving()
                while trial.sent.count < requests { trial.run(ms: 1) }
                if isInTheMiddle { trial.give("41 0") }
                let values = trial.readings.count
                trial.take(trial.session.closed())
                #expect(trial.ending == .fault(.closed))
                // The half of a step that was answered is a reading, too.
                #expect((values...values + 1).contains(trial.readings.count))
                #expect(trial.readings == Array(whole.readings.prefix(values)) + trial.readings.dropFirst(values))
            }
        }
    }

    private static let polls = ["010D", "010C", "0110", "0142", "0105"]
    private static func all(_ text: String) -> [String: String] {
        Dictionary(uniqueKeysWithValues: polls.map { ($0, text) })
    }

    @Test(
        arguments: [
            Row("ignition off", ["0100": "SEARCHING...\rUNABLE TO CONNECT\r\r"], .parked(.said(.unableToConnect))),
            Row("no car at all", ["0100": "NO DATA\r\r"], .parked(.said(.noData))),
            Row("an old bus is dead", ["0100": "BUS INIT: ...ERROR\r\r"], .parked(.said(.busInitError))),
            Row("bus dead", ["0100": "CAN ERROR\r\r"], .parked(.said(.canError))),
            Row("bus disturbed for ever", ["0100": "BUS ERROR\r\r"], .fault(.troubled(.said(.busError)))),
            Row("requests unknown", ["0100": "?\r\r"], .fault(.troubled(.said(.unknownCommand)))),
            Row("low voltage", ["0100": "LV RESET\r\r"], .fault(.troubled(.said(.lowVoltageReset)))),
            Row("switched off while driving", all("UNABLE TO CONNECT\r\r"), .parked(.said(.unableToConnect))),
            Row("silent car while driving", all("NO DATA\r\r"), .parked(.said(.noData))),
            Row("stopped for ever", all("STOPPED\r\r"), .fault(.troubled(.said(.stopped)))),
            Row("nothing but bus errors", all("BUS ERROR\r\r"), .fault(.troubled(.said(.busError)))),
            Row("supply falls", ["010C": "LV RESET\r\r"], .fault(.troubled(.said(.lowVoltageReset)))),
            Row(
                "no ELM327", ["ATSP00": "HTTP/1.1 400 Bad Request\r\r"],
                .fault(.notAdapter(command: "ATSP00", answer: "HTTP/1.1 400 Bad Request.."))),
            Row("nothing that we ask for", ["0100": "41 00 80 00 00 00\r\r"], .fault(.nothingSupported)),
        ] as [Row<[String: String], AdapterSession.Ending>])
    func ends(_ row: Row<[String: String], AdapterSession.Ending>) {
        let trial = driving(ms: 300_000) { $0.instead = row.given }
        #expect(trial.ending == row.wanted, "\(row)")
    }

    @Test(arguments: [
        "NO DATA\r\r", "STOPPED\r\r", "BUS ERROR\r\r", "BUFFER FULL\r\r", "?\r\r", "<RX ERROR\r\r", "DATA ERROR\r\r",
        "~~ %&/()=}{[] garbage\r\r", "41 0C\r\r", "7F 01 12\r\r", "41 05 7B\r\r", "\u{1}\u{2}\r\r",
    ])
    func oneUselessAnswerInFiveLeavesTheOthersAsTheyAre(_ answer: String) {
        var trial = driving(ms: 2_000)
        let before = trial.readings.count
        for count in 1...60 {
            trial.instead["010C"] = count % 3 == 0 ? answer : nil
            trial.run(ms: 1_000)
        }
        #expect(trial.ending == nil, "\(answer)")
        #expect(trial.readings.count - before >= 55)
        #expect(trial.readings.allSatisfy { $0[.speed] == 50_000 && [nil, 2_000_000].contains($0[.rpm]) })
        #expect(trial.readings.filter { $0[.rpm] != nil }.count >= 15)
    }

    @Test func aParameterThatIsNeverAnsweredIsNotAskedForAnyMore() {
        let trial = driving(ms: 60_000) { $0.instead["010C"] = "NO DATA\r\r" }
        #expect(trial.sent.filter { $0 == "010C" }.count == 5 && trial.ending == nil)
    }

    @Test func aLatePromptDelaysOnlyAndNoPromptEndsIt() {
        var (trial, request) = asked()
        trial.open = nil
        trial.give(trial.car[request]!)
        trial.nowMs += 9_000
        trial.take(trial.session.due(trial.now))
        #expect(trial.ending == nil && trial.open == nil, "nothing is asked before the prompt")
        trial.give(">")
        trial.run(ms: 3_000)
        #expect(trial.ending == nil && trial.readings.last?[.speed] == 50_000)

        while trial.open == nil { trial.run(ms: 1) }
        request = trial.open!
        trial.nowMs += 10_000
        trial.take(trial.session.due(trial.now))
        #expect(trial.ending == .fault(.late(request)))
    }

    @Test func silenceFromTheBeginningIsLate() {
        var trial = driving()
        trial.nowMs = trial.session.dueMs
        trial.take(trial.session.due(trial.now))
        #expect(trial.ending == .fault(.late("ATZ")))
    }

    @Test func babbleWithoutPromptEndsItAtABound() {
        var (trial, bytes) = (asked().trial, 0)
        while trial.ending == nil, bytes < 100_000 {
            trial.give("41 0D 00 \r")
            bytes += 10
        }
        #expect(trial.ending == .fault(.babble) && bytes < 10_000)
    }

    @Test func babbleThatNobodyAskedForEndsItAtABound() {
        var trial = driving(ms: 3_000)
        while trial.open != nil { trial.run(ms: 1) }
        for _ in 0..<2_000 where trial.ending == nil {
            trial.give("41 0D 00 \r>")
            trial.nowMs += 10
            trial.take(trial.session.due(trial.now))
            #expect(trial.open == nil)
        }
        #expect(trial.ending == .fault(.babble))
    }

    @Test func answersThatCameTwiceAreNotTakenForOthers() {
        var (trial, request) = asked()
        trial.open = nil
        trial.give(trial.reply(request) + "41 0D FF \r\r>")
        #expect(trial.open == nil, "the line is to be quiet first")
        trial.run(ms: 10_000)
        #expect(trial.ending == nil && trial.readings.allSatisfy { $0[.speed] == nil || $0[.speed] == 50_000 })
    }

    @Test func aPromptThatWasLeftOverFromBeforeIsNoAnswer() {
        var trial = driving()
        trial.give(">\r\r>")
        #expect(trial.open == "ATZ")
        trial.run(ms: 5_000)
        #expect(trial.ending == nil && !trial.readings.isEmpty)
    }

    @Test func anAnswerThatIsOneBehindIsNoticedAndTheLineComesIntoStep() {
        var trial = driving()
        // A greeting is taken for the answer to the reset: all that follow are one behind.
        trial.open = nil
        trial.give("ELM327 v1.5\r\r>")
        var late = "ATZ"
        while trial.ending == nil, trial.readings.count < 5, trial.nowMs < 1_060_000 {
            if let request = trial.open {
                trial.open = nil
                trial.nowMs += 20
                trial.give(trial.reply(late))
                late = request
            } else {
                // What was left behind comes while the line is to be quiet.
                if late != "" {
                    trial.give(trial.reply(late))
                    late = ""
                }
                trial.run(ms: max(1, trial.session.dueMs - trial.nowMs))
                if trial.open != nil, late == "" {
                    let request = trial.open!
                    trial.open = nil
                    trial.give(trial.reply(request))
                }
            }
        }
        #expect(trial.ending == nil && trial.readings.count >= 5)
        #expect(
            trial.readings.allSatisfy { [nil, 50_000].contains($0[.speed]) && [nil, 83_000].contains($0[.coolant]) })
    }

    // MARK: - Health scans

    @Test func aScanIsAnsweredBetweenPollsWithoutDelayingThem() {
        var trial = driving(ms: 3_000)
        let before = trial.readings.count
        trial.take(trial.session.scanRequested("ask-1", trial.now))
        trial.take(trial.session.scanRequested("ask-2", trial.now))
        trial.run(ms: 10_000)
        #expect(trial.readings.count - before >= 9)
        for (a, b) in zip(trial.readings, trial.readings.dropFirst()) { #expect(abs(b.ts - a.ts - 1_000) <= 40) }
        #expect(trial.scans.count == 1 && trial.scans.first?.requests == ["ask-1", "ask-2"])
        var expected = Fleet.Action.HealthScan(
            request: nil, isDone: true, text: "2 trouble codes: P0133, P0420; pending: P0171")
        (expected.stored, expected.pending) = (["P0133", "P0420"], ["P0171"])
        (expected.isLampOn, expected.vin) = (false, "WP0ZZZ99ZTS392124")
        expected.notReady = trial.scans.first?.scan.notReady ?? []
        expected.freezeFrame = #"{"code":"P0133","coolant_c":83,"rpm":2000,"speed_kmh":50}"#
        #expect(trial.scans.first.map { $0.scan.freezeFrame.map(plain) } == plain(expected.freezeFrame!))
        expected.freezeFrame = trial.scans.first?.scan.freezeFrame
        #expect(trial.scans.first?.scan == expected)
    }

    /// Without trailing zeros.
    private func plain(_ json: String) -> String { json.replacing(/\.0+(?=[,}])/, with: "") }

    @Test func whatNoCodesLookLike() {
        for codes in ["43 00 \r\r", "NO DATA\r\r"] {
            var trial = driving(ms: 3_000) {
                $0.instead = ["03": codes, "07": "NO DATA\r\r", "0101": "41 01 00 07 A1 00 \r\r"]
            }
            trial.take(trial.session.scanRequested("ask", trial.now))
            trial.run(ms: 5_000)
            #expect(trial.scans.first?.scan.isDone == true && trial.scans.first?.scan.text == "no trouble codes")
        }
    }

    @Test func aCarThatDoesNotTellItsCodesSaysWhy() {
        var trial = driving(knownCodes: 2, ms: 3_000) {
            $0.instead = ["03": "NO DATA\r\r", "07": "NO DATA\r\r", "0101": "41 01 82 07 A1 00 \r\r"]
        }
        #expect(trial.scans.isEmpty)
        trial.take(trial.session.scanRequested("ask", trial.now))
        trial.run(ms: 5_000)
        #expect(trial.scans.first?.scan.isDone == false)
        #expect(trial.scans.first?.scan.text.contains("does not tell its trouble codes: NO DATA") == true)
    }

    @Test("A count of codes that is another one than before is looked into; the same one is not") func countChanges() {
        for (known, scans) in [(nil, 1), (0, 1), (2, 0), (3, 1)] as [(Int?, Int)] {
            let trial = driving(knownCodes: known, ms: 10_000) { $0.instead["0101"] = "41 01 82 07 A1 00 \r\r" }
            #expect(trial.scans.count == scans && trial.scans.allSatisfy { $0.requests.isEmpty })
        }
    }

    @Test func whoeverWaitsWhenItEndsIsKnown() {
        var trial = driving(ms: 3_000)
        trial.take(trial.session.scanRequested("ask", trial.now))
        trial.take(trial.session.closed())
        #expect(trial.session.scanRequests == ["ask"] && trial.scans.isEmpty)
    }

    // MARK: - Anything at all

    @Test("Whatever an adapter sends, one request is outstanding, nothing forbidden is asked and it stays bounded")
    func anything() {
        let texts =
            Array(AdapterTrial.car.values) + [
                "NO DATA\r", "STOPPED\r", "BUS ERROR\r", "?\r", "UNABLE TO CONNECT\r", ">", "\r", "41 0D", "LV RESET\r",
                "7F 01 31\r", "0:", "014\r", "\0\0", "BUFFER FULL\r",
            ]
        for seed in UInt64(1)...2_000 {
            var chance = SeededChance(seed: seed)
            var trial = driving()
            for _ in 0..<300 where trial.ending == nil {
                switch Int.random(in: 0..<10, using: &chance) {
                case 0...4:
                    if let request = trial.open {
                        let reply = trial.reply(request)
                        trial.open = nil
                        trial.give(reply)
                    }
                case 5:
                    trial.open = nil
                    trial.give(texts.randomElement(using: &chance)! + (Bool.random(using: &chance) ? ">" : ""))
                case 6:
                    trial.open = nil
                    let bytes = (0..<Int.random(in: 1...40, using: &chance)).map { _ in
                        UInt8.random(in: 0...255, using: &chance)
                    }
                    trial.take(trial.session.received(bytes, trial.now))
                case 7: trial.take(trial.session.scanRequested("ask-\(seed)", trial.now))
                default:
                    trial.nowMs += Int64.random(in: 1...2_000, using: &chance)
                    if trial.nowMs >= trial.session.dueMs { trial.open = nil }
                    trial.take(trial.session.due(trial.now))
                }
            }
            let isHarmless = trial.sent.allSatisfy {
                $0.hasPrefix("AT") || ["01", "02", "03", "07", "09", "0A"].contains($0.prefix(2))
            }
            #expect(isHarmless, "seed \(seed)")
        }
    }

    @Test func onlyServicesThatReadAreEverWritten() {
        for mode in UInt8.min...UInt8.max {
            let command = AdapterCommand.obd(OBDRequest([mode, 0]))
            #expect(command.isHarmless == [0x01, 0x02, 0x03, 0x07, 0x09, 0x0A].contains(mode))
        }
        #expect(AdapterCommand.obd(.current(0x0D)).line == Array("010D\r".utf8))
    }

    @Test func aForbiddenServiceIsNeverWritten() async {
        await #expect(processExitsWith: .failure) { _ = AdapterCommand.obd(OBDRequest([0x04])).line }
        await #expect(processExitsWith: .failure) { _ = AdapterCommand.obd(OBDRequest([0x08, 0x01])).line }
    }
}
