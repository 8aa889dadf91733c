package import Postgres

/// The account that asks a question, as it is at this moment.
package struct QuestionAsker: Sendable {
    /// There is no such account, or it may not ask any more.
    package struct Gone: Error, Sendable { package let text: String }

    /// Fleets and campuses that the account is of, or one without a name. Empty: it runs the installation.
    package let customers: [String]

    /// - Parameter access: the token or the log-in that asked; nil: whoever runs the command on the server's machine.
    /// - Throws: `Gone`, or what is wrong with the server.
    package static func read(
        _ account: String, by access: StreamAccess? = nil, on connection: Connection
    ) throws -> QuestionAsker {
        guard
            let row = try connection.query(
                "SELECT is_disabled, customers FROM drover.question_asker($1)", [.text(account)]
            ).first
        else { throw Gone(text: "There is no account \(account).") }
        guard try row.bool("is_disabled") == false else {
            throw Gone(text: "The account \(account) is disabled: it asks nothing.")
        }
        if let access, try !StreamAccessQueries.shut([access], on: connection).isEmpty {
            throw Gone(
                text:
                    "What \(account) asked with does not hold any more: the token was revoked, the log-in ended, or a role was taken."
            )
        }
        return QuestionAsker(customers: try row.textArray("customers")!.compactMap { $0 })
    }
}

/// The questions that are under way, as the bounds have them.
package struct QuestionQuota: Sendable {
    /// At once: of one account, of one customer, and of all customers. Whoever runs the installation has places beside these.
    package static let ofAccountMax = 1
    package static let ofCustomerMax = max(1, ofCustomersMax / 2)
    package static let ofCustomersMax = 4
    package static let ofOperatorsMax = 2

    package enum Full: Error, Equatable, Sendable { case account, customer, all }

    private var accounts = [String: Int]()
    private var customers = [String: Int]()
    private var (ofCustomers, ofOperators) = (0, 0)

    package init() {}

    /// Before it is known whose the account is.
    package mutating func begin(_ account: String) throws(Full) {
        if accounts[account, default: 0] >= QuestionQuota.ofAccountMax { throw .account }
        accounts[account, default: 0] += 1
    }

    package mutating func end(_ account: String) { QuestionQuota.less(&accounts, account) }

    /// - Parameter of: as `QuestionAsker` has them. Who is of several takes a place of each.
    package mutating func reserve(_ of: [String]) throws(Full) {
        guard !of.isEmpty else {
            if ofOperators >= QuestionQuota.ofOperatorsMax { throw .all }
            ofOperators += 1
            return
        }
        if of.contains(where: { customers[$0, default: 0] >= QuestionQuota.ofCustomerMax }) { throw .customer }
        if ofCustomers >= QuestionQuota.ofCustomersMax { throw .all }
        ofCustomers += 1
        for customer in of { customers[customer, default: 0] += 1 }
    }

    package mutating func release(_ of: [String]) {
        if of.isEmpty { ofOperators -= 1 } else { ofCustomers -= 1 }
        for customer in of { QuestionQuota.less(&customers, customer) }
    }

    private static func less(_ counts: inout [String: Int], _ name: String) {
        counts[name, default: 1] -= 1
        if counts[name] == 0 { counts[name] = nil }
    }
}
