internal import Glibc

/// Two sets of drives of one route, before and after something was changed: how far their means are apart, and how far
/// they could be by chance. Welch's t-test (B. L. Welch, Biometrika 34, 1947), which does not ask for equal spreads.
package struct Comparison: Equatable, Sendable {
    package struct Sample: Equatable, Sendable {
        package let count: Int
        package let mean: Double
        /// Over single drives (n − 1 in the divisor); nil with fewer than two.
        package let standardDeviation: Double?

        /// Nil without a value.
        package init?(_ values: [Double]) {
            guard !values.isEmpty else { return nil }
            count = values.count
            let mean = values.reduce(0, +) / Double(values.count)
            self.mean = mean
            let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
            standardDeviation = values.count < 2 ? nil : (squares / Double(values.count - 1)).squareRoot()
        }
    }

    package let before: Sample
    package let after: Sample

    package init(before: Sample, after: Sample) { (self.before, self.after) = (before, after) }

    package var difference: Double { after.mean - before.mean }

    /// Half the width of the interval that holds the true difference in 95 of 100 such comparisons; nil: too few drives.
    package var margin: Double? {
        guard let a = before.standardDeviation, let b = after.standardDeviation else { return nil }
        let (va, vb) = (a * a / Double(before.count), b * b / Double(after.count))
        guard va + vb > 0 else { return 0 }
        let freedom =
            (va + vb) * (va + vb) / (va * va / Double(before.count - 1) + vb * vb / Double(after.count - 1))
        return StudentsT.quantile(0.975, freedom: freedom) * (va + vb).squareRoot()
    }

    /// Whether chance alone hardly explains the difference; nil: too few drives.
    package var isClear: Bool? { margin.map { difference.magnitude > $0 } }
}

/// Student's t distribution.
package enum StudentsT {
    /// The value that a share `p` of the distribution lies below. Precondition: 0.5 ≤ p < 1, freedom > 0.
    package static func quantile(_ p: Double, freedom: Double) -> Double {
        var (low, high) = (0.0, 1.0)
        while distribution(high, freedom: freedom) < p, high < 1e12 { high *= 2 }
        for _ in 0..<200 {
            let middle = (low + high) / 2
            if distribution(middle, freedom: freedom) < p { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    /// The share below `t` ≥ 0, by the regularized incomplete beta function (Abramowitz and Stegun 26.7.1, 26.5.2).
    package static func distribution(_ t: Double, freedom: Double) -> Double {
        1 - incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    }

    private static func incompleteBeta(_ x: Double, _ a: Double, _ b: Double) -> Double {
        if x <= 0 { return 0 }
        if x >= 1 { return 1 }
        let front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x))
        // The fraction converges fast on this side only.
        return x < (a + 1) / (a + b + 2)
            ? front * fraction(x, a, b) / a : 1 - front * fraction(1 - x, b, a) / b
    }

    /// Its continued fraction by Lentz's method (Abramowitz and Stegun 26.5.8).
    private static func fraction(_ x: Double, _ a: Double, _ b: Double) -> Double {
        let tiny = 1e-300
        var (c, d) = (1.0, 1 - (a + b) * x / (a + 1))
        d = 1 / (d.magnitude < tiny ? tiny : d)
        var result = d
        for step in 1...500 {
            let m = Double(step)
            let even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
            let odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
            for term in [even, odd] {
                d = 1 + term * d
                d = 1 / (d.magnitude < tiny ? tiny : d)
                c = 1 + term / c
                if c.magnitude < tiny { c = tiny }
                result *= c * d
            }
            if (c * d - 1).magnitude < 1e-15 { break }
        }
        return result
    }
}
