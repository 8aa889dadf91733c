/// A run of numbers that a search owns and frees when it ends.
///
/// The inner loops are all index arithmetic: indices are checked in debug builds only.
@safe
package struct Cells<Value: BitwiseCopyable> {
    private let base: UnsafeMutablePointer<Value>
    let count: Int

    init(_ count: Int, _ value: Value) {
        self.count = count
        unsafe base = .allocate(capacity: max(1, count))
        unsafe base.initialize(repeating: value, count: max(1, count))
    }

    /// Call last.
    func free() { unsafe base.deallocate() }

    package subscript(index: Int) -> Value {
        @inline(__always) get {
            assert(index >= 0 && index < count)
            return unsafe base[index]
        }
        @inline(__always) nonmutating set {
            assert(index >= 0 && index < count)
            unsafe base[index] = newValue
        }
    }
}
