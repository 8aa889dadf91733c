import App
import Basics
import Fleet
import Postgres
import Settings
import Sockets
import Storage
import Telemetry

/// `drover vehicle register`: a record says all of a registration, so what is not typed stays as it is known.
extension Command {
    static let carOptions: [Option] = [
        .init("--make", "MAKE", "register, cars: who made it"), .init("--year", "YEAR", "register, cars: model year"),
        .init("--vin", "VIN", "register, cars: its 17 characters"),
        .init("--fuel", "FUEL", "register, cars: " + Action.Car.Fuel.allCases.map(\.rawValue).joined(separator: ", ")),
        .init("--tank", "LITRES", "register, cars: what its tank holds"),
        .init("--displacement", "CCM", "register, cars: of the engine, cubic centimetres"),
        .init("--efficiency", "PERCENT", "register, cars: the engine's volumetric efficiency"),
        .init("--account", "ACCOUNT", "register, cars: whose it is. Of all of a car's own: `none` takes it away"),
    ]

    static func vehicleKind(_ arguments: Arguments) throws -> VehicleKind {
        try arguments.one("--kind", of: ["car": VehicleKind.car, "machine": .machine], standard: "machine")
    }

    static func register(_ arguments: Arguments) throws -> ExitCode {
        let vehicle = try vehicleID(arguments)
        if arguments.has("--at") { throw UsageError("register holds from now on: --at is for services and alerts") }
        let isCar = try vehicleKind(arguments) == .car
        let typed = carOptions.first { arguments.has($0.name) }
        if let typed, !isCar { throw UsageError("\(typed.name) is for cars: say --kind car") }
        let settings = try SettingsSource.load(arguments)
        let push = ActionPush(
            settings: settings, topic: isCar ? Topic.cars : Topic.machines)
        // Before anything waits: what was typed is judged first.
        if let text = arguments.text("--address"), text != "none" { try allow(address(text, nil), settings) }
        let reader = try vehicleReader(arguments)
        if let account = arguments.text("--account"), account != "none" { try require(account, on: reader) }
        try push.settle(vehicle)
        var registration = try known(vehicle, isCar: isCar, on: reader)
        try read(arguments, into: &registration)
        if var car = registration.car {
            try read(arguments, into: &car)
            registration.car = car
        }
        try push.push(ActionPush.action(arguments, vehicle: vehicle, kind: .registration(registration)))
        return .done
    }

    /// A car of nobody would raise nothing, and whoever takes the name later would have it.
    private static func require(_ account: String, on reader: Connection) throws {
        guard VehicleID.isValid(account.utf8) else { throw notAName(account) }
        try require(account, of: "--account", on: reader)
    }

    static func require(_ account: String, of option: String, on reader: Connection) throws {
        guard try AccountStore.isAccount(account, on: reader) else {
            throw Failure(
                "\(option) \(account): there is no such account. See `drover account list`, or add it: "
                    + "drover account add \(account) --mail ADDRESS --role driver")
        }
    }

    private static func notAName(_ account: String) -> UsageError {
        UsageError("--account \(account): must be 1 to 64 letters, digits, -, _ or .")
    }

    /// Names are looked at by the gateway, whenever it connects; its settings may be elsewhere.
    private static func allow(_ address: Action.Address, _ settings: Settings) throws {
        guard let known = Sockets.IPAddress(address.host), let port = UInt16(exactly: address.port),
            let refusal = try settings.deviceReach().refusal(of: known, port: port)
        else { return }
        let text = "--address \(address.host):\(address.port): \(refusal)"
        guard case .unnamed = refusal else { throw Failure(text) }
        Out.note(
            text + " here. The gateway polls it once its gateway.device_cidrs names that network, or its "
                + "gateway.plain_tcp_cidrs if the box knows no TLS", level: .warning)
    }

    private static func read(_ arguments: Arguments, into registration: inout Action.Registration) throws {
        if let name = arguments.text("--name") { registration.name = name.isEmpty ? nil : name }
        if let model = arguments.text("--model") { registration.model = model.isEmpty ? nil : model }
        if let tags = arguments.text("--tags") { registration.tags = tags.split(separator: ",").map(String.init) }
        if arguments.has("--disable") { registration.isDisabled = true }
        if arguments.has("--enable") { registration.isDisabled = false }
        if let text = arguments.text("--address") {
            registration.address = text == "none" ? nil : try address(text, registration.address)
        }
        if let certificate = arguments.text("--certificate") {
            guard registration.address != nil else {
                throw UsageError("--certificate: there is no --address to pin it to")
            }
            registration.address?.certificateSHA256 = certificate == "none" ? nil : certificate.lowercased()
        }
    }

    private static func address(_ text: String, _ known: Action.Address?) throws -> Action.Address {
        guard let colon = text.lastIndex(of: ":"), let port = Int32(text[text.index(after: colon)...]),
            (1...65_535).contains(port), colon != text.startIndex
        else { throw UsageError("--address \(text): must be HOST:PORT, like 192.168.1.10:7701") }
        let host = String(text[..<colon])
        let certificate = known?.host == host ? known?.certificateSHA256 : nil
        return Action.Address(host: host, port: port, certificateSHA256: certificate)
    }

    private static func read(_ arguments: Arguments, into car: inout Action.Car) throws {
        if let vin = arguments.text("--vin") {
            car.vin = vin == "none" ? nil : vin.uppercased()
            // ISO 3779: no I, O and Q, which look like 1 and 0.
            let isRight = car.vin.map { vin in
                vin.count == 17 && vin.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) && !"IOQ".contains($0) }
            }
            if isRight == false { throw UsageError("--vin \(vin): must be 17 letters and digits, without I, O and Q") }
        }
        if let make = arguments.text("--make") { car.make = make == "none" ? nil : make }
        if let text = arguments.text("--fuel") {
            car.fuel = Action.Car.Fuel(rawValue: text)
            if car.fuel == nil, text != "none" {
                let all = Action.Car.Fuel.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("--fuel \(text): must be one of \(all)")
            }
        }
        car.year = try number("--year", arguments, decimals: 0, 1_900...2_200, car.year)
        car.tankMl = try number("--tank", arguments, decimals: 3, 1...2_000_000, car.tankMl)
        car.displacementCc = try number("--displacement", arguments, decimals: 0, 1...100_000, car.displacementCc)
        car.volumetricEfficiencyMilliPct = try number(
            "--efficiency", arguments, decimals: 3, 1...300_000, car.volumetricEfficiencyMilliPct)
        if let account = arguments.text("--account") {
            guard account == "none" || VehicleID.isValid(account.utf8) else { throw notAName(account) }
            car.account = account == "none" ? nil : account
        }
    }

    private static func number(
        _ option: String, _ arguments: Arguments, decimals: Int, _ range: ClosedRange<Int64>, _ known: Int32?
    ) throws -> Int32? {
        guard let text = arguments.text(option) else { return known }
        if text == "none" { return nil }
        guard let value = Decimal.scaled(text.utf8, decimals: decimals), range.contains(value) else {
            throw UsageError(
                "\(option) \(text): must be a number from \(Decimal.text(range.lowerBound, decimals: decimals)) to "
                    + Decimal.text(range.upperBound, decimals: decimals))
        }
        return Int32(value)
    }

    private static func known(
        _ vehicle: VehicleID, isCar: Bool, on connection: Connection
    ) throws -> Action.Registration {
        var registration = Action.Registration()
        if isCar { registration.car = Action.Car() }
        return try VehicleRegistrationStore.registration(of: vehicle, isCar: isCar, on: connection) ?? registration
    }
}
