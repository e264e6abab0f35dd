# shellcheck shell=bash disable=SC2154 # `prove` sets them.
# A folder served by our own sshd. Each host has its own connection.

server=
port=

sshfs_lack() {
    may_mount && has_fuse || echo 'no privilege to mount, or to use FUSE'
    lack_of sshfs sshd ssh-keygen
}

sshfs_begin() {
    mkdir -p "$place"/{a,b}/medium "$place/server" "$place/ssh" /run/sshd
    ssh-keygen -q -t ed25519 -N '' -f "$place/ssh/host"
    ssh-keygen -q -t ed25519 -N '' -f "$place/ssh/user"
    eventually "$patience" 'an sshd of our own' serve_somewhere
    both_connect
}

# A random port may be in use.
serve_somewhere() {
    port=$((RANDOM % 20000 + 20000))
    cat > "$place/ssh/sshd_config" <<END
ListenAddress 127.0.0.1:$port
HostKey $place/ssh/host
AuthorizedKeysFile $place/ssh/user.pub
AuthenticationMethods publickey
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PidFile none
Subsystem sftp internal-sftp
END
    echo "[127.0.0.1]:$port $(cat "$place/ssh/host.pub")" > "$place/ssh/known_hosts"
    serve
}

serve() {
    : > "$place/sshd.log"
    start sshd /usr/sbin/sshd -D -e -f "$place/ssh/sshd_config"
    server=$!
    # The shell must not report that a signal ended it.
    disown
    eventually "$patience" 'sshd listens or ends' has_begun
    ! is_over "$server"
}

has_begun() { is_over "$server" || grep -q 'Server listening' "$place/sshd.log"; }

# The options that the manual recommends, with a shorter timeout for a silent server.
connect() {
    start "sshfs-$1" sshfs -f "root@127.0.0.1:$place/server" "$place/$1/medium" -p "$port" -F /dev/null \
        -o "reconnect,dir_cache=no,ServerAliveInterval=1,BatchMode=yes,StrictHostKeyChecking=yes" \
        -o "IdentityFile=$place/ssh/user,UserKnownHostsFile=$place/ssh/known_hosts"
    eventually "$patience" "sshfs has mounted for $1" is_mounted "$place/$1/medium"
}

both_connect() { connect a; connect b; }

sshfs_away() { both_leave; }
sshfs_back() { both_connect; }

# Stops the server and all its connections. Later, a new server replaces it.
sshfs_cut() { signal_server STOP; }
sshfs_heal() { signal_server KILL; eventually "$patience" 'the server begins anew' serve; }
sshfs_end() { both_leave; }
sshfs_clear() { signal_server KILL; }

# Each connection is a child of the server.
signal_server() {
    local children
    [ -n "$server" ] || return 0
    read -r -a children < "/proc/$server/task/$server/children" || true
    kill "-$1" "$server" "${children[@]}"
}
