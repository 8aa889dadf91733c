internal import Gateways
internal import HTTP

extension UploadSender {
    /// What a form said goes on the log. Nil: it is there; else what whoever sent it is told.
    func refusal(_ upload: Upload) -> Response? {
        if case .acknowledged = send(upload) { return nil }
        return Response.problem(
            503, type: "broker-away",
            detail: "This cannot be stored right now. Go back and send it again in a moment: it counts once."
        ).with("Retry-After", "10")
    }
}
