internal import Basics
internal import Codecs
internal import Formats
internal import HTTPServer
internal import Presentation

/// A form of a page as the request that an app would send, and the answer to it in words for people.
struct FormRequest {
    /// The page's labels for the request's keys.
    private static var labels: KeyValuePairs<String, String> {
        [
            "from_latitude_deg": t("the latitude of the start"), "from_longitude_deg": t("the longitude of the start"),
            "to_latitude_deg": t("the latitude of the destination"),
            "to_longitude_deg": t("the longitude of the destination"),
            "from_address": t("the address of the start"), "to_address": t("the address of the destination"),
            "latitude_deg": t("the latitude"), "longitude_deg": t("the longitude"),
            "passengers": t("the number of passengers"), "description": t("the description"),
            "reason": t("the reason"), "capacity": t("the number of seats"), "vehicle": t("the vehicle's id"),
        ]
    }

    let request: Request

    /// - Parameters:
    ///   - numbers, texts: fields that are said, where somebody filled them in.
    ///   - said: what the form says without asking.
    init(
        _ request: Request, _ fields: FormFields, numbers: [String] = [], texts: [String] = [],
        said: [JSONValue.Field] = []
    ) {
        var values = said
        for name in numbers {
            let text = (fields[name] ?? "").filter { !$0.isWhitespace }.replacing(",", with: ".")
            guard !text.isEmpty else { continue }
            // A value that is no number goes as text and is refused with its name.
            let number = Decimal.scaled(text.utf8, decimals: 7).map { JSONValue.number(Decimal.text($0, decimals: 7)) }
            values.append((name, number ?? .text(text)))
        }
        for name in texts {
            let lines = (fields[name] ?? "").replacing("\r\n", with: "\n")
            let text = String(lines.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
            if !text.isEmpty { values.append((name, .text(text))) }
        }
        var call = Request(
            method: "POST", path: request.path, headers: ["content-type": "application/json"],
            body: Array(JSONValue.object(values).rendered().utf8), remote: request.remote)
        if let key = fields["key"], !key.isEmpty { call.headers["idempotency-key"] = key }
        call.parameters = request.parameters
        self.request = call
    }

    /// Nil: it was taken.
    static func fault(_ response: Response) -> String? {
        guard response.status >= 400 else { return nil }
        guard let tree = try? JSONValue(response.body), var text = tree["detail"]?.text else {
            return t("This did not work. Try again in a moment.")
        }
        for (key, label) in labels { text = text.replacing("`\(key)`", with: label) }
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    /// Back to the page when it was taken; else `again` says why not.
    static func answer(
        _ response: Response, to page: String, again: @escaping @Sendable (_ why: String, _ status: Int) -> Response
    ) -> Response {
        response.thenPage { response in
            // 202: on the log, and not decided yet.
            let back = page + (response.status == 202 ? "?taken" : "")
            return fault(response).map { again($0, response.status) } ?? .seeOther(back)
        }
    }
}
