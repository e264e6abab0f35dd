# shellcheck shell=bash disable=SC2154 # `prove` sets them.
# The actions of two hosts that share a medium, and the expected results.

# The longest wait for a condition, in seconds. Only a hang takes that long.
patience=120
# How many entries each host writes while the medium is cut off and comes back.
most=40

play() {
    begin_mirror
    write_on_both
    apply_whole
    part_and_differ
    lose_sight_while_writing
    come_to_an_end
}

begin_mirror() {
    local host
    cat > "$place/merged.schema.plist" <<'END'
{ Domain = "com.example.merged"; Settings = ({ Key = colours; Type = dictionary; Merge = YES; }); }
END
    ends_with 13 b mirror join "$place/b/medium/settings" || fail 'a mirror exists before it was created'
    on a mirror init "$place/a/medium/settings" --label a
    eventually "$patience" 'b can join' ends_with 0 b mirror join "$place/b/medium/settings" --label b
    for host in a b; do
        on "$host" schema install "$place/merged.schema.plist"
        on "$host" mirror add 'com.example.*'
        start_watch "$host"
    done
}

write_on_both() {
    local number start
    for number in 1 2 3; do
        on a write "com.example.of-a-$number" key -int "$number"
        on b write "com.example.of-b-$number" key -int "$number"
    done
    for number in 1 2 3; do
        eventually "$patience" "both have what a wrote, $number" both_have "com.example.of-a-$number" key "$number"
        eventually "$patience" "both have what b wrote, $number" both_have "com.example.of-b-$number" key "$number"
    done
    # The mirror stores long values in separate files.
    head -c 300000 /dev/urandom > "$place/long"
    on a write com.example.of-a-1 long -data "@$place/long"
    eventually "$patience" 'a long value comes' are_equal
    start=${EPOCHREALTIME/./}
    on b write com.example.calm key now
    eventually "$patience" 'a calm write comes' both_have com.example.calm key now
    echo "$medium: a write came after $(((${EPOCHREALTIME/./} - start) / 1000)) ms"
}

# Several domains that are set together arrive on the other host as one transaction.
apply_whole() {
    echo '{ com.example.x = { n = 1; }; com.example.y = { n = 1; }; com.example.z = { n = 1; }; }' > "$place/all.plist"
    on a apply --domains "$place/all.plist"
    eventually "$patience" 'an apply comes whole' came_whole
}

came_whole() {
    local name
    for name in x y z; do
        is b "com.example.$name" n 1 || return
        # The version is stored right after the write.
        on b history "com.example.$name" --format json 2> /dev/null | grep -m 1 '"transaction"' || return
    done > "$place/transactions"
    [ "$(sort -u "$place/transactions" | wc -l)" -eq 1 ]
}

# While disconnected, both hosts change the same key, and different entries of one dictionary.
part_and_differ() {
    on a write com.example.merged colours -dict ground white
    on a write com.example.conflict key neither
    eventually "$patience" 'both begin with the same' both_have com.example.conflict key neither
    eventually "$patience" 'both have the dictionary' are_equal
    "${medium}_away"
    see_it_gone
    on a write com.example.conflict key first
    on a write com.example.merged colours -dict-add text black
    on b write com.example.conflict key second
    on b write com.example.merged colours -dict-add link blue
    is a com.example.conflict key first || fail 'a write has no effect on its own host'
    "${medium}_back"
    eventually "$patience" 'the later write is in force' both_have com.example.conflict key second
    eventually "$patience" 'all entries are there' all_colours
    local host name
    for host in b a; do
        eventually "$patience" "$host lists the conflict" ends_with 9 "$host" mirror conflicts
        grep -q 'com.example.conflict :key  replaced by b' "$place/output" || fail "conflicts: $(cat "$place/output")"
    done
    name=$(awk '/com.example.conflict :key/ { print $1; exit }' "$place/output")
    ends_with 0 a mirror sync || fail 'a sync fails because of an open conflict'
    ends_with 9 a mirror sync --check || fail 'sync --check does not report the conflict'
    on a mirror conflicts restore "$name"
    eventually "$patience" 'what lost is restored' both_have com.example.conflict key first
    eventually "$patience" 'no host lists it now' ends_with 0 b mirror conflicts
}

all_colours() {
    local host
    for host in a b; do
        is "$host" com.example.merged :colours:ground white || return
        is "$host" com.example.merged :colours:text black || return
        is "$host" com.example.merged :colours:link blue || return
    done
}

# Without the medium, the hosts report that it is missing, and create nothing in the empty mount point.
see_it_gone() {
    [ "$medium" != syncthing ] || return 0
    eventually "$patience" 'the status reports that the directory is unavailable' ends_with 13 a mirror status
    eventually "$patience" 'a sync reports it too' ends_with 13 b mirror sync
    [ -z "$(find "$place/a/medium" "$place/b/medium" -mindepth 1)" ] || fail 'files were created without the medium'
}

# Both hosts write while the medium is cut off. No acknowledged write is lost.
lose_sight_while_writing() {
    local writers=() process
    : > "$place/written-a"
    : > "$place/written-b"
    write_many a & writers+=($!)
    write_many b & writers+=($!)
    eventually "$patience" 'both write' both_wrote 10
    "${medium}_cut"
    eventually "$patience" 'both go on writing' both_wrote 25
    "${medium}_heal"
    for process in "${writers[@]}"; do wait "$process" || fail 'a write failed'; done
    eventually "$patience" 'both have all that was written' all_know_all
}

write_many() {
    local number
    for number in $(seq "$most"); do
        on "$1" write "com.example.many-$1" "key$number" -int "$number"
        echo "$number" >> "$place/written-$1"
    done
}

both_wrote() { has_written a "$1" && has_written b "$1"; }

has_written() { [ "$(wc -l < "$place/written-$1")" -ge "$2" ]; }

# Whether a host has the given number of the entries that one host has written.
knows() { [ "$(on "$1" read "com.example.many-$2" | grep -c '": ')" -ge "$3" ]; } 2> /dev/null

all_know_all() { knows a a "$most" && knows a b "$most" && knows b a "$most" && knows b b "$most"; }

come_to_an_end() {
    local host
    for host in a b; do
        kill "${watch[$host]}"
        eventually "$patience" 'a watch ends' is_over "${watch[$host]}"
        wait "${watch[$host]}" || fail "the watch of $host ended with status $?"
    done
    eventually "$patience" 'all is at rest' is_at_rest
    are_equal || fail 'the hosts differ in the end'
    all_know_all || fail 'a written entry is lost'
    for host in a b; do
        on "$host" mirror fsck || fail 'mirror fsck reports errors'
        ends_with 0 "$host" mirror conflicts || fail "conflicts are left: $(cat "$place/output")"
    done
    traces > "$place/before"
    for host in a b; do on "$host" mirror sync; done
    traces > "$place/after"
    diff "$place/before" "$place/after" || fail 'a second sync changed files'
}

# Whether all changes have been published and received.
is_at_rest() {
    ends_with 0 a mirror sync && ends_with 0 b mirror sync && are_equal || return
    traces > "$place/before"
    ends_with 0 a mirror sync && ends_with 0 b mirror sync || return
    traces | cmp -s "$place/before" - || return
    [ "$medium" != syncthing ] || diff -r -q "$place/a/medium/settings" "$place/b/medium/settings" > "$place/output"
}

traces() { find "$place"/[ab]/medium/settings -printf '%p %s %T@\n' | sort; }
