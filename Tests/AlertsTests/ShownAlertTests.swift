import Alerts
import Codecs
import Formats
import Testing

@Suite("Alerts in the account's units")
struct ShownAlertTests {
    @Test(
        "Speed and temperature are converted, everything else stays",
        arguments: [
            (
                #"{"unit":"km/h","threshold":128.748,"worst_value":160,"revision":3}"#,
                #"{"unit":"mph","threshold":80,"worst_value":99.419,"revision":3}"#
            ),
            (
                #"{"threshold":104.444,"unit":"°C","opening_value":-40}"#,
                #"{"threshold":219.999,"unit":"°F","opening_value":-40}"#
            ),
            (#"{"unit":"V","threshold":11.8,"late":true}"#, #"{"unit":"V","threshold":11.8,"late":true}"#),
            (#"{"alert":"x","unit":"","advice":null}"#, #"{"alert":"x","unit":"","advice":null}"#),
        ])
    func us(stored: String, shown: String) throws {
        let fields = try FlatJSON.fields(Array(stored.utf8), bytesMax: 1_000)
        #expect(JSONValue.object(ShownAlert.fields(fields, in: .us)).rendered() == shown)
        #expect(JSONValue.object(ShownAlert.fields(fields, in: .metric)).rendered() == stored)
    }
}
