/// One moment by both clocks, epoch milliseconds and the steady one's.
package struct Moment: Equatable {
    let steadyMs: Int64
    let wallMs: Int64

    package init(steadyMs: Int64, wallMs: Int64) {
        self.steadyMs = steadyMs
        self.wallMs = wallMs
    }
}
