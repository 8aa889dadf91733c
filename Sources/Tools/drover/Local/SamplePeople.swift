import App
import Fleet
import Foundation
import Postgres
import Settings
import Storage
import Web

/// Who there is in the sample: accounts of all roles, and drivers whom nobody logs in as.
struct SamplePeople {
    /// Their log-ins, which are only good at this machine.
    let accounts: SampleAccounts
    private let passwords: [String: String]
    private let file: String
    private let isNew: Bool

    /// Drivers beside the one who can be logged in as.
    static let drivers: [(account: String, firstName: String, lastName: String)] = [
        ("sample-olli", "Olli", "Mäki"), ("sample-sami", "Sami", "Niemi"), ("sample-leena", "Leena", "Heino"),
        ("sample-antti", "Antti", "Rinne"), ("sample-outi", "Outi", "Saari"), ("sample-pia", "Pia", "Salo"),
        ("sample-anna", "Anna", "Berg"),
    ]

    /// Makes what is missing of them. Precondition: this process holds the data folder.
    init(_ settings: Settings, data: String) throws {
        file = data + "/sample-log-ins"
        let known = try SamplePeople.read(file)
        let owner = try Connection(conninfo: settings.text("postgres.owner_url"))
        try AuditLog.sign("drover up", on: owner)
        var passwords: [String: String] = [:]
        for one in SampleAccounts.cast {
            let isOurs = try SampleStore.put(
                one.account, mail: SampleAccounts.mail(one.account), firstName: one.firstName, lastName: one.lastName,
                roles: [one.role], issuer: SampleAccounts.issuer, on: owner)
            if isOurs { passwords[one.account] = known[one.account] ?? SampleAccounts.randomPassword() }
        }
        for driver in SamplePeople.drivers {
            _ = try SampleStore.put(
                driver.account, mail: SampleAccounts.mail(driver.account), firstName: driver.firstName,
                lastName: driver.lastName, roles: [.driver], issuer: nil, on: owner)
        }
        isNew = passwords != known
        self.passwords = passwords
        accounts = SampleAccounts(passwords: passwords)
        if isNew { try write() }
    }

    /// Without the sample nobody is logged in as one of its people.
    static func shut(_ settings: Settings) throws {
        let owner = try Connection(conninfo: settings.text("postgres.owner_url"))
        try AuditLog.sign("drover up", on: owner)
        _ = try SampleStore.shut(issuer: SampleAccounts.issuer, on: owner)
    }

    /// Whose vehicles they are, and who drives them. Precondition: they are registered.
    func join(fleet: SampleFleet, _ settings: Settings) throws {
        let owner = try Connection(conninfo: settings.text("postgres.owner_url"))
        try AuditLog.sign("drover up", on: owner)
        try OperatorFleetStore.put("sample", name: "Helsinki", partOf: nil, on: owner)
        try OperatorFleetStore.put("sample-city", name: "City", partOf: "sample", on: owner)
        try OperatorFleetStore.put("sample-farm", name: "Home farm", partOf: "sample", on: owner)
        for member in ["sample-mia", "sample-ana"] {
            try OperatorFleetStore.add(member: member, to: "sample", on: owner)
        }
        try OperatorFleetStore.add(member: "sample-fred", to: "sample-farm", on: owner)
        for driver in ["sample-jari"] + SamplePeople.drivers.map(\.account) {
            try OperatorFleetStore.add(member: driver, to: "sample-city", on: owner)
        }
        for car in fleet.cars { try OperatorFleetStore.add(car, kind: .car, to: "sample-city", on: owner) }
        for machine in fleet.machines {
            try OperatorFleetStore.add(machine, kind: .machine, to: "sample-farm", on: owner)
            try SampleStore.dealer("sample-dealer", of: machine, owner: "sample-fred", on: owner)
        }
    }

    /// Who is who at the campus.
    func join(campus: String, _ settings: Settings) throws {
        let owner = try Connection(conninfo: settings.text("postgres.owner_url"))
        try AuditLog.sign("drover up", on: owner)
        for (account, person) in [("sample-aino", "g-1001"), ("sample-nea", "d-102"), ("sample-henrik", "desk")]
        where passwords[account] != nil {
            try SampleStore.bind(account, campus: campus, person: person, on: owner)
        }
    }

    // MARK: What is printed

    func say(_ page: String) {
        Out.note("be anyone of the sample, one click each: \(page)sample")
        guard isNew else {
            Out.note("  their passwords are in \(file)")
            return
        }
        for person in accounts.people {
            let password = passwords[person.account] ?? ""
            Out.note("  \(padded(person.role.name, 14))  \(padded(person.mail, 22))  \(password)")
        }
        Out.note("  the passwords are good on this machine only, and kept in \(file)")
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    // MARK: Their file

    /// `account password` a line. Empty when there is none yet.
    private static func read(_ file: String) throws -> [String: String] {
        guard FileManager.default.fileExists(atPath: file) else { return [:] }
        let lines = String(decoding: try Files.read(file), as: UTF8.self).split(separator: "\n")
        return Dictionary(
            lines.compactMap { line in
                let words = line.split(separator: " ")
                return words.count == 2 ? (String(words[0]), String(words[1])) : nil
            }
        ) { first, _ in first }
    }

    /// A kill amid it leaves the old one.
    private func write() throws {
        let text = passwords.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
        let part = file + ".new"
        // Of a start that was killed; mostly there is none.
        try? FileManager.default.removeItem(atPath: part)
        guard
            FileManager.default.createFile(
                atPath: part, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]),
            unsafe rename(part, file) == 0
        else { throw Failure("\(file): cannot be written. Look at the data folder (--data)") }
    }
}

/// The vehicles of the sample's people.
struct SampleFleet {
    let cars: [String]
    let machines: [String]
}
