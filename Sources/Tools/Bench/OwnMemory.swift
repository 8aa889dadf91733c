internal import Foundation

/// The memory that this process holds, by proc(5).
enum OwnMemory {
    static var bytes: Int { bytes("VmRSS:") }

    /// The most since `forgetPeak`.
    static var peakBytes: Int { bytes("VmHWM:") }

    /// Starts the peak anew: memory that was needed and given back before is not counted.
    static func forgetPeak() {
        // 5 sets the peak to what is resident now. Where it is refused the figure is of the whole run.
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
    }

    private static func bytes(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
        return (Int(line.filter(\.isNumber)) ?? 0) * 1_024
    }
}
