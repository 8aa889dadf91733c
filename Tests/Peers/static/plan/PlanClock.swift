internal import Glibc

/// What a budget is counted in: time that passes, or time that this process gets.
enum PlanClock: String {
    case wall, processor

    var seconds: Double {
        var time = timespec()
        _ = unsafe clock_gettime(self == .wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
