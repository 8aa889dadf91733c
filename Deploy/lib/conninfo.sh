# shellcheck shell=bash
# Sourced by backup and restore: connection strings whose passwords nobody else on the machine sees.

# shellcheck disable=SC2034 # of who sources this
conninfo_help="  CONNINFO takes no password: everybody on the machine sees arguments. Put it into ~/.pgpass or a file that PGPASSFILE names, or
  write - for CONNINFO and give the whole string, password and all, as the first line of standard input"

# take_conninfo WORD   Sets conninfo, without its password; that goes to the programs that we start in their environment.
take_conninfo() {
    local line="$1" quoted="password[[:space:]]*=[[:space:]]*('([^'\\\\]|\\\\.)*'|[^[:space:]']+)"
    if [[ "$1" == - ]]; then IFS= read -r line || [[ -n "$line" ]] || refuse_conninfo "standard input is empty: its first line is to be a connection string"; fi
    if [[ "$line" =~ (^|[[:space:]])sslpassword[[:space:]]*= || "$line" =~ ://[^/@]*:[^/@]*@ || "$line" =~ [?\&](ssl)?password= ]]; then
        refuse_conninfo "passwords stand in words of their own, such as 'host=… user=… password=…', and by standard input only"
    fi
    if [[ "$line" =~ (^|[[:space:]])$quoted ]]; then
        if [[ "$1" != - ]]; then refuse_conninfo "it holds a password, and everybody on the machine sees arguments"; fi
        local word="${BASH_REMATCH[0]}" secret="${BASH_REMATCH[2]}"
        if [[ "$secret" == \'* ]]; then
            secret="${secret:1:-1}"
            secret="$(sed -E 's/\\(.)/\1/g' <<<"$secret")"
        fi
        export PGPASSWORD="$secret"
        line="${line/"$word"/}"
    fi
    # shellcheck disable=SC2034 # of who sources this
    conninfo="$line"
}

refuse_conninfo() {
    printf '%s\n' "CONNINFO: $1. --help says how a password is given" >&2
    exit 2
}
