internal import Telemetry

/// The gateway's figures, by the names that Prometheus reads.
struct GatewayMetrics: Sendable {
    let polls: Family<Counter>
    let readings: Counter
    let droppedFields: Counter
    let pushed: Counter
    let boxes: Gauge
    let withoutContact: Gauge
    let refused: Gauge
    let connections: Gauge
    let spoolBytes: Gauge
    let spoolRecords: Gauge
    let pollTime: Durations
    let sessions: Family<Counter>
    let carReadings: Counter
    let adapterRequests: Counter
    let adapterNotes: Counter
    let adapters: Gauge
    let adaptersPolling: Gauge
    let adaptersWithoutContact: Gauge
    let adapterConnections: Gauge

    init(_ metrics: Metrics) {
        polls = metrics.counters(
            "drover_gateway_polls_total", "Polls of boxes that ended, by how.", ["result": ["done"] + BoxFault.labels])
        readings = metrics.counter("drover_gateway_readings_total", "Readings taken from boxes into the spool.")
        droppedFields = metrics.counter(
            "drover_gateway_fields_dropped_total", "Fields of boxes' readings whose value was impossible.")
        pushed = metrics.counter("drover_gateway_pushed_total", "Readings that the broker has acknowledged.")
        boxes = metrics.gauge("drover_gateway_boxes", "Boxes that are polled.")
        withoutContact = metrics.gauge("drover_gateway_boxes_without_contact", "Boxes that do not answer.")
        refused = metrics.gauge(
            "drover_gateway_boxes_refused",
            "Boxes and adapters that are not polled: plain TCP to an address that is not allowed.")
        connections = metrics.gauge("drover_gateway_connections", "Connections to boxes that are open.")
        spoolBytes = metrics.gauge("drover_gateway_spool_bytes", "Bytes that the spool's file holds.")
        spoolRecords = metrics.gauge("drover_gateway_spool_records", "Readings that wait for the broker.")
        pollTime = metrics.durations("drover_gateway_poll_seconds", "Time from connecting to the end of a poll.")
        sessions = metrics.counters(
            "drover_gateway_adapter_sessions_total", "Sessions with adapters that ended, by how.",
            ["result": ["parked"] + AdapterFault.labels])
        carReadings = metrics.counter("drover_gateway_car_readings_total", "Readings taken from adapters.")
        adapterRequests = metrics.counter(
            "drover_gateway_adapter_requests_total", "Commands and requests sent to adapters.")
        adapterNotes = metrics.counter(
            "drover_gateway_adapter_useless_answers_total", "Answers of adapters that were of no use.")
        adapters = metrics.gauge("drover_gateway_adapters", "Adapters that are polled.")
        adaptersPolling = metrics.gauge("drover_gateway_adapters_polling", "Adapters whose car is driving.")
        adaptersWithoutContact = metrics.gauge(
            "drover_gateway_adapters_without_contact", "Adapters that cannot be talked to.")
        adapterConnections = metrics.gauge(
            "drover_gateway_adapter_connections", "Connections to adapters that are open.")
    }

    var ofBoxes: DeviceGauges {
        DeviceGauges(polled: boxes, withoutContact: withoutContact, connections: connections)
    }
    var ofAdapters: DeviceGauges {
        DeviceGauges(polled: adapters, withoutContact: adaptersWithoutContact, connections: adapterConnections)
    }
}
