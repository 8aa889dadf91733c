internal import Basics
internal import Fleet

/// One difference between two rule sets: a parameter of a model or machine.
public struct RuleChange: Equatable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable { case added, changed, removed }

    public let kind: Kind
    /// The model's name, or `machine <id>`.
    public let of: String
    public let parameter: String
    /// The elements that differ, as they stand in the files: `threshold 85 → 90`.
    public let detail: String

    public var description: String { "\(kind.rawValue) \(of): \(parameter)" + (detail.isEmpty ? "" : ": \(detail)") }
}

extension RuleSet {
    /// In the order of models, machines and parameters.
    public func changes(since before: RuleSet) -> [RuleChange] {
        RuleSet.changes(before.models, models) { $0 }
            + RuleSet.changes(before.machines, machines) { "machine \($0.text)" }
    }

    private static func changes<Key: Comparable & Hashable>(
        _ before: [Key: [Threshold]], _ after: [Key: [Threshold]], _ name: (Key) -> String
    ) -> [RuleChange] {
        Set(before.keys).union(after.keys).sorted().flatMap { key in
            let (old, new) = (before[key] ?? [], after[key] ?? [])
            return Set((old + new).map(\.name)).sorted().compactMap { parameter -> RuleChange? in
                let (was, now) = (old.first { $0.name == parameter }, new.first { $0.name == parameter })
                guard was != now else { return nil }
                return RuleChange(
                    kind: was == nil ? .added : now == nil ? .removed : .changed, of: name(key), parameter: parameter,
                    detail: RuleSet.detail(was?.elements ?? [], now?.elements ?? []))
            }
        }
    }

    private static func detail(_ was: [(String, String)], _ now: [(String, String)]) -> String {
        let (was, now) = (Dictionary(uniqueKeysWithValues: was), Dictionary(uniqueKeysWithValues: now))
        return Threshold.elementNames.compactMap { name in
            switch (was[name], now[name]) {
            case (nil, nil): nil
            case (nil, let new?): "\(name) \(new)"
            case (let old?, nil): now.isEmpty ? "\(name) \(old)" : "\(name) \(old) → none"
            case (let old?, let new?): old == new ? nil : "\(name) \(old) → \(new)"
            }
        }.joined(separator: ", ")
    }
}

extension Threshold {
    /// In the order of the files.
    package static let elementNames = [
        "test", "unit", "type", "user", "threshold", "critical", "for", "clear", "absent", "every", "soon",
        "recommended", "capacity", "advice",
    ]

    /// The elements as in a file; absent values are left out.
    package var elements: [(String, String)] {
        let numbers = [
            ("threshold", threshold), ("critical", critical), ("for", holdMs == 0 ? nil : holdMs), ("clear", clear),
            ("absent", absentMs), ("every", every), ("soon", soon), ("recommended", recommended),
            ("capacity", capacity),
        ]
        return [("test", test.rawValue), ("type", type.rawValue), ("user", audience.rawValue)]
            + numbers.compactMap { name, value in value.map { (name, Decimal.text($0, decimals: 3)) } }
            + [("unit", unit), ("advice", advice ?? "")].filter { !$0.1.isEmpty }
    }
}
