# What the rings that are scripts share; to be sourced. Sets `project` and `work`, a folder that is removed at the end.
# shellcheck shell=bash

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/league-sync
# As documents name it: test/container.
ring=test/$(basename "$(dirname "$(realpath "$0")")")
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
passed=0 failed=0

give_up() {
  echo "$ring cannot run: $*" >&2
  exit 1
}

# or_give_up WHY COMMAND… - says nothing, unless the command fails: then what it printed, and why that is the end.
or_give_up() {
  local why=$1
  shift
  "$@" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; give_up "$why"; }
}

# check SENTENCE COMMAND… - the sentence is true when the command succeeds. A function in there goes on after a command
# that failed, so what counts is chained. `explain`, where the ring has one, says more of a failure.
check() {
  local sentence=$1
  shift
  if "$@" >"$work/check" 2>&1; then
    echo "ok - $sentence"
    passed=$((passed + 1))
  else
    echo "not ok - $sentence"
    tail -n 60 "$work/check" | sed 's/^/  /'
    failed=$((failed + 1))
    ! declare -F explain >/dev/null || explain || true
  fi
}

summarize() {
  echo "$passed passed, $failed failed"
  ((failed == 0))
}

within() { # within SECONDS COMMAND…
  local until=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < until)) || return 1
    sleep 0.1
  done
}

# install_needed PACKAGE… - those that are missing. One ring at a time, since Debian's tools do not wait for each other.
install_needed() {
  dpkg-query --show "$@" >/dev/null 2>&1 && return
  [[ $EUID == 0 ]] || give_up "it must be root to install these Debian packages: $*"
  mkdir -p "$cache"
  local installing
  exec {installing}>"$cache/install.lock"
  flock "$installing"
  or_give_up "Debian's list of packages could not be fetched" apt-get update
  or_give_up "these Debian packages could not be installed: $*" apt-get install --yes --no-install-recommends "$@"
  exec {installing}>&-
}

must_be_root() { [[ $EUID == 0 ]] || give_up "it must be root $*"; }
must_be_built() { [[ -x $project/node_modules/.bin/node && -f $project/dist/league-sync.cjs ]] || give_up "there is no built program; run npm ci first"; }
