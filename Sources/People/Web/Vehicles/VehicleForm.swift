internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports
internal import Storage

/// The form of a vehicle: its present values, and the registration that it makes.
struct VehicleForm {
    struct Fault: Error { let text: String }

    static let keepersOfMachines: Set<Role> = [.farmer, .fleetManager, .administrator]

    /// Litres of a US gallon (NIST SP 811 (2008), B.8).
    private static let gallonL = 3.785_411_784
    private static let tagsMax = 20

    let isCar: Bool
    /// Empty: it is not added yet.
    let vehicle: String
    let basedOn: String
    let known: Action.Registration
    let fleets: [VehicleRegistrationStore.ManagedFleet]
    let models: [ModelFileRoutes.Listed]
    let caller: PageCaller
    /// The values of the fields, by name.
    var typed: [String: String]
    var chosen: Set<String>
    /// Whether a box or an adapter may be at this host and port, as far as it can be told from what is typed.
    var mayBeAt: @Sendable (_ host: String, _ port: Int32) -> Bool = { _, _ in true }

    init(
        isCar: Bool, vehicle: String, basedOn: String, known: Action.Registration,
        fleets: [VehicleRegistrationStore.ManagedFleet], models: [ModelFileRoutes.Listed], caller: PageCaller
    ) {
        self.isCar = isCar
        self.vehicle = vehicle
        self.basedOn = basedOn
        self.known = known
        self.fleets = fleets
        self.models = models
        self.caller = caller
        chosen = Set(fleets.filter(\.holds).map(\.fleet))
        // A vehicle that is added goes into the fleet there is.
        if vehicle.isEmpty, fleets.count == 1 { chosen = [fleets[0].fleet] }
        typed = VehicleForm.shown(known, isUS: caller.units == .us)
        if vehicle.isEmpty, isCar, !VehicleForm.mayChooseOwner(caller) { typed["owner"] = caller.account }
    }

    /// Fills the form with what was sent.
    mutating func fill(from fields: FormFields) {
        for name in VehicleForm.names { typed[name] = fields[name] ?? "" }
        chosen = Set(fields.all("fleet"))
    }

    static let names = [
        "vehicle", "name", "model", "address", "certificate", "tags", "make", "year", "vin", "fuel", "tank",
        "displacement",
        "efficiency", "owner",
    ]

    private static func shown(_ known: Action.Registration, isUS: Bool) -> [String: String] {
        let car = known.car
        func number(_ value: Int32?, _ decimals: Int) -> String {
            value.map { Decimal.text(Int64($0), decimals: decimals) } ?? ""
        }
        return [
            "name": known.name ?? "", "model": known.model ?? "",
            "address": known.address.map { "\($0.host):\($0.port)" } ?? "",
            "certificate": known.address?.certificateSHA256 ?? "", "tags": known.tags.joined(separator: ", "),
            "make": car?.make ?? "", "year": number(car?.year, 0), "vin": car?.vin ?? "",
            "fuel": car?.fuel?.rawValue ?? "", "tank": tank(car?.tankMl, isUS: isUS),
            "displacement": number(car?.displacementCc, 0),
            "efficiency": number(car?.volumetricEfficiencyMilliPct, 3), "owner": car?.account ?? "",
        ]
    }

    private static func tank(_ ml: Int32?, isUS: Bool) -> String {
        guard let ml else { return "" }
        guard isUS else { return Decimal.text(Int64(ml), decimals: 3) }
        return Decimal.scaled(Double(ml) / 1_000 / gallonL, decimals: 2).map { Decimal.text($0, decimals: 2) } ?? ""
    }

    static func mayChooseOwner(_ caller: PageCaller) -> Bool {
        !caller.roles.isDisjoint(with: keepersOfMachines)
    }

    // MARK: What it says

    /// All of the registration; what the form does not have stays as it is known.
    func registration() throws(Fault) -> Action.Registration {
        var registration = known
        registration.name = try text("name", t("The name"), bytesMax: 200)
        registration.model = try text("model", t("The model"), bytesMax: 64)
        registration.tags = try tags()
        registration.address = try address()
        if isCar { registration.car = try car() }
        return registration
    }

    func tags() throws(Fault) -> [String] { try VehicleForm.tags(typed["tags", default: ""]) }

    /// As they are typed, with commas between them.
    static func tags(_ text: String) throws(Fault) -> [String] {
        var tags: [String] = []
        for part in text.split(separator: ",") {
            let tag = VehicleForm.trimmed(String(part))
            if tag.isEmpty || tags.contains(tag) { continue }
            guard tag.utf8.count <= 64, VehicleForm.isPlain(tag) else {
                throw Fault(
                    text: t("The tag \(String(tag.prefix(70))) is longer than 64 bytes, or has control characters."))
            }
            tags.append(tag)
        }
        guard tags.count <= VehicleForm.tagsMax else {
            throw Fault(text: t("A vehicle has at most \(VehicleForm.tagsMax) tags."))
        }
        return tags
    }

    private func text(_ name: String, _ label: String, bytesMax: Int) throws(Fault) -> String? {
        let text = VehicleForm.trimmed(typed[name] ?? "")
        guard text.utf8.count <= bytesMax, VehicleForm.isPlain(text) else {
            throw Fault(text: t("\(label) is longer than \(bytesMax) bytes, or has control characters."))
        }
        return text.isEmpty ? nil : text
    }

    private func address() throws(Fault) -> Action.Address? {
        let text = VehicleForm.trimmed(typed["address"] ?? "")
        let certificate = VehicleForm.trimmed(typed["certificate"] ?? "").lowercased()
        if text.isEmpty {
            guard certificate.isEmpty else {
                throw Fault(
                    text: t(
                        "There is a certificate and no connection that it is of. Write host:port, or leave both empty.")
                )
            }
            return nil
        }
        guard let colon = text.lastIndex(of: ":"), let port = Int32(text[text.index(after: colon)...]),
            (1...65_535).contains(port), colon != text.startIndex, text.utf8.count <= 253,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw Fault(text: t("The connection must be host:port, like 192.168.1.10:7701.")) }
        guard certificate.isEmpty || (certificate.utf8.count == 64 && certificate.allSatisfy(\.isHexDigit)) else {
            throw Fault(text: t("The certificate must be the 64 hexadecimal digits of its SHA-256."))
        }
        let host = String(text[..<colon])
        // An unchanged address is not checked again here: the gateway checks each address when it connects.
        let isKnown = known.address?.host == host && known.address?.port == port
        guard isKnown || mayBeAt(host, port) else {
            throw Fault(
                text: t(
                    "No box or adapter may be at this address here. Whoever runs this installation can name its network."
                ))
        }
        return Action.Address(host: host, port: port, certificateSHA256: certificate.isEmpty ? nil : certificate)
    }

    private func car() throws(Fault) -> Action.Car {
        var car = known.car ?? Action.Car()
        car.make = try text("make", t("The maker"), bytesMax: 64)
        car.vin = try text("vin", t("The VIN"), bytesMax: 64)?.uppercased()
        // ISO 3779: no I, O and Q, which look like 1 and 0.
        if let vin = car.vin,
            vin.count != 17 || !vin.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) && !"IOQ".contains($0) })
        {
            throw Fault(text: t("The VIN must be 17 letters and digits, without I, O and Q."))
        }
        let fuel = typed["fuel"] ?? ""
        car.fuel = Action.Car.Fuel(rawValue: fuel)
        if car.fuel == nil, !fuel.isEmpty { throw Fault(text: t("There is no such fuel.")) }
        car.year = try number("year", t("The year"), decimals: 0, 1_900...2_200)
        car.tankMl = try tankMl(car.tankMl)
        car.displacementCc = try number("displacement", t("The displacement"), decimals: 0, 1...100_000)
        car.volumetricEfficiencyMilliPct = try number(
            "efficiency", t("The volumetric efficiency"), decimals: 3, 1...300_000)
        let owner = typed["owner"] ?? ""
        guard owner.isEmpty || VehicleID.isValid(owner.utf8) else { throw Fault(text: t("There is no such owner.")) }
        car.account = owner.isEmpty ? nil : owner
        return car
    }

    private func tankMl(_ known: Int32?) throws(Fault) -> Int32? {
        let isUS = caller.units == .us
        // As it was shown, so that reading and sending it changes nothing by rounding.
        if let known, typed["tank"] == VehicleForm.tank(known, isUS: isUS) { return known }
        guard let value = try number("tank", t("The tank"), decimals: 3, 1...2_000_000) else { return nil }
        return isUS ? Int32((Double(value) * VehicleForm.gallonL).rounded()) : value
    }

    private func number(
        _ name: String, _ label: String, decimals: Int, _ range: ClosedRange<Int64>
    ) throws(Fault) -> Int32? {
        let text = VehicleForm.trimmed(typed[name] ?? "")
        if text.isEmpty { return nil }
        guard let value = Decimal.scaled(text.utf8, decimals: decimals), range.contains(value) else {
            let (least, most) = (
                Decimal.text(range.lowerBound, decimals: decimals), Decimal.text(range.upperBound, decimals: decimals)
            )
            throw Fault(text: t("\(label) must be a number from \(least) to \(most), or empty."))
        }
        return Int32(value)
    }

    static func trimmed(_ text: String) -> String { text.trimmed }

    static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }
}
