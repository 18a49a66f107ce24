#!/usr/bin/env bash
# The documents ring: runs the commands of every document as written, in fresh clones of HEAD, and compares what they
# print with what the document says that they print: `run.sh [DOCUMENT…]`. Needs root on a Debian-like machine, and
# `npm ci` done before. CONTRIBUTING.md explains the comments by which a document says how its commands are run.
set -euo pipefail

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
node=$project/node_modules/.bin/node
packages=(bsdutils curl git iproute2 prometheus sqlite-utils sqlite3 util-linux)

work=$(mktemp -d)
runner=''

give_up() {
  echo "The documents ring cannot run: $*" >&2
  exit 1
}

clean_up() {
  # What it has started ends with it.
  [[ -z $runner ]] || { kill -KILL "$runner" 2>/dev/null && wait "$runner" 2>/dev/null; } || true
  # The last of that may still be writing.
  rm -rf "$work" || { sleep 2; rm -rf "$work"; }
}

install_needed() {
  [[ $EUID == 0 ]] || give_up "it must be root to have a network of its own"
  if ! dpkg-query --show "${packages[@]}" >/dev/null 2>&1; then
    { apt-get update && apt-get install --yes --no-install-recommends "${packages[@]}"; } >"$work/log" 2>&1 ||
      { tail -n 20 "$work/log" >&2; give_up "these Debian packages could not be installed: ${packages[*]}"; }
  fi
  [[ -x $node ]] || give_up "there is no Node 24; run npm ci first"
}

trap clean_up EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
install_needed
# In the background, since a shell hears no signal while it waits for a command.
"$node" "$project/test/documents/run.ts" "$work" "$@" &
runner=$!
code=0
wait "$runner" || code=$?
runner=''
((code == 0))
