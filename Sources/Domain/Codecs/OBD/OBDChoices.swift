/// The meanings of values that are no numbers (SAE J1979, appendix B).
enum OBDChoices {
    static let fuelSystem: [UInt8: String] = [
        0: "off or absent", 1: "open loop: engine too cold", 2: "closed loop",
        4: "open loop: load, or fuel cut on overrun", 8: "open loop: fault", 16: "closed loop with a faulty sensor",
    ]
    static let secondaryAir: [UInt8: String] = [
        1: "upstream of the catalyst", 2: "downstream of the catalyst", 4: "from outside, or off",
        8: "pump on for diagnosis",
    ]
    static let sensorsOfTwoBanks: [String?] = (0..<8).reversed().map { "bank \($0 / 4 + 1), sensor \($0 % 4 + 1)" }
    static let sensorsOfFourBanks: [String?] = (0..<8).reversed().map { "bank \($0 / 2 + 1), sensor \($0 % 2 + 1)" }
    static let auxiliary: [String?] = [nil, nil, nil, nil, nil, nil, nil, "power take-off active"]

    static let standard: [UInt8: String] = [
        1: "OBD-II (CARB)", 2: "OBD (EPA)", 3: "OBD and OBD-II", 4: "OBD-I", 5: "none", 6: "EOBD",
        7: "EOBD and OBD-II", 8: "EOBD and OBD", 9: "EOBD, OBD and OBD-II", 10: "JOBD", 11: "JOBD and OBD-II",
        12: "JOBD and EOBD", 13: "JOBD, EOBD and OBD-II", 17: "EMD", 18: "EMD+", 19: "HD OBD-C", 20: "HD OBD",
        21: "WWH OBD", 23: "HD EOBD-I", 24: "HD EOBD-I N", 25: "HD EOBD-II", 26: "HD EOBD-II N", 28: "OBDBr-1",
        29: "OBDBr-2", 30: "KOBD", 31: "IOBD I", 32: "IOBD II", 33: "HD EOBD-VI",
    ]
    static let fuel: [UInt8: String] = [
        0: "not available", 1: "gasoline", 2: "methanol", 3: "ethanol", 4: "diesel", 5: "LPG", 6: "CNG", 7: "propane",
        8: "electric", 9: "bifuel running gasoline", 10: "bifuel running methanol", 11: "bifuel running ethanol",
        12: "bifuel running LPG", 13: "bifuel running CNG", 14: "bifuel running propane",
        15: "bifuel running electricity", 16: "bifuel running electric and combustion engine",
        17: "hybrid gasoline", 18: "hybrid ethanol", 19: "hybrid diesel", 20: "hybrid electric",
        21: "hybrid running electric and combustion engine", 22: "hybrid regenerative", 23: "bifuel running diesel",
    ]
}
