package import Alerts

/// All rule tests of a folder against one set of rules.
package struct RuleTestRun: Sendable {
    package let passed: Int
    /// Each with the expected and the actual result.
    package let failures: [String]
    /// Files that cannot be read, with why.
    package let faults: [String]

    package var tests: Int { passed + failures.count }
    package var isRight: Bool { failures.isEmpty && faults.isEmpty }

    /// Whether nothing fails that did not fail before: somebody who changes one rule is not asked about the faults of another.
    package func isRight(beside before: RuleTestRun) -> Bool {
        Set(failed).isSubset(of: before.failed) && Set(faults).isSubset(of: before.faults)
    }

    /// File and name of each test that fails, however it does.
    private var failed: [Substring] { failures.map { $0.prefix { $0 != "\n" } } }

    package var summary: String {
        "\(passed) rule tests passed, \(failures.count) failed"
            + (faults.isEmpty ? "" : ", \(faults.count) files not read")
    }

    /// - Parameter files: their bytes, or why they cannot be read.
    package init(_ files: [(name: String, bytes: Result<[UInt8], RuleTestFault>)], by rules: RuleSet) {
        var (tests, faults): ([RuleTest], [String]) = ([], [])
        for (name, bytes) in files {
            do throws(RuleTestFault) { tests += try RuleTestFile.read(try bytes.get(), name: name) } catch {
                faults.append("\(error)")
            }
        }
        failures = tests.compactMap { $0.failure(by: rules) }
        passed = tests.count - failures.count
        self.faults = faults
    }
}
