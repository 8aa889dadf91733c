internal import Ingest
package import Telemetry
internal import Threads

/// Dependencies of gateways for boxes and for adapters.
struct GatewayDependencies {
    let settings: GatewaySettings
    let spool: Spool
    let registry: DeviceRegistry
    let drain: SpoolDrain
    let metrics: GatewayMetrics
    let health: Health
    let log: Log
}

/// Polls boxes (MTG) and cars' adapters (OBD-II), each kind on a thread of its own, into one spool that is drained to
/// the broker.
package final class Gateway {
    private let parts: GatewayDependencies
    private let boxes: DevicePoller<BoxDriver>
    private let adapters: DevicePoller<AdapterDriver>
    private let debugLogs: DebugLogRequests

    /// - Throws: `SpoolError` when the spool's file cannot be used.
    package init(_ settings: GatewaySettings, metrics: Metrics, health: Health = Health(), log: Log) throws {
        let metrics = GatewayMetrics(metrics)
        let spool = try Spool(path: settings.spoolPath)
        parts = GatewayDependencies(
            settings: settings, spool: spool,
            registry: DeviceRegistry(
                conninfo: settings.conninfo, intervalS: settings.registryIntervalS, plain: settings.plain,
                reach: settings.reach, refused: metrics.refused, loop: health.loop("registry", patience: 10), log: log),
            drain: SpoolDrain(
                spool, settings.kafka, prepareTopics: settings.prepareTopics, pushed: metrics.pushed,
                loop: health.loop("drain", patience: 10), log: log),
            metrics: metrics, health: health, log: log)
        boxes = try DevicePoller(try BoxDriver(parts), parts)
        adapters = try DevicePoller(AdapterDriver(parts), parts)
        debugLogs = DebugLogRequests(parts, loop: health.loop("debug logs", patience: 10))
        let bytesMax = settings.spoolBytesMax
        health.check("spool") {
            let bytes = spool.bytes
            return bytes < bytesMax
                ? .well("\(spool.count) readings wait, \(bytes) of \(bytesMax) bytes")
                : .ill("is full: \(bytes) of \(bytesMax) bytes; boxes are not polled and keep their readings")
        }
    }

    /// Returns when `shouldStop` says so. What was given by then is in the spool or at the broker.
    package func run(shouldStop: () -> Bool) {
        parts.log.info(
            "gateway started", ["spooled": "\(parts.spool.count)", "spool": "\(parts.settings.spoolPath)"])
        parts.registry.start()
        parts.drain.start()
        debugLogs.start()
        let cars = WorkerThread("adapters", loop: parts.health.loop("adapters")) { [adapters] in
            adapters.run(shouldStop: $0)
        }
        let loop = parts.health.loop("boxes")
        boxes.run { loop.asking(shouldStop) }
        loop.ended()
        cars.stop()
        debugLogs.stop()
        parts.registry.stop()
        parts.drain.stop()
        parts.log.info("gateway stopped", ["spooled": "\(parts.spool.count)"])
    }
}
