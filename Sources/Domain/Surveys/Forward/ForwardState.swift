/// The state of a version that goes to a collector.
package enum ForwardState: String, CaseIterable, Sendable { case waiting, sent, refused, stopped }
