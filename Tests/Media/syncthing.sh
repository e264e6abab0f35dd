# shellcheck shell=bash disable=SC2154 # `prove` sets them.
# Two Syncthing hosts. Each is a network namespace with its own copy of the folder. The two namespaces are connected to
# each other and to nothing else.

declare -A address=([a]=192.0.2.1 [b]=192.0.2.2) device=()

namespace() { echo "media-$1-${place##*.}"; }

syncthing_lack() {
    has_namespaces || echo 'no privilege to make network namespaces'
    lack_of syncthing ip
}

has_namespaces() {
    local trial status=0
    trial=$(namespace trial)
    ip netns add "$trial" || return
    ip link add one netns "$trial" type veth peer name two netns "$trial" || status=1
    ip netns del "$trial"
    return "$status"
} 2> /dev/null

syncthing_begin() {
    local host
    ip netns add "$(namespace a)"
    ip netns add "$(namespace b)"
    ip link add cable netns "$(namespace a)" type veth peer name cable netns "$(namespace b)"
    for host in a b; do
        ip -n "$(namespace "$host")" address add "${address[$host]}/30" dev cable
        ip -n "$(namespace "$host")" link set lo up
        ip -n "$(namespace "$host")" link set cable up
        # Syncthing requires its marker in a folder.
        mkdir -p "$place/$host/medium/.stfolder"
        syncthing_of "$host" generate --no-default-folder > /dev/null
        device[$host]=$(syncthing_of "$host" serve --device-id)
    done
    for host in a b; do
        configure "$host" > "$place/$host/syncthing/config.xml"
        start "syncthing-$host" nsenter "--net=/run/netns/$(namespace "$host")" env "HOME=$place/$host" STNOUPGRADE=1 \
            syncthing serve --home="$place/$host/syncthing" --no-browser --no-restart --no-upgrade
    done
}

syncthing_of() {
    local home=$place/$1
    shift
    HOME=$home syncthing "$@" --home="$home/syncthing"
}

configure() {
    local host
    echo '<configuration version="36">'
    echo "<folder id=\"settings\" path=\"$place/$1/medium\" fsWatcherEnabled=\"true\" fsWatcherDelayS=\"1\">"
    for host in a b; do echo "<device id=\"${device[$host]}\"/>"; done
    echo '</folder>'
    for host in a b; do
        echo "<device id=\"${device[$host]}\" name=\"$host\"><address>tcp://${address[$host]}:22000</address></device>"
    done
    cat <<END
<gui enabled="false"/>
<options>
<listenAddress>tcp://${address[$1]}:22000</listenAddress>
<globalAnnounceEnabled>false</globalAnnounceEnabled>
<localAnnounceEnabled>false</localAnnounceEnabled>
<relaysEnabled>false</relaysEnabled>
<natEnabled>false</natEnabled>
<stunKeepaliveStartS>0</stunKeepaliveStartS>
<reconnectionIntervalS>2</reconnectionIntervalS>
<urAccepted>-1</urAccepted>
<crashReportingEnabled>false</crashReportingEnabled>
<autoUpgradeIntervalH>0</autoUpgradeIntervalH>
<startBrowser>false</startBrowser>
</options>
</configuration>
END
}

syncthing_away() { ip -n "$(namespace a)" link set cable down; }
syncthing_back() { ip -n "$(namespace a)" link set cable up; }
syncthing_cut() { syncthing_away; }
syncthing_heal() { syncthing_back; }
syncthing_end() { :; }
syncthing_clear() { ip netns del "$(namespace a)"; ip netns del "$(namespace b)"; }
