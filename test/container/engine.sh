# What the rings that run containers share; to be sourced. Builds the image with buildah and runs it with podman, both
# in a store of this run alone, so that nothing of it is left and two runs do not meet. Needs root on a Debian-like
# machine, and `npm ci` done before. Sets `work` (a folder that goes with the script), `project` and `image`.
# shellcheck shell=bash

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # the rings use it
project=$(cd "$here/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/league-sync
image=localhost/league-sync:ring
engine_packages=(aardvark-dns buildah debootstrap iptables netavark podman runc)

work=$(mktemp -d)
passed=0 failed=0

give_up() {
  echo "This ring cannot run: $*" >&2
  exit 1
}

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

# install_needed PACKAGE… - these and what every ring needs.
install_needed() {
  local needed=("${engine_packages[@]}" "$@")
  [[ $EUID == 0 ]] || give_up "it must be root to build and run containers"
  dpkg-query --show "${needed[@]}" >/dev/null 2>&1 && return
  { apt-get update && apt-get install --yes --no-install-recommends "${needed[@]}"; } >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log" >&2; give_up "these Debian packages could not be installed: ${needed[*]}"; }
}

# In a container whose own root is an overlay, another one cannot be laid over it.
choose_driver() {
  mkdir "$work"/{lower,upper,task,merged}
  driver=vfs
  if mount -t overlay -o "lowerdir=$work/lower,upperdir=$work/upper,workdir=$work/task" none "$work/merged" 2>/dev/null; then
    umount "$work/merged"
    driver=overlay
  fi
  # What podman asks of the kernel by itself is more than a machine may allow even its root.
  cat >"$work/containers.conf" <<'CONF'
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
compat_api_enforce_docker_hub = false
CONF
  # Health checks run when they are asked for, not by timers of the machine's systemd.
  export CONTAINERS_CONF=$work/containers.conf DISABLE_HC_SYSTEMD=true
}

# The base stays in a store of its own between runs: to unpack it takes longer than all the rest.
base_builder() { buildah --root "$cache/images-$driver" --runroot "$work/base-run" --storage-driver "$driver" "$@"; }
store() { echo --root "$work/store" --runroot "$work/run" --storage-driver "$driver" --storage-opt "$driver.imagestore=$cache/images-$driver"; }
# shellcheck disable=SC2046 # words, by intent
builder() { buildah $(store) "$@"; }
# shellcheck disable=SC2046
engine() { podman $(store) --tmpdir "$work/libpod" --runtime runc "$@"; }

# Named by how it is made, so that a change of that makes a new one.
prepare_base() {
  local made_by tarball container old
  made_by=$(cat "$here/base.sh" "$here/../install/debian-root.sh" | sha256sum | cut -c 1-12)
  base=localhost/league-sync-base:$made_by
  # One run makes it, and others wait for it.
  mkdir -p "$cache"
  exec {making}>"$cache/base.lock"
  flock "$making"
  if ! base_builder inspect --type image "$base" >/dev/null 2>&1; then
    echo "making the base image, once"
    tarball=$cache/base-$made_by.tar
    [[ -f $tarball ]] || bash "$here/base.sh" "$tarball" || give_up "its base image could not be made"
    container=$(base_builder from scratch)
    base_builder add --quiet "$container" "$tarball" / >/dev/null
    base_builder config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd node "$container"
    base_builder commit --quiet --rm "$container" "$base" >/dev/null
    # What earlier forms of base.sh made.
    find "$cache" -maxdepth 1 -name 'base-*.tar*' ! -name "base-$made_by.tar" -delete
    for old in $(base_builder images --format '{{.Name}}:{{.Tag}}'); do
      [[ $old != */league-sync-base:* || $old == "$base" ]] || base_builder rmi "$old" >/dev/null
    done
  fi
  exec {making}>&-
}

# build_image FOLDER [ARGUMENT…] - in docker's format, since that of OCI knows no health check.
build_image() {
  local folder=$1
  shift
  builder build --quiet --format docker --isolation chroot --pull-never --build-arg "BASE=$base" \
    "$@" --tag "$image" "$folder"
}

# The simulated service, from the same image; others join its network, and find it at 127.0.0.1:8080.
start_service() { # start_service NAME [ARGUMENT…]
  local name=$1
  shift
  engine run --detach --name "$name" --network none --read-only "$image" simulate "$@" >/dev/null
  within 20 service_answers "$name" || give_up "the simulated service did not start"
}
service_answers() { engine logs "$1" 2>&1 | grep '"url"' >/dev/null; }

# Ends everything that runs, unmounts the store and removes it.
remove_engine() {
  engine rm --force --all --time 0 >/dev/null 2>&1 || true
  local mounted
  while read -r mounted; do
    umount --lazy "$mounted" 2>/dev/null || true
  done < <(awk -v work="$work/" 'index($5, work) == 1 { print $5 }' /proc/self/mountinfo | sort --reverse)
  rm -rf "$work"
}
