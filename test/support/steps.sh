# Steps that are counted; to be sourced.
# shellcheck shell=bash

passed=0 failed=0

# step NAME COMMAND… - a failure is counted and does not stop the steps after it.
step() {
  local name=$1 began=$SECONDS
  shift
  echo "=== $name"
  if "$@"; then
    echo "=== $name: passed after $((SECONDS - began)) s"
    passed=$((passed + 1))
  else
    echo "=== $name: FAILED after $((SECONDS - began)) s"
    failed=$((failed + 1))
  fi
}

summarize() {
  echo "$passed passed, $failed failed"
  ((failed == 0))
}
