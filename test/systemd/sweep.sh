#!/usr/bin/env bash
# Removes a control group and those in it, once all their processes have ended: `sweep.sh CGROUP`, in a mount namespace.
set -euo pipefail

mount -t tmpfs tmpfs /mnt
mkdir /mnt/groups
mount -t cgroup2 cgroup2 /mnt/groups
group=$(find /mnt/groups -type d -name "$1" -print -quit)
[[ -n $group ]] || exit 0
for _ in {1..50}; do
  ! find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || exit 0
  sleep 0.1
done
echo "the control group $1 could not be removed" >&2
exit 1
