#!/usr/bin/env bash
# Makes a stand-in for the Dockerfile's base image as a tarball: `base.sh FILE`. It has what the real one has and the
# Dockerfile counts on: Debian bookworm, Node 24 and npm on the PATH. Made from Debian's and npm's packages alone, so
# that the image can be built and tried where no image registry can be reached.
set -euo pipefail

NODE_VERSION=24.21.0
NPM_VERSION=11

tarball=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The mirror that this machine is set up with; debootstrap's own choice where apt names none for bookworm.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Component: main' | head -n 1)
debootstrap --variant=minbase bookworm "$work/root" ${mirror:+"$mirror"} >"$work/log" 2>&1 ||
  { tail -n 20 "$work/log" >&2; exit 1; }
rm -rf "$work"/root/var/cache/apt "$work"/root/var/lib/apt/lists "$work"/root/usr/share/{doc,locale,man}

npm install --prefix "$work/npm" --no-audit --no-fund "node@$NODE_VERSION" "npm@$NPM_VERSION" >"$work/log" 2>&1 ||
  { tail -n 20 "$work/log" >&2; exit 1; }
modules=$work/root/usr/local/lib/node_modules
mkdir -p "$modules"
# Followed, because npm may leave a link to the binary of a package beside it.
cp -L "$work/npm/node_modules/node/bin/node" "$work/root/usr/local/bin/node"
cp -r "$work/npm/node_modules/npm" "$modules/npm"
for name in npm npx; do
  ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$work/root/usr/local/bin/$name"
done

# The way to the npm registry is this machine's affair, and stays in this machine's cache.
mkdir -p "$work/root/usr/local/etc"
echo "registry=$(npm config get registry 2>/dev/null)" >"$work/root/usr/local/etc/npmrc"
authorities=$(npm config get cafile 2>/dev/null)
if [[ -f $authorities ]]; then
  cp -L "$authorities" "$work/root/usr/local/etc/authorities.pem"
  echo "cafile=/usr/local/etc/authorities.pem" >>"$work/root/usr/local/etc/npmrc"
fi

# Renamed into place, so that a run that was cut short leaves no half of one.
mkdir -p "$(dirname "$tarball")"
tar --create --numeric-owner --file "$tarball.part" --directory "$work/root" .
mv "$tarball.part" "$tarball"
