internal import Basics
internal import Glibc
internal import Synchronization

/// Structured log: one line an event, fixed text plus keys, to standard error.
///
///     2026-11-21T06:52:00.123Z info "copy finished" rows=4812 duration_ms=37 partition=3
///     {"time":"2026-11-21T06:52:00.123Z","level":"info","message":"copy finished","fields":{"rows":4812,"duration_ms":37}}
///
/// Never give it positions, personal data or secrets; nothing here can tell them from other text.
public struct Log: Sendable {
    public enum Level: Int, Sendable, Comparable, CaseIterable {
        /// For those who work on Drover.
        case debug
        /// Something happened.
        case info
        /// We coped.
        case warning
        /// Someone must act.
        case error

        /// `debug`, `info`, `warning` or `error`; nil for anything else.
        public init?(_ name: String) {
            guard let level = Level.allCases.first(where: { $0.name == name }) else { return nil }
            self = level
        }

        public var name: String { String(describing: self) }
        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    public enum Format: String, Sendable {
        /// For people.
        case text
        /// For collectors.
        case json
    }

    public typealias Fields = KeyValuePairs<String, LogValue>

    public let level: Level
    public let format: Format
    private let nowMs: @Sendable () -> Int64
    private let write: @Sendable (String) -> Void
    /// Already in the form of a line's tail: with a space before each key in text, with a comma behind each value in JSON.
    private var common = ""

    /// - Parameters:
    ///   - level: lines below it are dropped.
    ///   - nowMs: epoch milliseconds; tests give their own.
    ///   - write: takes one line, its newline included, from any thread.
    public init(
        level: Level = .info, format: Format = .text, nowMs: @escaping @Sendable () -> Int64 = Clock.nowMs,
        write: @escaping @Sendable (String) -> Void = StandardError.write
    ) {
        self.level = level
        self.format = format
        self.nowMs = nowMs
        self.write = write
    }

    /// The same log with keys that every line carries.
    public func with(_ fields: Fields) -> Log {
        var log = self
        log.common += tail(fields)
        return log
    }

    public func debug(_ text: @autoclosure () -> String, _ fields: @autoclosure () -> Fields = [:]) {
        line(.debug, text, fields)
    }
    public func info(_ text: @autoclosure () -> String, _ fields: @autoclosure () -> Fields = [:]) {
        line(.info, text, fields)
    }
    public func warning(_ text: @autoclosure () -> String, _ fields: @autoclosure () -> Fields = [:]) {
        line(.warning, text, fields)
    }
    public func error(_ text: @autoclosure () -> String, _ fields: @autoclosure () -> Fields = [:]) {
        line(.error, text, fields)
    }
    /// For a level that is only known at run time.
    public func log(_ level: Level, _ text: @autoclosure () -> String, _ fields: @autoclosure () -> Fields = [:]) {
        line(level, text, fields)
    }

    private func line(_ level: Level, _ text: () -> String, _ fields: () -> Fields) {
        guard level >= self.level else { return }
        var line: String
        switch format {
        case .text:
            line = Log.timeText(nowMs()) + " " + level.name + " "
            LogValue.appendQuoted(text(), to: &line)
            line += common + tail(fields())
        case .json:
            line = "{\"time\":\"" + Log.timeText(nowMs()) + "\",\"level\":\"" + level.name + "\",\"message\":"
            LogValue.appendJSON(text(), to: &line)
            line += ",\"fields\":{" + (common + tail(fields())).dropLast() + "}}"
        }
        write(line + "\n")
    }

    /// Always with milliseconds, so that lines sort as text.
    private static func timeText(_ ms: Int64) -> String {
        let text = UTC.text(ms)
        return ms % 1000 == 0 ? text.dropLast() + ".000Z" : text
    }

    private func tail(_ fields: Fields) -> String {
        var tail = ""
        for (key, value) in fields {
            let key = key.utf8.allSatisfy(Log.isKeyByte) && !key.isEmpty ? key : "bad_key"
            switch format {
            case .text:
                tail += " \(key)="
                value.append(to: &tail)
            case .json:
                tail += "\"\(key)\":"
                value.appendJSON(to: &tail)
                tail += ","
            }
        }
        return tail
    }

    private static func isKeyByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// The machine's clocks, for I/O code only: pure targets get their time with the records.
public enum Clock {
    /// Epoch milliseconds.
    public static func nowMs() -> Int64 { read(CLOCK_REALTIME) }
    /// Milliseconds of a clock that nobody sets; only differences mean something.
    public static func steadyMs() -> Int64 { read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

public enum StandardError {
    private static let lock = Mutex<Void>(())

    /// Writes the whole text before any other thread's. Lines are dropped when standard error is closed: there is
    /// nowhere left to say so.
    public static func write(_ text: String) {
        let bytes = Array(text.utf8)
        lock.withLock { _ in
            var done = 0
            while done < bytes.count {
                let wrote = unsafe bytes.withUnsafeBytes {
                    unsafe Glibc.write(2, $0.baseAddress! + done, $0.count - done)
                }
                if wrote > 0 {
                    done += wrote
                } else if errno == EAGAIN {
                    // Someone made the shared terminal non-blocking; wait until it takes more.
                    var ready = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
                    _ = unsafe poll(&ready, 1, 1000)
                } else if errno != EINTR {
                    return
                }
            }
        }
    }
}
