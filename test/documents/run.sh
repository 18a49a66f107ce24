#!/usr/bin/env bash
# The documents ring: runs the commands of every document as written, in fresh clones of HEAD, and compares what they
# print with what the document says that they print: `run.sh [DOCUMENT…]`. Needs root on a Debian-like machine, and
# `npm ci` done before. CONTRIBUTING.md explains the comments by which a document says how its commands are run.
set -euo pipefail

# shellcheck source=test/support/ring.sh
source "$(dirname "${BASH_SOURCE[0]}")/../support/ring.sh"

runner=''

clean_up() {
  # What it has started ends with it.
  [[ -z $runner ]] || { kill -KILL "$runner" 2>/dev/null && wait "$runner" 2>/dev/null; } || true
  # The last of that may still be writing.
  rm -rf "$work" || { sleep 2; rm -rf "$work"; }
}

trap clean_up EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
must_be_root "to have a network of its own"
must_be_built
install_needed bsdutils curl git iproute2 jq prometheus sqlite-utils sqlite3 util-linux
# In the background, since a shell hears no signal while it waits for a command.
"$project/node_modules/.bin/node" "$project/test/documents/run.ts" "$work" "$@" &
runner=$!
code=0
wait "$runner" || code=$?
runner=''
((code == 0))
