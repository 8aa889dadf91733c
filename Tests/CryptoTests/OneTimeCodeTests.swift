import Basics
import Crypto
import Fleet
import Testing

@Suite struct OneTimeCodeTests {
    private static let secret = Array("12345678901234567890".utf8)

    /// RFC 6238, appendix B, the column of SHA-1.
    @Test(
        arguments: [
            (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"), (1_234_567_890, "89005924"),
            (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
        ] as [(Int64, String)])
    func codesOfTheTimeAreTheRFCs(_ second: Int64, _ code: String) {
        let step = OneTimeCode.step(ofMs: second * 1_000)
        #expect(OneTimeCode.text(Self.secret, step: step, digits: 8) == code)
        #expect(OneTimeCode.text(Self.secret, step: step) == code.suffix(6))
        #expect(
            OneTimeCode.step(of: String(code.suffix(6)), secret: Self.secret, atMs: second * 1_000, after: 0) == step)
    }

    /// RFC 4226, appendix D.
    @Test func codesOfCountersAreTheRFCs() {
        let codes = (0..<10).map { OneTimeCode.text(Self.secret, step: $0) }
        #expect(
            codes == [
                "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
            ])
    }

    /// RFC 2202, 3: test cases 1, 2, 6 and 7.
    @Test(
        arguments: [
            (Array("Hi There".utf8), [UInt8](repeating: 0x0B, count: 20), "b617318655057264e28bc0b6fb378c8ef146be00"),
            (
                Array("what do ya want for nothing?".utf8), Array("Jefe".utf8),
                "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
            ),
            (
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                [UInt8](repeating: 0xAA, count: 80), "aa4ae5e15272d00e95705637ce8a3b55ed402112"
            ),
            (
                Array("Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data".utf8),
                [UInt8](repeating: 0xAA, count: 80), "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"
            ),
        ])
    func codesAreHMACsOfSHA1(_ message: [UInt8], _ key: [UInt8], _ code: String) {
        #expect(Hex.text(HMAC.code(.sha1, of: message, key: key)) == code)
    }

    /// RFC 4231, 4.2 and 4.7, and of nothing with no key (Python's `hmac`).
    @Test(
        arguments: [
            (
                Array("Hi There".utf8), [UInt8](repeating: 0x0B, count: 20),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                [UInt8](repeating: 0xAA, count: 131), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ), ([], [], "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
        ])
    func codesAreHMACsOfSHA256(_ message: [UInt8], _ key: [UInt8], _ code: String) {
        #expect(Hex.text(Secrets.hmacSHA256(message, key: key)) == code)
    }

    @Test func aStepToEitherSideIsTakenAndNoneTwice() {
        let now: Int64 = 1_234_567_890_000
        let step = OneTimeCode.step(ofMs: now)
        func taken(_ of: Int64, after last: Int64 = 0) -> Int64? {
            OneTimeCode.step(of: OneTimeCode.text(Self.secret, step: of), secret: Self.secret, atMs: now, after: last)
        }
        #expect((-2...2).map { taken(step + $0) } == [nil, step - 1, step, step + 1, nil])
        #expect(
            taken(step, after: step) == nil && taken(step - 1, after: step) == nil
                && taken(step + 1, after: step) == step + 1)
        for code in ["", "00592", "0059240", "abcdef", "００５９２４"] {
            #expect(OneTimeCode.step(of: code, secret: Self.secret, atMs: now, after: 0) == nil)
        }
    }

    @Test func noOtherCodeIsTaken() {
        let (secret, now) = (Array(UInt8(1)...20), Int64(1_700_000_000_000))
        let step = OneTimeCode.step(ofMs: now)
        let right = Set((step - 1...step + 1).map { OneTimeCode.text(secret, step: $0) })
        for number in stride(from: 0, to: 1_000_000, by: 37) {
            let digits = String(number)
            let code = String(repeating: "0", count: 6 - digits.count) + digits
            let isTaken = OneTimeCode.step(of: code, secret: secret, atMs: now, after: 0) != nil
            #expect(isTaken == right.contains(code), "\(code)")
        }
        for code in right {
            for place in code.indices {
                var other = code
                other.replaceSubrange(place...place, with: code[place] == "0" ? "1" : "0")
                guard !right.contains(other) else { continue }
                #expect(OneTimeCode.step(of: other, secret: secret, atMs: now, after: 0) == nil, "\(other)")
            }
        }
        #expect(OneTimeCode.step(of: "", secret: secret, atMs: now, after: 0) == nil)
    }

    @Test func secretsAreTextAsProgramsTakeIt() {
        // RFC 4648, 10.
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map { Base32.text(Array($0.utf8)) }
        #expect(texts == ["", "MY", "MZXQ", "MZXW6", "MZXW6YQ", "MZXW6YTB", "MZXW6YTBOI"])
        #expect(
            OneTimeCode.address(Self.secret, account: "a+b@example.org", issuer: "Drover, north")
                == "otpauth://totp/Drover%2C%20north:a%2Bb%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
                + "&issuer=Drover%2C%20north&algorithm=SHA1&digits=6&period=30")
    }

    @Test func recoveryCodesAreOfTheirAccountHoweverTheyAreTyped() throws {
        let codes = (0..<100).map { _ in RecoveryCode.random() }
        #expect(Set(codes).count == 100 && codes.allSatisfy { $0.count == 19 })
        let digest = try #require(RecoveryCode.digest("ABCD-EFGH-2345-WXYZ", account: "miller"))
        #expect(RecoveryCode.digest(" abcd efgh2345wxyz", account: "miller") == digest)
        #expect(RecoveryCode.digest("ABCD-EFGH-2345-WXYZ", account: "fink") != digest)
        for none in ["", "123456", "ABCD-EFGH-2345-WXY", "ABCD-EFGH-2345-WXYZ-A", "ABCD-EFGH-2345-WXYé"] {
            #expect(RecoveryCode.digest(none, account: "miller") == nil)
        }
    }

    @Test func whatTheKeyOfBeforeMadeHoldsUntilItIsGone() throws {
        let (old, new) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
        let (first, both, second) = (try CodeKey(old), try CodeKey(new, before: old), try CodeKey(new))
        for use in [CodeKey.Use.mail, .secondFactor] {
            let (sealed, anew) = (first.seal([7], for: use), both.seal([7], for: use))
            #expect(both.open(sealed, for: use) == [7] && second.open(sealed, for: use) == nil)
            #expect(second.open(anew, for: use) == [7] && first.open(anew, for: use) == nil)
            #expect(both.needsKeyBefore(sealed, for: use) && !both.needsKeyBefore(anew, for: use))
        }
        #expect(first.open(first.seal([7], for: .secondFactor)) == nil, "a key a use")
        let link = first.link("end mail", "miller")
        #expect(both.isLink(link, "end mail", "miller") && !second.isLink(link, "end mail", "miller"))
        #expect(!both.isLink(link, "end mail", "fink") && both.isLink(both.link("a", "b"), "a", "b"))
        #expect(
            both.digestBefore(code: "1", campus: "n", person: "g") == first.digest(code: "1", campus: "n", person: "g"))
        #expect(second.digestBefore(code: "1", campus: "n", person: "g") == nil)
        #expect(throws: CodeKey.Fault.self) { try CodeKey(new, before: [1]) }
    }
}
