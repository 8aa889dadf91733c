internal import CYaml

/// Reads a settings file: nested maps of scalars become dotted keys. libyaml, because YAML's quoting and indentation
/// are not ours to write again. Lists, aliases, tags and further documents are refused: no setting needs them.
public enum YAML {
    static let depthMax = 8

    public static func flatten(_ bytes: [UInt8], name: String) throws(SettingsError) -> [String: String] {
        var parser = unsafe yaml_parser_t()
        guard unsafe yaml_parser_initialize(&parser) == 1 else {
            throw SettingsError(faults: ["\(name): out of memory"])
        }
        defer { unsafe yaml_parser_delete(&parser) }

        return try unsafe read(&parser, bytes, name)
    }

    private static func read(
        _ parser: inout yaml_parser_t, _ bytes: [UInt8], _ name: String
    ) throws(SettingsError) -> [String: String] {
        var reader = Flattener(name: name)
        // The parser keeps the pointer, so all of its work happens inside the closure.
        let fault: String? = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe yaml_parser_set_input_string(&parser, buffer.baseAddress, buffer.count)
            while true {
                var event = unsafe yaml_event_t()
                guard unsafe yaml_parser_parse(&parser, &event) == 1 else {
                    let problem = unsafe parser.problem.map { unsafe String(cString: $0) } ?? "is not YAML"
                    return unsafe "\(name): line \(parser.problem_mark.line + 1): \(problem)"
                }
                defer { unsafe yaml_event_delete(&event) }

                if unsafe event.type == YAML_STREAM_END_EVENT { return nil }
                let line = unsafe event.start_mark.line + 1
                if let fault = unsafe reader.take(kind(event), line: Int(line)) { return fault }
            }
        }
        if let fault { throw SettingsError(faults: [fault]) }
        return reader.values
    }

    private static func kind(_ event: yaml_event_t) -> Flattener.Event {
        switch unsafe event.type {
        case YAML_MAPPING_START_EVENT: return .mapStarted
        case YAML_MAPPING_END_EVENT: return .mapEnded
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            return unsafe .scalar(
                String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self))
        case YAML_SEQUENCE_START_EVENT, YAML_ALIAS_EVENT: return .refused
        default: return .other
        }
    }
}

/// Facts in (YAML events), dotted keys out.
struct Flattener {
    enum Event { case mapStarted, mapEnded, scalar(String), refused, other }

    let name: String
    var values: [String: String] = [:]
    private var path: [String] = []
    private var key: String?
    private var depth = 0

    init(name: String) { self.name = name }

    /// What is wrong, or nil.
    mutating func take(_ event: Event, line: Int) -> String? {
        switch event {
        case .other: return nil
        case .refused: return "\(name): line \(line): lists and aliases are not settings; write `key: value`"
        case .mapStarted:
            depth += 1
            if depth > YAML.depthMax { return "\(name): line \(line): nested deeper than \(YAML.depthMax)" }
            if let key { path.append(key) }
            key = nil
            return nil
        case .mapEnded:
            depth -= 1
            if !path.isEmpty { path.removeLast() }
            return nil
        case .scalar(let text):
            guard depth > 0 else { return text.isEmpty ? nil : "\(name): line \(line): must be `key: value` lines" }
            guard let last = key else {
                key = text
                return nil
            }
            key = nil
            let dotted = (path + [last]).joined(separator: ".")
            if values[dotted] != nil { return "\(name): line \(line): \(dotted) stands twice" }
            values[dotted] = text
            return nil
        }
    }
}
