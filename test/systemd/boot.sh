#!/usr/bin/env bash
# Boots a root with its own systemd as process 1: `boot.sh ROOT CGROUP`. For mount, process and cgroup namespaces of its
# own, with which everything ends; a machine that has no systemd running will do.
set -euo pipefail

root=$1 cgroup=$2

# What systemd-nspawn keeps of its machines stays in here.
mount -t tmpfs tmpfs /run
# The one hierarchy, wherever the machine has it: nspawn hands over its own part of it.
umount --recursive --lazy /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir "/sys/fs/cgroup/$cgroup"
# Its parts are removed once all that ran in them has ended; process 1 of this namespace must not be among them.
echo $BASHPID >"/sys/fs/cgroup/$cgroup/cgroup.procs"

# Not the machine's own journal, network or services: nothing in there can tell, or disturb, what is outside.
SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 exec systemd-nspawn --quiet --boot --register=no --keep-unit --directory="$root" \
  --machine="$cgroup" --private-network --resolv-conf=off --link-journal=no --console=pipe
