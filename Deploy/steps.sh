# shellcheck shell=bash
# Sourced by install, try and test: where things are, progress lines with times, and logs that are shown on failure.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
state="$root/.drover" # all that is installed or kept for this checkout; git ignores it
mkdir -p "$state/logs"
running=""

say() { printf '%s\n' "drover: $*" >&2; }

fail() {
    say "$*"
    exit 1
}

seconds_since() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", to - from }'; }

# step TEXT LIMIT_S LOG COMMAND…   Runs a command with its output in a log; the log's end is shown when it fails.
step() {
    local text="$1" limit="$2" log="$state/logs/$3.log" from="$EPOCHREALTIME" code=0
    shift 3
    say "$text …"
    # In the background, so that a signal to us ends it at once; timeout hands the signal on to all it started.
    timeout --kill-after=20 "$limit" "$@" >"$log" 2>&1 </dev/null &
    running=$!
    wait "$running" || code=$?
    running=""
    if ((code != 0)); then
        tail -n 40 "$log" >&2
        if ((code == 124 || code == 137)); then fail "$text: not done after $limit s. All of its output: $log"; fi
        fail "$text: failed (exit code $code). All of its output: $log"
    fi
    say "$text: done in $(seconds_since "$from")"
}

stop_running() { if [[ -n "$running" ]]; then kill -TERM "$running" 2>/dev/null || true; fi; }
trap 'stop_running; exit 130' INT
trap 'stop_running; exit 143' TERM HUP

# Prints the path of a Swift of at least 6.3, or says what is missing.
find_swift() {
    local candidate version found=""
    for candidate in "$(command -v swift || true)" /opt/swift/usr/bin/swift "$HOME/.swiftly/bin/swift" \
        "$HOME/.local/share/swiftly/bin/swift"; do
        if [[ -z "$candidate" || ! -x "$candidate" ]]; then continue; fi
        found="$candidate"
        version="$("$candidate" --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+)\.([0-9]+).*/\1 \2/p' | head -n 1)"
        if [[ -n "$version" ]] && ((${version% *} > 6 || (${version% *} == 6 && ${version#* } >= 3))); then
            printf '%s\n' "$candidate"
            return
        fi
    done
    if [[ -n "$found" ]]; then fail "$found is Swift ${version:-of an unknown version}; Drover needs 6.3 or later. See swift.org/install"; fi
    fail "Swift is not on PATH, in /opt/swift or in ~/.swiftly; Drover needs 6.3 or later. See swift.org/install"
}

# up_to_date FILE PATH…   Whether FILE is newer than everything below the paths; a deleted file touches its folder.
up_to_date() {
    local file="$1"
    shift
    [[ -e "$file" && -z "$(find "$@" -newer "$file" -print -quit 2>/dev/null)" ]]
}
