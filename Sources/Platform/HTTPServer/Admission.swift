/// Whether somebody may send a body that is not small. Asked when the headers are here and nothing of the body is.
package enum Admission: Sendable {
    /// The account that body bytes are counted for, whatever address they come from.
    case known(String)
    /// Small bodies only; this is what a larger one gets.
    case stranger(Response)
}
