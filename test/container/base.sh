#!/usr/bin/env bash
# Makes a stand-in for the Dockerfile's base image as a tarball: `base.sh FILE`. It has what the real one has and the
# Dockerfile counts on: Debian bookworm, Node 24 and npm on the PATH.
set -euo pipefail

NODE_VERSION=24.21.0
NPM_VERSION=11

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tarball=$1
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work" "$tarball.part"' EXIT

bash "$here/../install/debian-root.sh" "$work/root" "$NODE_VERSION" "$NPM_VERSION"
# Renamed into place, so that a run that was cut short leaves no half of one.
mkdir -p "$(dirname "$tarball")"
tar --create --numeric-owner --file "$tarball.part" --directory "$work/root" .
mv "$tarball.part" "$tarball"
