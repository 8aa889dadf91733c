import Glibc
import Reports
import Testing

struct ComparisonTests {
    /// Two-sided 95 % points of Student's t: Abramowitz and Stegun, table 26.10.
    @Test(
        "Quantiles are those of the printed tables",
        arguments: [
            (1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (10, 2.228), (20, 2.086), (30, 2.042),
            (120, 1.980),
        ] as [(Double, Double)])
    func quantiles(freedom: Double, wanted: Double) {
        #expect((StudentsT.quantile(0.975, freedom: freedom) - wanted).magnitude < 0.000_6)
    }

    @Test("The t distribution of one degree of freedom is Cauchy's", arguments: [0.1, 0.5, 1, 3, 30])
    func cauchy(t: Double) {
        let exact = 0.5 + atan2(t, 1) / .pi
        #expect((StudentsT.distribution(t, freedom: 1) - exact).magnitude < 1e-12)
    }

    /// The textbook example of unequal spreads: NIST/SEMATECH e-Handbook 7.3.1 has the formulas; worked by hand here.
    @Test func welchByHand() throws {
        let before = try #require(Comparison.Sample([20, 22, 24]))
        let after = try #require(Comparison.Sample([25, 25, 26, 28]))
        #expect(before.mean == 22 && before.standardDeviation == 2)
        #expect(after.mean == 26 && (after.standardDeviation! - 1.414_213_562).magnitude < 1e-9)
        let comparison = Comparison(before: before, after: after)
        #expect(comparison.difference == 4)
        // Variances of the means: 4/3 and 2/4. Freedom: (11/6)² / ((4/3)²/2 + (1/2)²/3) = 3.457.
        #expect(
            (StudentsT.quantile(0.975, freedom: 3.457_143) * (11.0 / 6).squareRoot() - comparison.margin!).magnitude
                < 1e-6)
        #expect(comparison.isClear == false)
    }

    @Test func oneDriveSaysNothingOfTheSpread() throws {
        let one = try #require(Comparison.Sample([20]))
        let comparison = Comparison(before: one, after: try #require(Comparison.Sample([25, 26])))
        #expect(comparison.margin == nil && comparison.isClear == nil && comparison.difference == 5.5)
        #expect(Comparison.Sample([]) == nil)
    }

    @Test func drivesThatAreAllAlike() throws {
        let comparison = Comparison(
            before: try #require(Comparison.Sample([20, 20])), after: try #require(Comparison.Sample([21, 21])))
        #expect(comparison.margin == 0 && comparison.isClear == true)
    }
}
