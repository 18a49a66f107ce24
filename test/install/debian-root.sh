#!/usr/bin/env bash
# Lays out a Debian 12 root with one Node and one npm and nothing else that a minimal Debian lacks:
# `debian-root.sh FOLDER NODE_VERSION NPM_VERSION`. Made only from packages of Debian and npm, so that it works
# without an image registry. Both versions may be just a major version.
set -euo pipefail

root=$1 node_version=$2 npm_version=$3
cache=${XDG_CACHE_HOME:-$HOME/.cache}/league-sync
bootstrapped=$cache/bookworm.tar
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work" "$bootstrapped.$$"' EXIT

# or_show COMMAND… - quiet, unless it fails.
or_show() { "$@" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }; }

# The packages of Debian, once a week: to fetch and unpack them takes longer than all the rest.
if [[ -z $(find "$bootstrapped" -mtime -7 2>/dev/null) ]]; then
  # The mirror in the apt configuration of this machine; the default of debootstrap if apt has none for bookworm.
  # shellcheck disable=SC2016 # apt expands it
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Component: main' | head -n 1)
  or_show debootstrap --variant=minbase bookworm "$work/root" ${mirror:+"$mirror"}
  rm -rf "$work"/root/var/cache/apt "$work"/root/var/lib/apt/lists "$work"/root/usr/share/{doc,locale,man}
  mkdir -p "$cache"
  # Renamed into place, so that a run that was cut short leaves no half of one.
  tar --create --numeric-owner --file "$bootstrapped.$$" --directory "$work/root" .
  mv "$bootstrapped.$$" "$bootstrapped"
fi
mkdir -p "$root"
tar --extract --numeric-owner --file "$bootstrapped" --directory "$root"

or_show npm install --prefix "$work/npm" --no-audit --no-fund "node@$node_version" "npm@$npm_version"
modules=$root/usr/local/lib/node_modules
mkdir -p "$modules"
# Followed, because npm may leave a link to the binary of a package beside it.
cp -L "$work/npm/node_modules/node/bin/node" "$root/usr/local/bin/node"
cp -r "$work/npm/node_modules/npm" "$modules/npm"
for name in npm npx; do
  ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$root/usr/local/bin/$name"
done

# The way to the npm registry is this machine's affair. Said beside npm itself, since `--prefix` has it look elsewhere
# for what else holds for all.
echo "registry=$(npm config get registry 2>/dev/null)" >"$modules/npm/npmrc"
authorities=$(npm config get cafile 2>/dev/null)
[[ -f $authorities ]] || authorities=${NODE_EXTRA_CA_CERTS:-}
if [[ -f $authorities ]]; then
  mkdir -p "$root/usr/local/etc"
  cp -L "$authorities" "$root/usr/local/etc/authorities.pem"
  echo "cafile=/usr/local/etc/authorities.pem" >>"$modules/npm/npmrc"
fi
