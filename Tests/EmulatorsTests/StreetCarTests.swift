import Emulators
import Fleet
import Foundation
import SimKit
import Testing

/// The sample's cars on the streets that ship with it.
struct StreetCarTests {
    private static let slot: Int64 = 332_000
    private static let streets: Streets = {
        let file = try! JSONDecoder().decode(
            Streets.File.self, from: Data(try! Repository.bytes("Deploy/sample/streets.json")))
        return try! Streets(file)
    }()

    @Test("From each crossing one comes to each other, street by street") func ways() throws {
        let streets = Self.streets
        for number in 0..<60 {
            let (from, to) = (number * 97 % streets.nodes.count, number * 389 % streets.nodes.count)
            let way = try #require(streets.way(from: from, to: to))
            #expect(way.first == from && way.last == to && Set(way).count == way.count)
            #expect(zip(way, way.dropFirst()).allSatisfy { streets.nodes[$0].metres(to: streets.nodes[$1]) < 400 })
        }
        #expect(streets.places.count == 12 && streets.nearest(to: streets.nodes[7]) == 7)
    }

    @Test("An outing begins where the one before ended, and fits between two", arguments: 1...6 as ClosedRange<UInt64>)
    func outings(seed: UInt64) throws {
        let car = StreetCar(Self.streets, kind: .van, seed: seed)
        let (first, second) = (car.outing(Self.slot), car.outing(Self.slot + 1))
        #expect(car.slot(at: first.startMs) == Self.slot && first.endMs < second.startMs)
        let all = 0..<Int64.max
        let (last, next) = (car.readings(first, in: all, everyS: 1).last!, car.readings(second, in: all, everyS: 1)[0])
        #expect(last[.latitude] == next[.latitude] && last[.longitude] == next[.longitude])
    }

    @Test("It drives as cars do in a town", arguments: 1...4 as ClosedRange<UInt64>) func drives(seed: UInt64) throws {
        let car = StreetCar(Self.streets, kind: .car, seed: seed)
        let outing = car.outing(Self.slot)
        let readings = car.readings(outing, in: 0..<Int64.max, everyS: 1)
        let speeds = try readings.map { Double(try #require($0[.speed])) / 3_600 }
        #expect(speeds.max()! < 50 / 3.6 && speeds.reduce(0, +) / Double(speeds.count) > 1.5)
        for ((one, next), speed) in zip(zip(readings, readings.dropFirst()), speeds.dropFirst()) {
            #expect(next.ts == one.ts + 1_000)
            // As the crow flies it is less: round a bend.
            #expect(Position(one)!.metres(to: Position(next)!) <= speed + 1.6)
        }
        #expect(zip(speeds, speeds.dropFirst()).allSatisfy { abs($1 - $0) < 6 })
        #expect(readings.allSatisfy { $0[.fuelRate]! > 0 && $0[.coolant]! < 95_000 && $0[.rpm]! >= 800_000 })
    }

    @Test("What it says at a time is the same however it is asked") func same() {
        let car = StreetCar(Self.streets, kind: .truck, seed: 9)
        let outing = car.outing(Self.slot)
        let all = car.readings(outing, in: 0..<Int64.max, everyS: 2)
        #expect(car.readings(car.outing(Self.slot), in: 0..<Int64.max, everyS: 2) == all)
        let middle = outing.startMs + 601_300
        let halves =
            car.readings(outing, in: 0..<middle, everyS: 2) + car.readings(outing, in: middle..<Int64.max, everyS: 2)
        #expect(halves == all)
    }
}
