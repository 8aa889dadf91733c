/// Memory of one solver: everything is allocated when it is made and freed with it, nothing in the search.
package final class Arena {
    private var freeAll: [() -> Void] = []

    package init() {}

    func flat<Element: BitwiseCopyable>(_ count: Int, _ value: Element) -> Flat<Element> {
        let base = UnsafeMutablePointer<Element>.allocate(capacity: max(1, count))
        unsafe base.initialize(repeating: value, count: max(1, count))
        freeAll.append { unsafe base.deallocate() }  // Plain values: there is nothing to deinitialize.
        return unsafe Flat(base, count)
    }

    deinit { for free in freeAll { free() } }
}

/// A view of plain values in an arena, valid as long as it. Copies share the values.
/// Indices come from the solver, never from input; a debug build checks each, a release build none.
@safe
package struct Flat<Element: BitwiseCopyable> {
    private let base: UnsafeMutablePointer<Element>
    let count: Int

    @unsafe init(_ base: UnsafeMutablePointer<Element>, _ count: Int) {
        unsafe self.base = base
        self.count = count
    }

    @inline(__always) package subscript(_ index: Int) -> Element {
        get {
            assert(index >= 0 && index < count)
            return unsafe base[index]
        }
        nonmutating set {
            assert(index >= 0 && index < count)
            unsafe base[index] = newValue
        }
    }

    /// The values from an index on.
    @inline(__always) func from(_ index: Int) -> Flat {
        assert(index >= 0 && index <= count)
        return unsafe Flat(base + index, count - index)
    }

    /// The first values of another view, which may be part of this one.
    @inline(__always) func take(_ other: Flat, count: Int) {
        assert(count <= self.count && count <= other.count)
        unsafe base.update(from: other.base, count: count)
    }
}

extension Flat where Element == Int32 {
    /// An index or a count, as the language wants it.
    @inline(__always) func int(_ index: Int) -> Int { Int(self[index]) }
}
