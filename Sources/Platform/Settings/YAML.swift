internal import CYaml

/// Reads small YAML files. libyaml, because YAML's quoting and indentation are not ours to write again. Aliases, tags and
/// further documents are refused: nothing of ours needs them.
package enum YAML {
    static let depthMax = 8

    /// The whole file; an empty one is an empty map. Keys that stand twice are all said at once.
    package static func read(_ bytes: [UInt8], name: String) throws(SettingsError) -> YAMLNode {
        let (root, faults, _) = parse(bytes, name)
        guard faults.isEmpty else { throw SettingsError(faults: faults) }
        return root
    }

    /// The parsed tree and its problems: a syntax error ends parsing, a duplicate key does not.
    private static func parse(
        _ bytes: [UInt8], _ name: String
    ) -> (root: YAMLNode, faults: [String], isWhole: Bool) {
        let nothing = YAMLNode(line: 1, value: .map([]))
        var parser = unsafe yaml_parser_t()
        guard unsafe yaml_parser_initialize(&parser) == 1 else { return (nothing, ["\(name): out of memory"], false) }
        defer { unsafe yaml_parser_delete(&parser) }

        var tree = TreeBuilder()
        // The parser keeps the pointer, so all of its work happens inside the closure.
        let fault: String? = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe yaml_parser_set_input_string(&parser, buffer.baseAddress, buffer.count)
            while true {
                var event = unsafe yaml_event_t()
                guard unsafe yaml_parser_parse(&parser, &event) == 1 else {
                    let problem = unsafe parser.problem.map { unsafe String(cString: $0) } ?? "is not YAML"
                    return unsafe "line \(parser.problem_mark.line + 1): is not YAML: \(problem)"
                }
                defer { unsafe yaml_event_delete(&event) }

                if unsafe event.type == YAML_STREAM_END_EVENT { return nil }
                let line = unsafe Int(event.start_mark.line + 1)
                if let fault = unsafe tree.handle(kind(event), line: line) { return "line \(line): \(fault)" }
            }
        }
        let repeated = tree.repeated.map { "line \($0.line): \($0.key) stands twice. Keep one" }
        let faults = repeated + (fault.map { [$0] } ?? [])
        return (tree.root ?? nothing, faults.map { "\(name): \($0)" }, fault == nil)
    }

    private static func kind(_ event: yaml_event_t) -> TreeBuilder.Event {
        switch unsafe event.type {
        case YAML_MAPPING_START_EVENT: return .mapStarted
        case YAML_SEQUENCE_START_EVENT: return .listStarted
        case YAML_MAPPING_END_EVENT, YAML_SEQUENCE_END_EVENT: return .ended
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            return unsafe .scalar(
                String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self))
        case YAML_ALIAS_EVENT: return .alias
        default: return .other
        }
    }

    /// Nested maps of scalars become dotted keys.
    package static func flatten(_ bytes: [UInt8], name: String) throws(SettingsError) -> [String: String] {
        let source = settings(bytes, name: name)
        guard source.faults.isEmpty else { throw SettingsError(faults: source.faults) }
        return source.values
    }

    /// A settings file, with what is wrong with it as YAML.
    package static func settings(_ bytes: [UInt8], name: String) -> SettingSource {
        var source = SettingSource(name, [:], origin: .file)
        let (root, faults, isWhole) = parse(bytes, name)
        source.faults = faults
        source.isWhole = isWhole
        switch root.value {
        case .map(let entries): flatten(entries, "", &source)
        // A file of comments, or with nothing but `---`.
        case .text(""): break
        case .text, .list: source.faults.append("\(name): line \(root.line): must be `key: value` lines")
        }
        return source
    }

    private static func flatten(_ entries: [YAMLNode.Entry], _ path: String, _ source: inout SettingSource) {
        for entry in entries {
            let key = path + entry.key
            let place = "\(source.name): line \(entry.node.line): \(key)"
            switch entry.node.value {
            case .text(let text):
                if let line = source.lines[key] {
                    source.faults.append("\(place): stands twice, first on line \(line). Keep one")
                } else {
                    (source.values[key], source.lines[key]) = (text, entry.node.line)
                }
            case .map(let inner): flatten(inner, key + ".", &source)
            case .list:
                source.faults.append(
                    "\(place): lists are not settings; write `key: value`, several values with commas")
            }
        }
    }
}

/// A value of a YAML file and the line on which it begins, counted from 1.
package struct YAMLNode: Sendable {
    package struct Entry: Sendable {
        package let key: String
        package let node: YAMLNode
    }

    package enum Value: Sendable {
        case text(String)
        /// In the order of the file; no key stands twice.
        case map([Entry])
        case list([YAMLNode])
    }

    package let line: Int
    package let value: Value
}

/// Facts in (YAML events), a tree out.
struct TreeBuilder {
    enum Event: Equatable { case mapStarted, listStarted, ended, scalar(String), alias, other }

    private struct Open {
        let line: Int
        let isMap: Bool
        var key: String?
        var entries: [YAMLNode.Entry] = []
        var items: [YAMLNode] = []
    }

    private(set) var root: YAMLNode?
    /// Keys that stood in their map already; their values are left out.
    private(set) var repeated: [(key: String, line: Int)] = []
    private var open: [Open] = []

    /// The problem, or nil.
    mutating func handle(_ event: Event, line: Int) -> String? {
        switch event {
        case .other: return nil
        case .alias: return "aliases are not read; write the value again"
        case .mapStarted, .listStarted:
            if open.count >= YAML.depthMax { return "nested deeper than \(YAML.depthMax)" }
            if let last = open.last, last.isMap, last.key == nil { return "a key must be plain text" }
            open.append(Open(line: line, isMap: event == .mapStarted))
            return nil
        case .ended:
            let done = open.removeLast()
            return put(YAMLNode(line: done.line, value: done.isMap ? .map(done.entries) : .list(done.items)))
        case .scalar(let text):
            guard let last = open.last, last.isMap, last.key == nil else {
                return put(YAMLNode(line: line, value: .text(text)))
            }
            if last.entries.contains(where: { $0.key == text }) { repeated.append((text, line)) }
            open[open.count - 1].key = text
            return nil
        }
    }

    private mutating func put(_ node: YAMLNode) -> String? {
        guard let last = open.last else {
            if root != nil { return "a second document; only one is read" }
            root = node
            return nil
        }
        if last.isMap {
            if !last.entries.contains(where: { $0.key == last.key }) {
                open[open.count - 1].entries.append(YAMLNode.Entry(key: last.key!, node: node))
            }
            open[open.count - 1].key = nil
        } else {
            open[open.count - 1].items.append(node)
        }
        return nil
    }
}
