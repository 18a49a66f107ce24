# What the rings that are scripts share; to be sourced. Sets `project` and `work`, a folder that is removed at the end.
# shellcheck shell=bash

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/league-sync
# As documents name it: test/container.
ring=test/$(basename "$(dirname "$(realpath "$0")")")
work=$(mktemp -d)
# So that nothing of what it starts is left anywhere else.
export TMPDIR=$work
# A command substitution stops at a failure, as the rest does.
shopt -s inherit_errexit
attended='' code=0
passed=0 failed=0
# What an installation must do without.
# shellcheck disable=SC2034 # some rings use it
hidden=(python python3 make cc gcc g++ clang git)

give_up() {
  echo "$ring cannot run: $*" >&2
  exit 1
}

# attend COMMAND… - `code` becomes its exit code. It runs in a shell of its own, in which the first command that fails
# is the end, but for those after `if`, before `&&` and the like, and in a process group of its own: a shell hears no
# signal while it waits for a command in the foreground. Not after `if` or before `||`, nor within another one.
attend() {
  code=0
  set -m
  (set +m -e; "$@") </dev/null &
  attended=$!
  set +m
  wait "$attended" || code=$?
  attended=''
}

# Ends what is attended, with all that it started.
end_attended() {
  [[ $attended ]] || return 0
  kill -TERM -- "-$attended" 2>/dev/null || return 0
  within 5 has_ended "$attended" || kill -KILL -- "-$attended"
}
has_ended() { ! kill -0 -- "-$1" 2>/dev/null; }

unmount_all() {
  local mounted
  while read -r mounted; do
    umount --lazy "$mounted"
  done < <(awk -v work="$work/" 'index($5, work) == 1 { print $5 }' /proc/self/mountinfo | sort --reverse) 2>/dev/null
}

# Runs at every end of the ring. `end_ring`, if defined, stops what else the ring started.
clean_up() {
  set +e
  # Once is enough.
  trap '' INT TERM HUP
  end_attended
  ! declare -F end_ring >/dev/null || end_ring
  unmount_all
  # What was ended last may still be writing.
  rm -rf --one-file-system "$work" 2>/dev/null || { sleep 1; rm -rf --one-file-system "$work"; }
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# or_give_up WHY COMMAND… - says nothing, unless the command fails: then what it printed, and why that is the end.
or_give_up() {
  local why=$1
  shift
  attend "$@" >"$work/log" 2>&1
  ((code == 0)) || { tail -n 20 "$work/log" >&2; give_up "$why"; }
}

# check SENTENCE COMMAND… - the sentence is true if the command succeeds; of a function, each command in it must.
# Variables that it sets are lost. `explain`, if defined, prints details of a failure.
check() {
  local sentence=$1
  shift
  attend "$@" >"$work/check" 2>&1
  if ((code == 0)); then
    echo "ok - $sentence"
    passed=$((passed + 1))
  else
    echo "not ok - $sentence"
    tail -n 60 "$work/check" | sed 's/^/  /'
    failed=$((failed + 1))
    ! declare -F explain >/dev/null || explain || true
  fi
}

# finds_nothing ARGUMENT… - of grep, which tells nothing found from a file that is not there.
finds_nothing() {
  local found=0
  grep "$@" || found=$?
  ((found == 1))
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

# install_needed PACKAGE… - those that are missing. One ring at a time, since Debian's tools do not wait for each
# other.
install_needed() {
  is_installed "$@" && return
  [[ $EUID == 0 ]] || give_up "it must be root to install these Debian packages: $*"
  mkdir -p "$cache"
  local installing
  exec {installing}>"$cache/install.lock"
  flock "$installing"
  # Not attended: Debian's tools must not be cut short, even by an interrupt.
  { apt-get update && apt-get install --yes --no-install-recommends "$@"; } >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log" >&2; give_up "these Debian packages could not be installed: $*"; }
  exec {installing}>&-
}

# Debian also knows packages by name that were never installed, or are not any more.
is_installed() {
  local package
  for package; do
    [[ $(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || return 1
  done
}

must_be_root() { [[ $EUID == 0 ]] || give_up "it must be root $*"; }
must_be_built() {
  [[ -x $project/node_modules/.bin/node && -f $project/dist/league-sync.cjs ]] ||
    give_up "there is no built program; run npm ci first"
}
