package import Fleet
internal import HTTPServer
internal import Storage

/// Decides who must have a second factor.
package struct SecondFactorRule: Sendable {
    static let path = "/account/second-factor"
    package static let none = SecondFactorRule(roles: [])

    private let roles: Set<Role>
    package init(roles: Set<Role>) { self.roles = roles }

    func asks(_ holder: AccountHolder) -> Bool { !roles.isDisjoint(with: holder.roles.compactMap(Role.init)) }

    /// Until it is set up nothing else is done.
    func isMissing(_ holder: AccountHolder) -> Bool { asks(holder) && !holder.hasSecondFactor }

    static let refusal = Response.problem(
        403, type: "second-factor-missing",
        detail: "Your role needs a second factor to log in. Set it up first: \(path).")
}
