# shellcheck shell=bash disable=SC2034,SC2154 # `prove` sets them, the scenario uses them.
# Runs commands on the two hosts, and compares their settings.

declare -A watch=()

# Sets `words` to the words of a command line that runs the command on a host.
words_of() {
    local home=$place/$1
    words=(env -i "PATH=$PATH" "HOME=$home" "XDG_CONFIG_HOME=$home/config" "XDG_STATE_HOME=$home/state"
        "XDG_DATA_HOME=$home/data" "XDG_CONFIG_DIRS=$home/etc" "XDG_DATA_DIRS=$home/share" "$prefs")
    if [ "$medium" = syncthing ]; then words=(nsenter "--net=/run/netns/$(namespace "$1")" "${words[@]}"); fi
}

on() {
    local words
    words_of "$1"
    shift
    "${words[@]}" "$@"
}

start_watch() {
    local words
    words_of "$1"
    words+=(mirror watch)
    # Where the kernel does not report the changes of other hosts, only polling finds them.
    if has_no_news; then words+=(--eager); fi
    start "watch-$1" "${words[@]}"
    watch[$1]=$!
}

has_no_news() { [ "$(stat -f -c %T "$place/a/medium")" = fuseblk ]; }

# --- the settings of the hosts ---------------------------------------------------------------------------------------

# Whether a command on a host ends with the status.
ends_with() {
    local status=0 wanted=$1
    shift
    on "$@" > "$place/output" 2>&1 || status=$?
    [ "$status" -eq "$wanted" ]
}

is() { [ "$(on "$1" read "$2" "$3" 2> /dev/null)" = "$4" ]; }

both_have() { is a "$@" && is b "$@"; }

are_equal() {
    on a read --format xml > "$place/all-of-a" && on b read --format xml > "$place/all-of-b" || return
    cmp -s "$place/all-of-a" "$place/all-of-b"
}

# Prints the state of both hosts after a failure.
tell_state() {
    local host words
    for host in a b; do
        echo "--- $medium, host $host"
        words_of "$host"
        timeout 5 "${words[@]}" mirror status
        "${words[@]}" read
        tail -n 20 "$place/watch-$host.log"
    done
    grep -F " $place" /proc/self/mounts
    tail -n 20 "$place"/s*.log
} 2>&1
