# shellcheck shell=bash disable=SC2154 # `prove` sets them.
# File systems of this machine, which are mounted twice, once for each host.

see() {
    local other
    for other in a b; do
        if is_mounted "$place/$other/medium"; then
            mount --bind "$place/$other/medium" "$place/$1/medium"
            return
        fi
    done
    "mount_$medium" "$place/$1/medium"
}

# Our processes do not keep the file system busy: each of them closes its files soon.
leave() { eventually "$patience" "$1 lets $medium be unmounted" unmount "$place/$1/medium"; }

unmount() { umount "$1"; } 2> /dev/null

both_see() { see a; see b; }

both_leave() { leave a; leave b; }

make_image() { truncate -s 32M "$place/image"; }

has_loop_device() { losetup --find; } > /dev/null 2>&1

# The kernel may load the module of a file system only at its first use.
kernel_has() { grep -qw "$1" /proc/filesystems || modprobe --quiet "$1"; } 2> /dev/null

# --- tmpfs -----------------------------------------------------------------------------------------------------------

tmpfs_lack() { may_mount || echo 'no privilege to mount'; }

# A third mount keeps the contents while both hosts have theirs unmounted.
tmpfs_begin() {
    mkdir -p "$place"/{a,b,kept}/medium
    mount -t tmpfs -o size=16m tmpfs "$place/kept/medium"
    both_see
}

mount_tmpfs() { mount --bind "$place/kept/medium" "$1"; }

tmpfs_away() { both_leave; }
tmpfs_back() { both_see; }

# After a lazy unmount, only processes with open files can go on using them.
tmpfs_cut() { umount -l "$place/a/medium"; umount -l "$place/b/medium"; }
tmpfs_heal() { both_see; }
tmpfs_end() { both_leave; }
tmpfs_clear() { :; }

# --- ext4 ------------------------------------------------------------------------------------------------------------

ext4_lack() {
    may_mount && has_loop_device || echo 'no privilege to mount, or to use a loop device'
    lack_of mkfs.ext4
}

ext4_begin() {
    mkdir "$place"/{a,b}/medium
    make_image
    mkfs.ext4 -q "$place/image"
    both_see
}

mount_ext4() { mount -t ext4 -o loop "$place/image" "$1"; }

ext4_away() { both_leave; }
ext4_back() { both_see; }

# Makes the file system read-only, as the kernel does after an error.
ext4_cut() { eventually "$patience" 'ext4 becomes read-only' make_read_only; }
make_read_only() { mount -o remount,ro "$place/a/medium"; } 2> /dev/null
ext4_heal() { mount -o remount,rw "$place/a/medium"; }
ext4_end() { both_leave; fsck.ext4 -nf "$place/image"; }
ext4_clear() { :; }

# --- vfat, a USB stick that is carried from host to host -------------------------------------------------------------

stick=

vfat_lack() {
    may_mount && { kernel_has vfat && has_loop_device || has_fuse; } ||
        echo 'no privilege to mount, to use a loop device or FUSE, or to load vfat'
    lack_of mkfs.vfat
    kernel_has vfat || lack_of fusefat
}

vfat_begin() {
    mkdir "$place"/{a,b}/medium
    make_image
    mkfs.vfat "$place/image"
    both_see
}

# Without vfat in the kernel, FUSE mounts the stick.
mount_vfat() {
    if kernel_has vfat; then
        mount -t vfat -o loop "$place/image" "$1"
        return
    fi
    start fusefat fusefat -f -o rw+ "$place/image" "$1"
    stick=$!
    eventually "$patience" 'fusefat has mounted' is_mounted "$1"
}

pull_stick() {
    if [ -n "$stick" ]; then eventually "$patience" 'fusefat has written all' is_over "$stick"; fi
    stick=
    fsck.vfat -n "$place/image"
}

vfat_away() { both_leave; pull_stick; }
vfat_back() { both_see; }

# Gives the stick to each host in turn.
vfat_cut() { leave b; }
vfat_heal() {
    leave a
    pull_stick
    see b
    eventually "$patience" 'b has read the stick' knows b a 10
    see a
}
vfat_end() { both_leave; pull_stick; }
vfat_clear() { :; }
