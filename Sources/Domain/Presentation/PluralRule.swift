/// Which form of a text a number takes, as gettext writes it: `nplurals=2; plural=(n != 1);`
package struct PluralRule: Sendable {
    package static let english = try! PluralRule("nplurals=2; plural=n != 1")

    package struct Fault: Error, CustomStringConvertible {
        package let description: String
    }

    private indirect enum Node: Sendable {
        case number(Int)
        case n
        case unary(Node)
        case binary(String, Node, Node)
        case choice(Node, Node, Node)
    }

    private static let bytesMax = 1_000
    private static let depthMax = 40
    private static let formsMax = 6

    package let forms: Int
    private let root: Node

    package init(_ text: String) throws(Fault) {
        func field(_ name: String) -> String? {
            text.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
                .first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
        }
        guard text.utf8.count <= PluralRule.bytesMax, let forms = field("nplurals").flatMap({ Int($0) }),
            (1...PluralRule.formsMax).contains(forms), let plural = field("plural")
        else { throw Fault(description: "Plural-Forms must be `nplurals=N; plural=EXPRESSION;` with N of 1 to 6") }
        var parser = Parser(plural)
        let root = try parser.choice(0)
        guard parser.isAtEnd else { throw Fault(description: "Plural-Forms: `\(parser.rest)` is not understood") }
        (self.forms, self.root) = (forms, root)
        // A rule that names a form that there is none of is a mistake that a page would show.
        for number in 0...1_000 {
            let form = PluralRule.value(root, number)
            guard (0..<forms).contains(form) else {
                throw Fault(description: "Plural-Forms: the number \(number) takes form \(form), of \(forms)")
            }
        }
    }

    func form(of count: Int) -> Int {
        let form = PluralRule.value(root, Int(clamping: count.magnitude))
        return (0..<forms).contains(form) ? form : 0
    }

    private static func value(_ node: Node, _ n: Int) -> Int {
        switch node {
        case .number(let number): number
        case .n: n
        case .unary(let node): value(node, n) == 0 ? 1 : 0
        case .choice(let asked, let yes, let no): value(asked, n) != 0 ? value(yes, n) : value(no, n)
        case .binary(let sign, let left, let right): value(sign, value(left, n), value(right, n))
        }
    }

    private static func value(_ sign: String, _ left: Int, _ right: Int) -> Int {
        switch sign {
        case "||": left != 0 || right != 0 ? 1 : 0
        case "&&": left != 0 && right != 0 ? 1 : 0
        case "==": left == right ? 1 : 0
        case "!=": left != right ? 1 : 0
        case "<": left < right ? 1 : 0
        case ">": left > right ? 1 : 0
        case "<=": left <= right ? 1 : 0
        case ">=": left >= right ? 1 : 0
        case "+": left &+ right
        case "-": left &- right
        case "*": left &* right
        case "/": right > 0 ? left / right : 0
        default: right > 0 ? left % right : 0
        }
    }

    /// For scripts, which may not evaluate text: `["?",["!=","n",1],1,0]`.
    var json: String { PluralRule.json(root) }

    private static func json(_ node: Node) -> String {
        switch node {
        case .number(let number): "\(number)"
        case .n: "\"n\""
        case .unary(let node): "[\"!\",\(json(node))]"
        case .choice(let asked, let yes, let no): "[\"?\",\(json(asked)),\(json(yes)),\(json(no))]"
        case .binary(let sign, let left, let right): "[\"\(sign)\",\(json(left)),\(json(right))]"
        }
    }

    /// The expressions of C that gettext takes, without white space.
    private struct Parser {
        /// From the loosest to the tightest; within one, longer signs first.
        private static let levels = [
            ["||"], ["&&"], ["==", "!="], ["<=", ">=", "<", ">"], ["+", "-"], ["*", "/", "%"],
        ]
        private let signs: [Character]
        private var at = 0

        init(_ text: String) { signs = Array(text) }

        var isAtEnd: Bool { at == signs.count }
        var rest: String { String(signs[at...]) }

        private mutating func takes(_ sign: String) -> Bool {
            guard signs[at...].starts(with: sign) else { return false }
            at += sign.count
            return true
        }

        mutating func choice(_ depth: Int) throws(Fault) -> Node {
            guard depth < PluralRule.depthMax else { throw Fault(description: "Plural-Forms: too deep") }
            let asked = try binary(0, depth + 1)
            guard takes("?") else { return asked }
            let yes = try choice(depth + 1)
            guard takes(":") else { throw Fault(description: "Plural-Forms: a `?` without its `:`") }
            return .choice(asked, yes, try choice(depth + 1))
        }

        private mutating func binary(_ level: Int, _ depth: Int) throws(Fault) -> Node {
            guard level < Parser.levels.count else { return try single(depth) }
            var left = try binary(level + 1, depth)
            var count = 0
            while let sign = Parser.levels[level].first(where: { takes($0) }) {
                count += 1
                guard count < PluralRule.depthMax else { throw Fault(description: "Plural-Forms: too long") }
                left = .binary(sign, left, try binary(level + 1, depth))
            }
            return left
        }

        private mutating func single(_ depth: Int) throws(Fault) -> Node {
            guard depth < PluralRule.depthMax else { throw Fault(description: "Plural-Forms: too deep") }
            if takes("!") { return .unary(try single(depth + 1)) }
            if takes("n") { return .n }
            if takes("(") {
                let inner = try choice(depth + 1)
                guard takes(")") else { throw Fault(description: "Plural-Forms: a `(` without its `)`") }
                return inner
            }
            let digits = signs[at...].prefix(9).prefix { $0.isASCII && $0.isNumber }
            guard let number = Int(String(digits)) else {
                throw Fault(description: "Plural-Forms: `\(rest)` is not understood")
            }
            at += digits.count
            return .number(number)
        }
    }
}
