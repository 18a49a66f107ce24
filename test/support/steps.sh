# Steps that are counted; to be sourced.
# shellcheck shell=bash

passed=0 failed=0 running=0
failures=$(mktemp -d)
trap 'rm -rf "$failures"' EXIT

# step NAME COMMAND… - a failure is counted and does not stop the steps after it.
step() {
  local name=$1 began=$SECONDS log
  shift
  log=$(mktemp)
  echo "=== $name"
  if "$@" 2>&1 | tee "$log"; then
    echo "=== $name: passed after $((SECONDS - began)) s"
    passed=$((passed + 1))
  else
    echo "=== $name: FAILED after $((SECONDS - began)) s"
    failed=$((failed + 1))
    { echo "=== $name FAILED; it ended with:" && tail --lines=60 "$log"; } >"$(mktemp --tmpdir="$failures")"
  fi
  rm -f "$log"
}

# start_step NAME COMMAND… - a step in the background. Its output is shown at its end, in one piece.
start_step() {
  local before=$failed
  (
    log=$(mktemp)
    step "$@" >"$log" 2>&1
    flock "${BASH_SOURCE[0]}" cat "$log"
    rm -f "$log"
    ((failed == before))
  ) &
  running=$((running + 1))
}

# await_steps NUMBER - waits until at most this many steps run in the background.
await_steps() {
  while ((running > $1)); do
    if wait -n; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    running=$((running - 1))
  done
}

# summarize - shows the failures once more, since the last lines are read first.
summarize() {
  find "$failures" -type f -exec cat {} +
  echo "$passed passed, $failed failed"
  ((failed == 0))
}
