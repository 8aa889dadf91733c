/// Strings as JSON has them.
enum JSONText {
    static func quoted(_ text: String) -> String {
        var json = ""
        append(text, scalarsMax: .max, to: &json)
        return json
    }

    /// Control characters, and what some viewers take for line ends, become escapes.
    static func append(_ text: String, scalarsMax: Int, to json: inout String) {
        json += "\""
        for (count, scalar) in text.unicodeScalars.enumerated() {
            guard count < scalarsMax else {
                json += "…"
                break
            }
            switch scalar {
            case "\"": json += "\\\""
            case "\\": json += "\\\\"
            case "\n": json += "\\n"
            case "\r": json += "\\r"
            case "\t": json += "\\t"
            default:
                if LogValue.isControl(scalar) {
                    // All of them are in the basic plane.
                    let digits = String(scalar.value, radix: 16)
                    json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    json.unicodeScalars.append(scalar)
                }
            }
        }
        json += "\""
    }
}
