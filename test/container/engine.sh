# What the rings that run containers share; to be sourced. Builds the image with buildah and runs it with podman, both
# in a store for this run only, so that nothing of it is left and two runs do not conflict. Needs root on a Debian-like
# machine, and `npm ci` done before.
# shellcheck shell=bash

# shellcheck source=test/support/ring.sh
source "$(dirname "${BASH_SOURCE[0]}")/../support/ring.sh"
image=localhost/league-sync:ring
# As docker and Kubernetes understand it: no /tmp, /run and /var/tmp in memory.
read_only=(--read-only --read-only-tmpfs=false)
# What a ring puts before podman, and what it says of networks; to be set before choose_driver.
engine_prefix=() network_options=()

install_engine() { # install_engine PACKAGE… - and these
  must_be_root "to build and run containers"
  must_be_built
  install_needed aardvark-dns buildah debootstrap iptables netavark podman runc "$@"
}

# In a container whose own root is an overlay, another one cannot be laid over it.
choose_driver() {
  mkdir "$work"/{lower,upper,task,merged}
  driver=vfs
  local folders=lowerdir=$work/lower,upperdir=$work/upper,workdir=$work/task
  if mount -t overlay -o "$folders" none "$work/merged" 2>/dev/null; then
    umount "$work/merged"
    driver=overlay
  fi
  store=(--root "$work/store" --runroot "$work/run" --storage-driver "$driver"
    --storage-opt "$driver.imagestore=$cache/images-$driver")
  engine_options=("${store[@]}" --tmpdir "$work/libpod" --runtime runc "${network_options[@]}")
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
builder() { buildah "${store[@]}" "$@"; }
engine() { "${engine_prefix[@]}" podman "${engine_options[@]}" "$@"; }

# Named by how it is made, so that a change of that makes a new one.
prepare_base() {
  local made_by tarball container old
  made_by=$(cat "$project/test/container/base.sh" "$project/test/install/debian-root.sh" | sha256sum | cut -c 1-12)
  base=localhost/league-sync-base:$made_by
  # One run makes it, and others wait for it.
  mkdir -p "$cache"
  exec {making}>"$cache/base.lock"
  or_give_up "another run that makes the base image could not be waited for" flock "$making"
  if ! base_builder inspect --type image "$base" >/dev/null 2>&1; then
    echo "making the base image, once"
    tarball=$cache/base-$made_by.tar
    [[ -f $tarball ]] || or_give_up "its base image could not be made" bash "$project/test/container/base.sh" "$tarball"
    container=$(base_builder from scratch)
    or_give_up "its base image could not be stored" base_builder add --quiet "$container" "$tarball" /
    base_builder config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd node "$container"
    or_give_up "its base image could not be stored" base_builder commit --quiet --rm "$container" "$base"
  fi
  touch "$cache/base-$made_by.tar"
  # Those that no checkout has used for two weeks; another one may be about to use its own.
  while read -r old; do
    base_builder rmi "localhost/league-sync-base:$(basename "$old" .tar | cut -d - -f 2)" >/dev/null 2>&1 || true
    rm "$old"
  done < <(find "$cache" -maxdepth 1 -name 'base-*.tar' -mtime +14)
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
  engine run --detach --name "$name" --network none "${read_only[@]}" "$image" simulate "$@" >/dev/null
  within 20 service_answers "$name" || give_up "the simulated service did not start"
}
service_answers() { engine logs "$1" 2>&1 | grep '"url"' >/dev/null; }

# One whose network another one shares is refused until that one is removed, whichever podman tries first; what holds a
# pod goes only with the pod.
end_containers() {
  [[ -v engine_options ]] || return 0
  engine pod rm --force --all >/dev/null 2>&1
  within 10 engine rm --force --all --time 0 >/dev/null 2>&1
}
end_ring() { end_containers; }
