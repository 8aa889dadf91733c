/// Calls and answers of XML-RPC (xmlrpc.com/spec, with `i8` and `nil` of the common extensions). Bounded in bytes, depth
/// and number of values; no document type and no entities but the five of XML.
public enum XMLRPC {
    public indirect enum Value: Equatable, Sendable {
        case integer(Int64)
        case bool(Bool)
        /// As a JSON number.
        case double(String)
        case text(String)
        /// As it is written: mostly `20200501T13:00:00`, which names no zone.
        case time(String)
        case bytes([UInt8])
        case list([Value])
        /// Names in their order, each once.
        case structure([Member])
        case null
    }

    public struct Member: Equatable, Sendable {
        public let name: String
        public let value: Value
        public init(_ name: String, _ value: Value) { (self.name, self.value) = (name, value) }
    }

    public struct Call: Equatable, Sendable {
        public let method: String
        public let parameters: [Value]
        package init(method: String, parameters: [Value]) { (self.method, self.parameters) = (method, parameters) }
    }

    public struct Fault: Error, Equatable, CustomStringConvertible {
        public let line: Int
        public let reason: String
        public var description: String { "line \(line): \(reason)" }
    }

    public static let bytesMax = 1 << 20
    /// A list or structure takes three elements.
    package static let depthMax = 48
    package static let elementsMax = 200_000
    package static let methodBytesMax = 100

    /// The beginning of a call, read first to authorize the caller.
    public struct Opening: Equatable, Sendable {
        public let method: String
        /// The first parameter, if that is a text: where sessions and tokens stand.
        public let shown: String?
        package init(method: String, shown: String?) { (self.method, self.shown) = (method, shown) }
    }

    /// methodCall, methodName, params, param, value, string, and what is no opening any more.
    private static let openingElements = 8

    public static func opening(_ body: [UInt8]) throws(Fault) -> Opening {
        let root: XMLElement
        do throws(XMLFault) {
            root = try XMLReader.opening(of: body, bytesMax: bytesMax, until: "param", elementsMax: openingElements)
        } catch {
            throw Fault(line: error.line, reason: error.reason)
        }
        let method = try method(root)
        let parameters = root.children.first { $0.name == "params" }
        guard let value = parameters?.children.first?.children.first, value.name == "value" else {
            return Opening(method: method, shown: nil)
        }
        guard let typed = value.children.first else { return Opening(method: method, shown: value.text) }
        return Opening(method: method, shown: typed.name == "string" ? typed.text : nil)
    }

    private static func method(_ root: XMLElement) throws(Fault) -> String {
        guard root.name == "methodCall" else { throw Fault(root, "the root element is not methodCall") }
        let names = root.children.filter { $0.name == "methodName" }
        guard names.count == 1, root.children.count <= 2 else {
            throw Fault(root, "methodCall must hold one methodName and at most one params")
        }
        let method = blankless(names[0].text)
        guard (1...methodBytesMax).contains(method.utf8.count), method.utf8.allSatisfy(isOfMethod) else {
            throw Fault(names[0], "methodName must be 1 to \(methodBytesMax) letters, digits, `_`, `.`, `:` and `/`")
        }
        return method
    }

    public static func call(_ body: [UInt8]) throws(Fault) -> Call {
        let root = try document(body)
        let method = try method(root)
        guard let parameters = root.children.first(where: { $0.name != "methodName" }) else {
            return Call(method: method, parameters: [])
        }
        guard parameters.name == "params" else { throw Fault(parameters, "`\(parameters.name)` is not expected here") }
        return Call(method: method, parameters: try parameters.children.map(parameter))
    }

    private static func parameter(_ element: XMLElement) throws(Fault) -> Value {
        guard element.name == "param", element.children.count == 1 else {
            throw Fault(element, "params must hold param elements with one value each")
        }
        return try value(element.children[0])
    }

    private static func document(_ body: [UInt8]) throws(Fault) -> XMLElement {
        do throws(XMLFault) {
            return try XMLReader.root(of: body, bytesMax: bytesMax, depthMax: depthMax, elementsMax: elementsMax)
        } catch {
            throw Fault(line: error.line, reason: error.reason)
        }
    }

    package static func value(_ element: XMLElement) throws(Fault) -> Value {
        guard element.name == "value", element.children.count <= 1 else {
            throw Fault(element, "a value is expected, with at most one type")
        }
        // Without a type it is a text, blanks and all.
        guard let typed = element.children.first else { return .text(element.text) }
        let text = blankless(typed.text)
        switch typed.name {
        case "string": return .text(typed.text)
        case "i4", "int":
            guard let number = Int32(text) else { throw Fault(typed, "`\(typed.name)` is no number of 32 bits") }
            return .integer(Int64(number))
        case "i8":
            guard let number = Int64(text) else { throw Fault(typed, "`i8` is no number of 64 bits") }
            return .integer(number)
        case "boolean":
            guard text == "0" || text == "1" else { throw Fault(typed, "`boolean` must be 0 or 1") }
            return .bool(text == "1")
        case "double":
            guard let number = jsonNumber(text) else { throw Fault(typed, "`double` is no number") }
            return .double(number)
        case "dateTime.iso8601": return .time(text)
        case "base64":
            guard let bytes = Base64.bytes(typed.text) else { throw Fault(typed, "`base64` is not in its alphabet") }
            return .bytes(bytes)
        case "nil", "ex:nil": return .null
        case "array": return try list(typed)
        case "struct": return try structure(typed)
        default: throw Fault(typed, "`\(typed.name)` is no type of XML-RPC")
        }
    }

    private static func list(_ element: XMLElement) throws(Fault) -> Value {
        guard element.children.count == 1, element.children[0].name == "data" else {
            throw Fault(element, "an array holds one data element")
        }
        var values: [Value] = []
        for child in element.children[0].children { values.append(try value(child)) }
        return .list(values)
    }

    private static func structure(_ element: XMLElement) throws(Fault) -> Value {
        var (members, names): ([Member], Set<String>) = ([], [])
        for member in element.children {
            guard member.name == "member", member.children.count == 2, member.children[0].name == "name" else {
                throw Fault(member, "a struct holds member elements, each with a name and a value")
            }
            let name = member.children[0].text
            guard names.insert(name).inserted else { throw Fault(member, "a name stands twice in one struct") }
            members.append(Member(name, try value(member.children[1])))
        }
        return .structure(members)
    }

    /// Nil: no finite number. What JSON would not take (`+1`, `.5`) is written as JSON would.
    package static func jsonNumber(_ text: String) -> String? {
        guard (1...60).contains(text.utf8.count), let number = Double(text), number.isFinite,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) })
        else { return nil }
        if case .number(let kept)? = try? JSONValue(Array(text.utf8)) { return kept }
        return "\(number)"
    }

    package static func blankless(_ text: String) -> String {
        var rest = text.utf8[...]
        while let byte = rest.first, isBlank(byte) { rest.removeFirst() }
        while let byte = rest.last, isBlank(byte) { rest.removeLast() }
        return String(decoding: rest, as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func isOfMethod(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "_.:/".utf8.contains(byte)
        }
    }
}

extension XMLRPC.Fault {
    fileprivate init(_ element: XMLElement, _ reason: String) { self.init(line: element.line, reason: reason) }
}

/// RFC 4648, 4; line ends and blanks are left out, as mail does it.
public enum Base64 {
    package static func bytes(_ text: String) -> [UInt8]? {
        var (out, bits, count, padding): ([UInt8], UInt32, Int, Int) = ([], 0, 0, 0)
        for byte in text.utf8 where byte != 0x20 && !(0x09...0x0D).contains(byte) {
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let digit = digit(byte) else { return nil }
            bits = bits << 6 | UInt32(digit)
            count = count + 6
            if count >= 8 {
                count -= 8
                out.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        // Only padding may follow in the last group.
        return count < 6 && padding == (3 - out.count % 3) % 3 ? out : nil
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x61 + 26
        case 0x30...0x39: byte - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
