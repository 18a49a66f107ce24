#!/usr/bin/env bash
# Runs what an image says, as it says it: `inside.sh ROOT VOLUME COMMAND…`, with the image's USER, DIRECTORY and
# VARIABLES (one a line) in the environment. For a mount and process namespace of its own, where the command becomes
# process 1 as in a container, the root is read-only, and /data is the volume.
set -euo pipefail

root=$1 volume=$2
shift 2

mount --bind "$root" "$root"
mount --bind "$volume" "$root/data"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -o remount,bind,ro "$root"

mapfile -t variables <<<"$VARIABLES"
# The same process from here to the end, so that its parent can signal it and sees its exit code.
exec chroot "$root" /usr/bin/setpriv --reuid "${USER%:*}" --regid "${USER#*:}" --clear-groups --no-new-privs \
  /usr/bin/env --ignore-environment --chdir "$DIRECTORY" "${variables[@]}" "$@"
