# shellcheck shell=bash
# Sourced by install, try and test: where things are, progress lines with times, and logs that are shown on failure.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
state="$root/.drover" # all that is installed or kept for this checkout; git ignores it
mkdir -p "$state/logs"
running="" watching=""

say() { printf '%s\n' "drover: $*" >&2; }

fail() {
    say "$*"
    exit 1
}

seconds_since() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", to - from }'; }

# step [--shows FUNCTION] TEXT LIMIT_S LOG COMMAND…   Runs a command with its output in a log; the log's end is shown when it fails.
# FUNCTION gets the log's path and prints in one line how far the command is, or nothing.
step() {
    local shows=""
    if [[ "$1" == --shows ]]; then shows="$2" && shift 2; fi
    local text="$1" limit="$2" log="$state/logs/$3.log" from="$EPOCHREALTIME" code=0
    shift 3
    say "$text …"
    # In the background, so that a signal to us ends it at once.
    limited "$limit" "$@" >"$log" 2>&1 </dev/null &
    running=$!
    if [[ -n "$shows" ]]; then
        show_progress "$shows" "$log" </dev/null &
        watching=$!
    fi
    wait "$running" || code=$?
    stop_watching
    if ((code != 0)); then
        stop_running
        tail -n 40 "$log" >&2
        if ((code == 124 || code == 137)); then fail "$text: not done after $limit s. All of its output: $log"; fi
        fail "$text: failed (exit code $code). All of its output: $log"
    fi
    running=""
    say "$text: done in $(seconds_since "$from")"
}

# show_progress FUNCTION LOG   Says what FUNCTION says whenever that is new: on a terminal in one line that is written over, else in a
# line every 10 s at most. Only in the background: it does not end by itself.
show_progress() {
    local line last="" next=0 never
    exec {never}<> <(:) # nothing ever comes from it: a pause without a process that may be left behind
    while true; do
        line="$("$1" "$2")" || true
        if [[ -n "$line" && "$line" != "$last" ]]; then
            if [[ -t 2 ]]; then
                printf '\rdrover: %s\033[K' "$line" >&2
                last="$line"
            elif ((EPOCHSECONDS >= next)); then
                say "$line"
                last="$line" next=$((EPOCHSECONDS + 10))
            fi
        fi
        read -rt 0.5 -u "$never" || true
    done
}

stop_watching() {
    if [[ -z "$watching" ]]; then return; fi
    kill -TERM "$watching" 2>/dev/null || true
    wait "$watching" 2>/dev/null || true
    watching=""
    if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
}

# building LOG   How far `swift build` is, from the last of its lines "[120/640] Compiling Web TripPages.swift".
building() {
    tail -c 8192 "$1" | sed -nE \
        -e 's/^\[([0-9]+)\/([0-9]+)\] (Compiling|Emitting module|Wrapping AST for) ([^ ]+).*/building: \1 of \2 files, \4/p' \
        -e 's/^\[([0-9]+)\/([0-9]+)\] Linking (.+)/building: \1 of \2 files, linking \3/p' | tail -n 1
}

# limited LIMIT_S COMMAND…   Only in the background: it takes the place of the shell, in a session of its own. `timeout` by itself
# does not reach what `swift build` starts, for each compiler is in a process group of its own.
limited() {
    local limit="$1"
    shift
    # sudo remembers by the terminal's session that it was given a password.
    if [[ "$1" == sudo ]]; then exec timeout --kill-after=20 "$limit" "$@"; fi
    exec setsid timeout --kill-after=20 "$limit" "$@"
}

# Prints the processes of a session that have not ended.
of_session() {
    local file line words
    for file in /proc/[0-9]*/stat; do
        # It may end while we look. Its name stands in brackets, and may hold blanks and brackets.
        { read -r line <"$file"; } 2>/dev/null || continue
        read -ra words <<<"${line##*) }"
        if [[ "${words[3]}" == "$1" && "${words[0]}" != Z ]]; then printf '%s\n' "${line%% *}"; fi
    done
}

# Ends all that the running step started, at once or after 5 s.
stop_running() {
    stop_watching
    if [[ -z "$running" ]]; then return; fi
    local left tries signal=TERM
    kill -TERM "$running" 2>/dev/null || true
    for ((tries = 0; tries < 60; tries++)); do
        mapfile -t left < <(of_session "$running")
        if ((${#left[@]} == 0)); then break; fi
        if ((tries >= 50)); then signal=KILL; fi
        if ((tries == 0 || tries >= 50)); then kill -"$signal" "${left[@]}" 2>/dev/null || true; fi
        sleep 0.1
    done
    running=""
}
trap 'stop_running; exit 130' INT
trap 'stop_running; exit 143' TERM HUP

# Prints the path of a Swift of at least 6.3, or says what is missing.
find_swift() {
    local candidate version found=""
    for candidate in "$(command -v swift || true)" /opt/swift/usr/bin/swift "$HOME/.swiftly/bin/swift" \
        "$HOME/.local/share/swiftly/bin/swift" "$state/swift/usr/bin/swift"; do
        if [[ -z "$candidate" || ! -x "$candidate" ]]; then continue; fi
        found="$candidate"
        version="$("$candidate" --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+)\.([0-9]+).*/\1 \2/p' | head -n 1)"
        if [[ -n "$version" ]] && ((${version% *} > 6 || (${version% *} == 6 && ${version#* } >= 3))); then
            printf '%s\n' "$candidate"
            return
        fi
    done
    if [[ -n "$found" ]]; then
        version="${version:-of an unknown version}"
        fail "$found is Swift ${version/ /.}; Drover needs 6.3 or later. Deploy/install fetches it"
    fi
    fail "Swift is not on PATH, in /opt/swift, in ~/.swiftly or in .drover/swift; Drover needs 6.3 or later. Deploy/install fetches it"
}

# need_space MB WHAT   Ends when there is not that much room for WHAT below the checkout.
need_space() {
    local free
    free="$(df -Pm "$state" | awk 'NR == 2 { print $4 }')"
    if ((free < $1)); then fail "$2 needs $1 MB, and on the disk of $state only $free MB are free: make room there, or move the checkout"; fi
}

# newer FILE PATH…   Says what below the paths is newer than FILE, in one line; nothing: FILE is up to date. A deleted file touches
# its folder.
newer() {
    local file="$1" found
    shift
    if [[ ! -e "$file" ]]; then printf '%s is not there yet\n' "${file#"$root"/}" && return; fi
    mapfile -t found < <(find "$@" -path '*/Web/Assets' -prune -o -newer "$file" -print 2>/dev/null)
    case ${#found[@]} in
        0) ;;
        1) printf '%s is newer than %s\n' "${found[0]#"$root"/}" "${file#"$root"/}" ;;
        *) printf '%s and %s more are newer than %s\n' "${found[0]#"$root"/}" $((${#found[@]} - 1)) "${file#"$root"/}" ;;
    esac
}
