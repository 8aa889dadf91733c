"""Processes whose clock shows another time, for what is about a time of the day or a date: no test waits for one or avoids one."""
import glob


def faked_clock(moment):
    """The environment of a process whose clock shows this moment, like `2026-06-15 09:10:00` in UTC, when it starts, and goes on from there.
    What measures spans of time goes on as it is. PostgreSQL has its own clock: `now()` in a query is not faked."""
    libraries = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    assert libraries, "no /usr/lib/*/faketime/libfaketimeMT.so.1; run Deploy/install --test"
    return {
        "LD_PRELOAD": libraries[0], "FAKETIME": f"@{moment}", "TZ": "UTC", "FAKETIME_NO_CACHE": "1",
        # Versions of the library differ in the name.
        "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        # The library sets it where it is not set, which moves the environment away from the arguments; Swift finds these beside it.
        "FAKETIME_SHARED": "/none /none"}
