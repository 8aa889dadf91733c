import Pipeline
import Testing

struct StagesTests {
    @Test("A topic is one stage's, and what goes out is read by no stage but decisions") func topics() {
        #expect(Set(RecordStage.allCases.map(\.topic)).count == RecordStage.allCases.count)
        for stage in RecordStage.allCases { #expect(RecordStage(topic: stage.topic) == stage) }
        #expect(RecordStage(topic: "drover.others") == nil)
        #expect(Publication.allCases.filter { RecordStage(topic: $0.topic) != nil } == [.decisions])
    }
}
