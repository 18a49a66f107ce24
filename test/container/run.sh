#!/usr/bin/env bash
# The container ring: builds the Dockerfile and runs the image as an orchestrator would, with a read-only root, no
# privileges and one volume, against the simulated service. Needs root on a Debian-like machine, `npm ci` done before,
# and no container engine: buildah builds, a namespace of its own runs.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/league-sync
node=$project/node_modules/.bin/node
program=$project/dist/league-sync.cjs
most_added_mb=10
# With the number of this run, since another one may be going on beside it.
image=localhost/league-sync-ring:$$
packages=(buildah debootstrap sqlite3)

work=$(mktemp -d)
simulator='' worker='' container=''
passed=0 failed=0

give_up() {
  echo "The container ring cannot run: $*" >&2
  exit 1
}

clean_up() {
  for process in $worker $simulator; do
    kill -KILL "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
  done
  [[ -z $container ]] || builder rm "$container" >/dev/null || true
  builder rmi "$image" >/dev/null 2>&1 || true
  rm -rf "$work"
}

# The base stays in a store of our own between runs: to unpack it takes longer than all the rest.
builder() { buildah --root "$cache/images" --runroot "$work/run" --storage-driver vfs "$@"; }

# check SENTENCE COMMAND… - the sentence is true when the command succeeds.
check() {
  local sentence=$1
  shift
  if "$@" >"$work/check" 2>&1; then
    echo "ok - $sentence"
    passed=$((passed + 1))
  else
    echo "not ok - $sentence"
    sed 's/^/  /' "$work/check"
    failed=$((failed + 1))
  fi
}

within() { # within SECONDS COMMAND…
  local until=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < until)) || return 1
    sleep 0.1
  done
}

install_needed() {
  [[ $EUID == 0 ]] || give_up "it must be root to build and mount"
  if ! dpkg-query --show "${packages[@]}" >/dev/null 2>&1; then
    { apt-get update && apt-get install --yes --no-install-recommends "${packages[@]}"; } >"$work/log" 2>&1 ||
      { tail -n 20 "$work/log" >&2; give_up "these Debian packages could not be installed: ${packages[*]}"; }
  fi
  [[ -x $node && -f $program ]] || give_up "there is no built program; run npm ci first"
}

# Named by how it is made, so that a change of that makes a new one.
prepare_base() {
  local made_by
  made_by=$(cat "$here/base.sh" "$here/../install/debian-root.sh" | sha256sum | cut -c 1-12)
  base=localhost/league-sync-base:$made_by
  ! builder inspect --type image "$base" >/dev/null 2>&1 || return 0
  echo "making the base image, once"
  local tarball=$cache/base-$made_by.tar
  [[ -f $tarball ]] || bash "$here/base.sh" "$tarball" || give_up "its base image could not be made"
  container=$(builder from scratch)
  builder add --quiet "$container" "$tarball" / >/dev/null
  builder config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd node "$container"
  builder commit --quiet --rm "$container" "$base" >/dev/null
  container=''
  # What earlier forms of base.sh made.
  find "$cache" -maxdepth 1 -name 'base-*.tar*' ! -name "base-$made_by.tar" -delete
  local old
  for old in $(builder images --format '{{.Name}}:{{.Tag}}'); do
    [[ $old != */league-sync-base:* || $old == "$base" ]] || builder rmi "$old" >/dev/null
  done
}

build_image() {
  builder build --quiet --isolation chroot --pull-never --build-arg "BASE=$base" --tag "$image" "$project"
}

configured() { builder inspect --format "$1" "$container"; }

open_image() {
  container=$(builder from --pull-never "$image")
  root=$(builder mount "$container")
  USER=$(configured '{{.OCIv1.Config.User}}')
  DIRECTORY=$(configured '{{.OCIv1.Config.WorkingDir}}')
  VARIABLES=$(configured '{{range .OCIv1.Config.Env}}{{println .}}{{end}}' | sed '/^$/d')
  mapfile -t command < <(configured '{{range .OCIv1.Config.Cmd}}{{println .}}{{end}}' | sed '/^$/d')
  VARIABLES+=$'\n'"LEAGUE_SYNC_BASE_URL=$1"$'\nLEAGUE_SYNC_USERNAME=player\nLEAGUE_SYNC_PASSWORD=secret-password'
  export USER DIRECTORY VARIABLES
}

start_simulator() {
  "$node" "$program" simulate --port 0 >"$work/simulator.log" 2>&1 &
  simulator=$!
  within 20 grep -q '"url"' "$work/simulator.log" || give_up "the simulated service did not start"
  url=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' "$work/simulator.log" | head -n 1)
}

# Starts the image in the background on this volume; `supervisor` ends with its exit code.
start_worker() {
  unshare --mount --pid --fork --kill-child bash "$here/inside.sh" "$root" "$1" "${command[@]}" >"$work/worker.log" 2>&1 &
  supervisor=$!
  # Empty until unshare has forked; files of /proc have no size to test.
  within 5 grep -q . "/proc/$supervisor/task/$supervisor/children" || return 0
  worker=$(tr -d ' ' <"/proc/$supervisor/task/$supervisor/children")
}

stored_leagues() { sqlite3 -readonly -cmd '.timeout 2000' "$volume/leagues.db" 'SELECT count(*) FROM leagues' 2>/dev/null; }
all_leagues_stored() { [[ $(stored_leagues) == 124 ]]; }
show_worker_if_not() { "$@" || { cat "$work/worker.log"; return 1; }; }

runs_without_root() { [[ $(awk '/^Uid:/ { print $2, $3 }' "/proc/$worker/status") == "${USER%:*} ${USER%:*}" && ${USER%:*} -gt 0 ]]; }
gains_nothing() { awk '/^CapEff:/ { eff = $2 } /^NoNewPrivs:/ { no = $2 } END { exit !(eff ~ /^0+$/ && no == 1) }' "/proc/$worker/status"; }
root_is_read_only() { awk '$5 == "/" { last = $6 } END { exit !(last ~ /^ro/) }' "/proc/$worker/mountinfo"; }
is_process_one() { awk '/^NSpid:/ { pid = $NF } END { exit pid != 1 }' "/proc/$worker/status"; }

ends_well() {
  local code=0 began=$SECONDS
  kill -TERM "$worker"
  wait "$supervisor" || code=$?
  worker=''
  echo "exit code $code after $((SECONDS - began)) s"
  cat "$work/worker.log"
  ((code == 0 && SECONDS - began <= 10))
}

only_the_database_is_left() { ls -A "$volume"; [[ $(ls -A "$volume") == leagues.db ]]; }

holds_only_what_runs() {
  local addon=node_modules/better-sqlite3
  (cd "$root/app" && find . -type f ! -path './dist/*' ! -path './migrations/*' \
    ! -path "./$addon/lib/*" ! -path "./$addon/prebuilds/linux-*" ! -path "./$addon/package.json" \
    ! -path "./$addon/LICENSE" ! -path ./package.json) | tee "$work/surplus"
  [[ ! -s $work/surplus ]]
}

holds_compiled_code() { [[ -n $(find "$root"/compile-cache/*-"${USER%:*}" -type f -size +50k) ]]; }

is_small() { (($(du -sm "$root/app" | cut -f 1) <= most_added_mb)); }

refuses_an_unwritable_volume() {
  local code=0
  unwritable=$work/unwritable
  mkdir -m 0555 "$unwritable"
  start_worker "$unwritable"
  wait "$supervisor" || code=$?
  worker=''
  echo "exit code $code"
  cat "$work/worker.log"
  ((code == 74)) && grep -q /data/leagues.db "$work/worker.log"
}

trap clean_up EXIT
install_needed
prepare_base
start_simulator
check 'the image builds' build_image
((failed == 0)) || { echo "$passed passed, $failed failed"; exit 1; }
open_image "$url"

volume=$work/volume
mkdir "$volume"
chown "$USER" "$volume"
check 'the image holds compiled code for its user' holds_compiled_code
check 'the image holds what runs and nothing else' holds_only_what_runs
check "the image adds less than $most_added_mb MB to its base" is_small
start_worker "$volume"
check 'the leagues arrive in the database on the volume' show_worker_if_not within 30 all_leagues_stored
check 'the worker is process 1' is_process_one
check 'the worker is not root' runs_without_root
check 'the worker has no capabilities' gains_nothing
check 'the root of the worker is read-only' root_is_read_only
check 'SIGTERM ends the worker with exit code 0' ends_well
check 'one file is left on the volume' only_the_database_is_left
check 'an unwritable volume ends it with exit code 74 and the path of the database' refuses_an_unwritable_volume
echo "the image adds $(du -sh --apparent-size "$root/app" | cut -f 1) to its base"

echo "$passed passed, $failed failed"
((failed == 0))
