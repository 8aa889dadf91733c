internal import Fleet
package import Settings
internal import Storage
package import Web

extension Settings {
    /// The rule of roles that need a second factor.
    package func secondFactorRule() throws -> SecondFactorRule {
        let words = words(of: "people.second_factor_roles")
        let roles = try words.map { word in
            guard let role = Role(rawValue: word) else {
                throw Failure(
                    "people.second_factor_roles: `\(word)` is none of "
                        + Role.allCases.map(\.rawValue).joined(separator: ", "))
            }
            return role
        }
        guard roles.isEmpty || !text("people.code_key_file").isEmpty else {
            throw Failure(
                "people.code_key_file: second factors are kept under it (people.second_factor_roles is set): make it with "
                    + "`openssl rand -out FILE 32`")
        }
        return SecondFactorRule(roles: Set(roles))
    }
}
