internal import Clients
internal import Foundation
internal import Telemetry

/// The access to one service.
package struct ServiceSettings: Sendable {
    package var address: ServiceAddress
    package var limits: CallLimits
    package var caFile: String?
    /// One whole request.
    package var timeoutMs: Int
    /// The longest wait of a caller for its turn.
    package var patienceMs: Int64 = 3_000
    package var breaker = CircuitBreaker.Rules()
    /// The contact for the service's owner (`User-Agent`).
    package var userAgent = "drover"
    package var metrics: ExternalServiceMetrics?

    package init(address: ServiceAddress, limits: CallLimits, caFile: String?, timeoutMs: Int) {
        self.address = address
        self.limits = limits
        self.caFile = caFile
        self.timeoutMs = timeoutMs
    }
}

/// One external service: calls it within its limits, pauses while it is not well, and accepts only whole JSON answers of a bounded size.
/// For one thread.
final class ExternalService {
    static let bodyBytesMax = 4 << 20
    private static let waitMsMax: Int64 = 86_400_000
    /// For a 429 that does not say.
    private static let waitMsStandard: Int64 = 60_000
    private static let refusedMs: Int64 = 300_000

    let name: String
    let settings: ServiceSettings
    let ledger: SharedCallLimits
    private let database: SharedDatabase
    private let client: HTTPSClient

    init(
        _ name: String, budget: String? = nil, _ settings: ServiceSettings, _ database: SharedDatabase
    ) throws {
        self.name = name
        self.settings = settings
        self.database = database
        var rules = settings.breaker
        rules.trialMs = Int64(settings.timeoutMs) + settings.patienceMs + 5_000
        ledger = SharedCallLimits(service: name, budget: budget ?? name, limits: settings.limits, rules: rules)
        var limits = HTTPSClient.Limits()
        limits.bodyBytesMax = ExternalService.bodyBytesMax
        limits.totalMs = settings.timeoutMs
        limits.connectMs = settings.timeoutMs
        client = try HTTPSClient(
            caFile: settings.caFile, limits: limits, isPlainAllowed: settings.address.isPlain)
    }

    /// Calls and decodes. `read` throws for what it cannot read, and counts what it drops.
    /// - Parameters:
    ///   - path: with its query, which may hold a key and is not repeated in errors.
    ///   - timeoutMs: less than the setting, when the caller has less time.
    func ask<T>(
        _ path: String, timeoutMs: Int? = nil, _ read: ([UInt8], inout Int) throws -> T
    ) throws(ServiceError) -> T {
        do throws(ServiceError) {
            let value = try askUncounted(path, timeoutMs: timeoutMs, read)
            settings.metrics?.answered(name, dropped: value.dropped)
            return value.answer
        } catch {
            settings.metrics?.failed(name, error.reason)
            throw error
        }
    }

    private func askUncounted<T>(
        _ path: String, timeoutMs: Int?, _ read: ([UInt8], inout Int) throws -> T
    ) throws(ServiceError) -> (answer: T, dropped: Int) {
        let begun = Clock.steadyMs()
        let patience = min(settings.patienceMs, timeoutMs.map { Int64($0) } ?? .max)
        let waitMs = try database.run(name) { try ledger.reserve(patienceMs: patience, on: $0) }
        if waitMs > 0 { Thread.sleep(forTimeInterval: Double(waitMs) / 1_000) }
        do throws(ServiceError) {
            var dropped = 0
            let body = try fetch(path, timeoutMs: timeoutMs.map { max(1, $0 - Int(Clock.steadyMs() - begun)) })
            let value: T
            do { value = try read(body, &dropped) } catch let error as ServiceError { throw error } catch {
                throw ServiceError(name, .unreadable, "\(error)")
            }
            // The answer counts, even where it cannot be noted.
            try? database.run(name) { try ledger.succeeded(dropped: dropped, on: $0) }
            return (value, dropped)
        } catch {
            // This process knows of the failure even where it cannot be noted for the others.
            try? database.run(name) { try ledger.failed(error, on: $0) }
            throw error
        }
    }

    private func fetch(_ path: String, timeoutMs: Int?) throws(ServiceError) -> [UInt8] {
        let reply: Reply
        do throws(RequestError) {
            reply = try client.ask(
                settings.address.base + path,
                headers: [("Accept", "application/json"), ("User-Agent", settings.userAgent)], totalMs: timeoutMs)
        } catch { throw ServiceError(name, .unreachable, error.reason) }
        let isToWait = reply.status == 429 || reply.status == 503 && reply.headers["retry-after"] != nil
        switch reply.status {
        case 200:
            let type = reply.headers["content-type"] ?? ""
            guard type.lowercased().hasPrefix("application/json") || type.isEmpty else {
                throw ServiceError(name, .unreadable, "its answer is not JSON by its content type")
            }
            return reply.body
        case _ where isToWait:
            let ms = RetryAfter.ms(reply.headers["retry-after"], nowMs: Clock.nowMs()) ?? ExternalService.waitMsStandard
            throw ServiceError(
                name, .toldToWait, "it asked us to come back later (status \(reply.status))",
                retryAtMs: Clock.nowMs() + min(ms, ExternalService.waitMsMax))
        case 401, 403:
            throw ServiceError(
                name, .refused, "it refuses us (status \(reply.status)): check its key and who may ask it",
                retryAtMs: Clock.nowMs() + ExternalService.refusedMs)
        case 400, 404, 422:
            throw ServiceError(name, .noAnswer, "it has no answer to this (status \(reply.status))")
        case 300...399:
            throw ServiceError(
                name, .status, "it sends us elsewhere (status \(reply.status)), where we do not follow: set its address"
            )
        default: throw ServiceError(name, .status, "status \(reply.status)")
        }
    }

    func left() throws(ServiceError) -> [CallLimits.Period: Int] {
        try database.run(name) { try ledger.left(on: $0) }
    }
}
