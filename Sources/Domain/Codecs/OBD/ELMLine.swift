internal import Basics
internal import Fleet

/// One line of a reply, read by its form.
struct ELMLine {
    /// Without blanks, in capitals.
    let characters: [UInt8]
    /// Lengths of the first two words as written: tell headers from data.
    private let words: (first: Int, second: Int)

    enum Content {
        /// How many bytes the numbered lines hold that follow.
        case length(Int)
        /// Numbered pieces of a long answer; the length where it is glued in front.
        case numbered(length: Int?, [(number: Int, data: [UInt8])])
        /// An answer without header.
        case single([UInt8])
        /// A frame of a sender: from the type byte on (CAN), or the data without checksum (older buses).
        case frame(unit: String, OBDBus, [UInt8])
    }

    static func lines(_ text: some Collection<UInt8>) -> [ELMLine] {
        text.split { $0 == 0x0D || $0 == 0x0A }.map { ELMLine(Array($0)[...]) }.filter { !$0.characters.isEmpty }
    }

    init(_ text: ArraySlice<UInt8>) {
        let words = text.split { $0 == 0x20 || $0 == 0x09 || $0 == 0 }
        self.words = (words.first?.count ?? 0, words.dropFirst().first?.count ?? 0)
        characters = words.joined().map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
    }

    private init(characters: [UInt8], words: (Int, Int)) { (self.characters, self.words) = (characters, words) }

    /// The line without its first words: their original spelling is then unknown.
    private func dropping(_ count: Int) -> ELMLine {
        count == 0 ? self : ELMLine(characters: Array(characters.dropFirst(count)), words: (0, 0))
    }

    /// An adapter with its echo on repeats the request, on a line of its own or glued to the answer.
    func withoutEcho(_ echo: [UInt8]) -> ELMLine {
        guard characters.starts(with: echo) else { return self }
        let rest = characters.count - echo.count
        // The digit more is the count of lines to wait for.
        if rest == 0 || rest == 1 && Hex.digit(characters[echo.count]) != nil {
            return isLength ? self : dropping(characters.count)
        }
        // `0300:…` is no echo of mode 03: a numbered line with its length in front.
        if let colon = characters.firstIndex(of: 0x3A), colon == 4 { return self }
        return dropping(echo.count)
    }

    private var isLength: Bool { characters.count == 3 && characters[0] == 0x30 && words.first == 3 }

    /// Without news of the search for a bus; nil when nothing is left.
    func withoutNews() -> ELMLine? {
        var line = self
        while true {
            if line.characters.starts(with: "SEARCHING".utf8) {
                line = line.dropping(9).withoutDots()
            } else if line.characters.starts(with: "BUSINIT".utf8) {
                let rest = line.dropping(7).withoutDots()
                if rest.characters.starts(with: "ERR".utf8) { return line }
                line = rest.characters.starts(with: "OK".utf8) ? rest.dropping(2) : rest
            } else {
                return line.characters.isEmpty ? nil : line
            }
        }
    }

    private func withoutDots() -> ELMLine { dropping(characters.prefix { $0 == 0x2E || $0 == 0x3A }.count) }

    /// The adapter's message in this line.
    var message: ELMMessage? {
        // Data is digits only, but for the colon of a numbered line.
        guard characters.contains(where: { Hex.digit($0) == nil && $0 != 0x3A }) else { return nil }
        return ELMLine.tokens.first { holds($0.token) }?.message
    }

    private static let tokens = ELMMessage.table.map { (message: $0.message, token: Array($0.token.utf8)) }

    /// The same where any text may come: only a line that is nothing else counts.
    var wholeMessage: ELMMessage? {
        let word = characters.first == 0x21 ? characters.dropFirst() : characters[...]
        return ELMLine.tokens.first { $0.message != .restarted && word.elementsEqual($0.token) }?.message
    }

    private func holds(_ token: [UInt8]) -> Bool {
        var (start, place) = (0, 0)
        while start + token.count <= characters.count {
            while place < token.count, characters[start + place] == token[place] { place += 1 }
            if place == token.count { return true }
            start = start + 1
            place = 0
        }
        return false
    }

    /// - Parameters:
    ///   - start: what an answer begins with.
    ///   - mode: the request's mode, which a refusal repeats.
    func content(start: [UInt8], mode: UInt8) throws(ELMFault) -> Content {
        if let message { throw .said(message) }
        if characters.contains(0x3A) { return try numbered() }
        var digits: [UInt8] = []
        digits.reserveCapacity(characters.count)
        for character in characters {
            guard let digit = Hex.digit(character) else { throw .notHexadecimal(printable(most: 24)) }
            digits.append(digit)
        }
        if digits.count == 3 { return .length(number(digits)) }
        return try plain(digits, start: start, mode: mode)
    }

    private func plain(_ digits: [UInt8], start: [UInt8], mode: UInt8) throws(ELMFault) -> Content {
        let bytes = Hex.bytes(digits)
        let isOfThis = { (bytes: ArraySlice<UInt8>) in bytes.starts(with: start) || bytes.starts(with: [0x7F, mode]) }
        if digits.count % 2 == 1, bytes.starts(with: start) { throw .cutOff(bytes: bytes.count, need: bytes.count + 1) }
        // Three digits and whole bytes: the identifier of a CAN bus of 11 bits.
        let isShort = words.first == 3 && words.second > 0 || words.first != 2 && digits.count % 2 == 1
        if isShort, digits.count >= 5, digits[0] < 8 {
            // With ATD1 the data length stands between.
            let skipped = words.first == 3 && words.second == 1 ? 4 : 3
            return .frame(unit: header(digits.prefix(3)), .can, Hex.bytes(digits.dropFirst(skipped)))
        }
        guard digits.count % 2 == 0 else { throw .cutOff(bytes: bytes.count, need: bytes.count + 1) }
        if isOfThis(bytes[...]) { return .single(bytes) }
        if bytes.count > 4, bytes[0] == 0x18, bytes[1] == 0xDA || bytes[1] == 0xDB {
            return .frame(unit: header(digits.prefix(8)), .can, Array(bytes[4...]))
        }
        guard bytes.count > 4, isOfThis(bytes[3...]) else { throw .otherAnswer(Hex.text(bytes.prefix(8))) }
        guard BusChecksum.isRight(bytes) else { throw .checksumWrong }
        return .frame(unit: header(digits[4..<6]), .older, Array(bytes[3..<bytes.count - 1]))
    }

    private func header(_ digits: ArraySlice<UInt8>) -> String {
        String(decoding: digits.map { "0123456789ABCDEF".utf8.map { $0 }[Int($0)] }, as: UTF8.self)
    }

    /// `0:490201575657`, and with all lines glued `0140:4902015756571:5A5A5A314B5A412:…`: before each colon stands the
    /// number of the piece, in front of the first the length.
    private func numbered() throws(ELMFault) -> Content {
        var pieces: [[UInt8]] = [[]]
        for character in characters {
            if character == 0x3A {
                pieces.append([])
            } else {
                guard let digit = Hex.digit(character) else { throw .notHexadecimal(printable(most: 24)) }
                pieces[pieces.count - 1].append(digit)
            }
        }
        guard pieces[0].count == 1 || pieces[0].count == 4 else { throw .notHexadecimal(printable(most: 24)) }
        let length = pieces[0].count == 4 ? number(pieces[0].prefix(3)) : nil
        var frames: [(number: Int, data: [UInt8])] = []
        for (place, piece) in pieces.enumerated().dropFirst() {
            guard let number = pieces[place - 1].last else { throw .notHexadecimal(printable(most: 24)) }
            let isLast = place == pieces.count - 1
            frames.append((Int(number), Hex.bytes(isLast ? piece[...] : piece.dropLast())))
        }
        return .numbered(length: length, frames)
    }

    private func number(_ digits: some Collection<UInt8>) -> Int { digits.reduce(0) { $0 << 4 | Int($1) } }

    /// For messages: the printable characters, at most so many.
    func printable(most: Int) -> String {
        String(decoding: characters.prefix(most).map { (0x20...0x7E).contains($0) ? $0 : 0x2E }, as: UTF8.self)
    }
}

/// The checksum at the end of a line of an older bus when headers are on.
enum BusChecksum {
    /// ISO 9141-2 and ISO 14230: the sum; SAE J1850: a CRC. The form of a line does not tell which bus it is.
    static func isRight(_ line: [UInt8]) -> Bool {
        guard let last = line.last else { return false }
        let body = line.dropLast()
        return last == body.reduce(0, &+) || last == j1850(body)
    }

    /// CRC-8 with x⁸ + x⁴ + x³ + x² + 1, begun with FF and inverted (SAE J1850).
    static func j1850(_ bytes: some Sequence<UInt8>) -> UInt8 {
        var crc: UInt8 = 0xFF
        for byte in bytes {
            crc ^= byte
            for _ in 0..<8 { crc = crc & 0x80 == 0 ? crc << 1 : crc << 1 ^ 0x1D }
        }
        return ~crc
    }
}
