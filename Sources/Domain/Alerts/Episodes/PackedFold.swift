internal import Basics
public import Codecs
internal import Fleet

/// The fold's state as bytes: stored with each reading, so that late data can start again from the reading before.
/// Version 2; LEB128 varints and zigzag integers, texts with their length.
extension AlertFold {
    private static let version: UInt8 = 2
    private static let textMax = 4_096

    public var packed: [UInt8] {
        var out: [UInt8] = [AlertFold.version]
        out.append(last == nil ? 0 : last!.isReporting ? 2 : 1)
        if let last {
            out.appendZigzag(last.ts)
            AlertFold.append(last.model, to: &out)
        }
        for times in [lastPresentMs, lastTimeMs] {
            out.appendVarint(UInt64(times.count))
            for (parameter, ts) in times.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                out.append(parameter.rawValue)
                out.appendZigzag(ts)
            }
        }
        out.appendVarint(UInt64(watches.count))
        for (parameter, watch) in watches.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            out.append(parameter.rawValue)
            switch watch {
            case .normal: out.append(0)
            case .pending(let sinceMs, let isMissing):
                out.append(isMissing ? 2 : 1)
                out.appendZigzag(sinceMs)
            case .open(let episode):
                out.append(3)
                AlertFold.append(episode, to: &out)
            }
        }
        return out
    }

    private static func append(_ text: String, to out: inout [UInt8]) {
        out.appendVarint(UInt64(text.utf8.count))
        out += text.utf8
    }

    private static func append(_ episode: Episode, to out: inout [UInt8]) {
        for text in [
            episode.id, episode.vehicle.text, episode.model, episode.name, episode.unit, episode.severity.rawValue,
            episode.state.rawValue, episode.test.rawValue, episode.audience.rawValue, episode.advice ?? "",
            episode.rulesVersion,
        ] {
            append(text, to: &out)
        }
        for value in [episode.sinceMs, episode.openedMs, episode.worstMs] { out.appendZigzag(value) }
        for value in [
            episode.threshold, episode.openingValue, episode.worstValue, episode.resolvedMs, episode.recommended,
        ] {
            out.append(value == nil ? 0 : 1)
            if let value { out.appendZigzag(value) }
        }
    }

    public init(packed bytes: [UInt8]) throws(DecodeError) {
        var reader = VarintReader(bytes)
        guard try reader.byte() == AlertFold.version else { throw .packed("unknown version of an alert state") }
        self.init()
        let kind = try reader.byte()
        guard kind <= 2 else { throw .packed("unknown state of a machine") }
        if kind > 0 {
            let ts = try AlertFold.time(&reader)
            last = Last(ts: ts, model: try AlertFold.text(&reader), isReporting: kind == 2)
        }
        lastPresentMs = try AlertFold.times(&reader)
        lastTimeMs = try AlertFold.times(&reader)
        for _ in 0..<(try AlertFold.count(&reader)) {
            let parameter = try AlertFold.parameter(&reader)
            switch try reader.byte() {
            case 0: watches[parameter] = .normal
            case 1: watches[parameter] = .pending(sinceMs: try AlertFold.time(&reader), isMissing: false)
            case 2: watches[parameter] = .pending(sinceMs: try AlertFold.time(&reader), isMissing: true)
            case 3: watches[parameter] = .open(try AlertFold.episode(&reader, parameter))
            default: throw .packed("unknown state of an alert")
            }
        }
        guard reader.atEnd else { throw .packed("bytes after the end") }
    }

    private static func count(_ reader: inout VarintReader) throws(DecodeError) -> Int {
        let count = try reader.varint()
        guard count <= UInt64(MachineParameter.allCases.count) else { throw .packed("too many parameters") }
        return Int(count)
    }

    /// A reading's time: durations are counted from it and must not overflow.
    private static func time(_ reader: inout VarintReader) throws(DecodeError) -> Int64 {
        let ts = try reader.zigzag()
        guard UTC.plausible.contains(ts) else { throw .packed("an impossible time") }
        return ts
    }

    private static func times(_ reader: inout VarintReader) throws(DecodeError) -> [MachineParameter: Int64] {
        var times: [MachineParameter: Int64] = [:]
        for _ in 0..<(try count(&reader)) {
            let parameter = try parameter(&reader)
            times[parameter] = try time(&reader)
        }
        return times
    }

    private static func parameter(_ reader: inout VarintReader) throws(DecodeError) -> MachineParameter {
        guard let parameter = MachineParameter(rawValue: try reader.byte()) else { throw .packed("unknown parameter") }
        return parameter
    }

    private static func text(_ reader: inout VarintReader) throws(DecodeError) -> String {
        String(decoding: try reader.bytes(most: textMax), as: UTF8.self)
    }

    private static func optional(_ reader: inout VarintReader) throws(DecodeError) -> Int64? {
        try reader.byte() == 0 ? nil : try reader.zigzag()
    }

    private static func episode(_ reader: inout VarintReader, _ parameter: MachineParameter) throws(DecodeError)
        -> Episode
    {
        var texts: [String] = []
        for _ in 0..<11 { texts.append(try text(&reader)) }
        let (sinceMs, openedMs, worstMs) = (try reader.zigzag(), try reader.zigzag(), try reader.zigzag())
        let (threshold, opening) = (try optional(&reader), try optional(&reader))
        let (worst, resolvedMs, recommended) = (try optional(&reader), try optional(&reader), try optional(&reader))
        guard let vehicle = VehicleID(texts[1]), let severity = Episode.Severity(rawValue: texts[5]),
            let state = Episode.State(rawValue: texts[6]), let test = Episode.Test(rawValue: texts[7]),
            let audience = Audience(rawValue: texts[8])
        else { throw .packed("an alert that is none") }
        return Episode(
            id: texts[0], vehicle: vehicle, model: texts[2], parameter: parameter, name: texts[3], unit: texts[4],
            severity: severity, state: state, test: test, threshold: threshold, sinceMs: sinceMs, openedMs: openedMs,
            openingValue: opening, worstValue: worst, worstMs: worstMs, resolvedMs: resolvedMs, audience: audience,
            recommended: recommended, advice: texts[9].isEmpty ? nil : texts[9], rulesVersion: texts[10])
    }
}
