#!/usr/bin/env bash
# The install matrix: fresh clones of HEAD, installed by npm 10, 11 and 12 on a machine that shows neither Python nor a
# compiler. `npm ci` has to build the program, and `npx league-sync` has to run it, whichever Node the machine has.
set -euo pipefail

# shellcheck source=test/support/ring.sh
source "$(dirname "${BASH_SOURCE[0]}")/../support/ring.sh"
# shellcheck source=test/support/npm-path.sh
source "$project/test/support/npm-path.sh"

node24=$(readlink -f "$project/node_modules/.bin/node")
version=$("$node24" --print 'require(process.argv[1]).version' "$project/package.json")

# at COMMAND… - in the clone, with the PATH of links
at() { (cd "$clone" && PATH=$bin "$@"); }
# Nothing else either, such as npm's warning that the machine's Node is too old: the checkout brings its own.
says_its_version() { [[ $(at npx --no -- league-sync --version 2>&1 | tee /dev/stderr) == "$version" ]]; }

for major in 10 11 12; do
  or_give_up "npm $major could not be had" npm install --prefix "$work/npm$major" --no-fund "npm@$major"
  npm=$work/npm$major/node_modules/npm
  # npm 12 refuses the older Node that a machine may have.
  node=$(readlink -f "$(type -P node)")
  if ((major >= 12)); then node=$node24; fi
  bin=$work/bin$major clone=$work/clone$major
  make_path "$bin" "$node" "$npm"
  git clone --quiet "$project" "$clone"
  with="npm $(PATH=$bin npm --version 2>/dev/null) on Node $("$node" --version)"
  check "$with: there is neither Python, a compiler nor git" shows_none_of_the_hidden "$bin"
  check "$with: npm ci" at npm ci
  # --no: a program that was not built must not be looked for in the registry. Without the dashes npm would take what
  # follows as its own, and tell its own version.
  check "$with: npx league-sync --version" says_its_version
  check "$with: npx league-sync demo" at npx --no -- league-sync demo --for 3s
  rm -rf "$clone"
done

summarize
