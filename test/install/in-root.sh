# What the rings share that run commands in a Debian of their own; to be sourced after ring.sh.
# shellcheck shell=bash
# shellcheck disable=SC2154 # what ring.sh sets

# lay_out_root ROOT NODE_VERSION NPM_VERSION - with the way to the registries that this machine has.
lay_out_root() {
  or_give_up "a Debian could not be laid out" bash "$project/test/install/debian-root.sh" "$@"
  cp -L /etc/resolv.conf "$1/etc/resolv.conf"
}

# in_root ROOT [--user NAME] COMMAND… - in mount and process namespaces with which all that it starts ends; as root, or
# as a user who cannot become root.
in_root() {
  local root=$1 home=/root path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin become=()
  shift
  if [[ $1 == --user ]]; then
    home=/home/$2 path=/usr/local/bin:/usr/bin:/bin
    become=(setpriv --reuid "$2" --regid "$2" --clear-groups --no-new-privs --bounding-set=-all)
    shift 2
  fi
  unshare --mount --pid --fork --kill-child --root "$root" --wd "$home" --mount-proc "${become[@]}" \
    /usr/bin/env --ignore-environment HOME="$home" PATH="$path" "$@"
}
