internal import Glibc

/// Wall and CPU time of this process since it was made.
package struct Stopwatch {
    private let startMs = Clock.steadyMs()
    private let startCPU = Stopwatch.cpu()

    package init() {}

    package var seconds: Double { Double(max(1, Clock.steadyMs() - startMs)) / 1_000 }
    package var cpuSeconds: Double { Stopwatch.cpu() - startCPU }

    private static func cpu() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}
