"""Packed samples read by docs/packed-samples.md alone, beside the program's own decoder."""
SIGNALS = ["speed_kmh", "rpm", "maf_gps", "maf_calculated_gps", "fuel_rate_lph", "coolant_c", "voltage_v", "map_kpa", "intake_air_c",
           "load_pct", "throttle_pct", "fuel_level_pct", "ambient_c", "latitude_deg", "longitude_deg"]


def varints(data):
    number, shift = 0, 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield number
            number, shift = 0, 0


def readings(data, minute_ms):
    """[(ts, {signal: thousandths})], in the order of time."""
    assert data[0] == 1
    numbers = varints(data[1:])
    times, masks, last = [], [], minute_ms
    for _ in range(count := next(numbers)):
        last += next(numbers)
        times.append(last)
    while len(masks) < count:
        mask = next(numbers)
        masks += [mask] * next(numbers)
    found = [(ts, {}) for ts in times]
    for number, signal in enumerate(SIGNALS):
        value = 0
        for (_, values), mask in zip(found, masks):
            if mask >> number & 1:
                zigzag = next(numbers)
                value += zigzag >> 1 if zigzag & 1 == 0 else -(zigzag >> 1) - 1
                values[signal] = value
    assert next(numbers, None) is None
    return found
