#!/usr/bin/env bash
# Runs the rings: the scripts that install the program as users do, and run every command of the documents. Ends with
# a line that counts them, and with exit code 1 if one failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=test/support/steps.sh
. support/steps.sh

# Each installs what it needs, and mostly waits for npm or for a clock, so two run at once.
rings=(nodes/run.sh documents/run.sh container/run.sh deploy/run.sh package/run.sh systemd/run.sh install/run.sh
  install/bare.sh)
at_once=2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Its output is shown at its end, in one piece.
run_ring() {
  local log=$work/${1//\//-}
  failed=0
  step "test/$1" bash "$1" >"$log" 2>&1
  flock "$work" cat "$log"
  ((failed == 0))
}
count_next() { if wait -n; then passed=$((passed + 1)); else failed=$((failed + 1)); fi; }

running=0
for ring in "${rings[@]}"; do
  if ((running == at_once)); then
    count_next
    running=$((running - 1))
  fi
  run_ring "$ring" &
  running=$((running + 1))
done
for (( ; running > 0; running--)); do count_next; done
summarize
