#!/usr/bin/env bash
# The install matrix: fresh clones of HEAD, installed by npm 10, 11 and 12 on a machine that shows neither Python nor a
# compiler. `npm ci` has to build the program, and `npx league-sync` has to run it, whichever Node the machine has.
set -euo pipefail

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
node24=$(readlink -f "$project/node_modules/.bin/node")
# What npm, its scripts and a shell need. Whatever else is on the machine stays out of sight.
tools=(sh bash env git uname cat tee ls cp mv rm mkdir rmdir chmod ln readlink dirname basename pwd id sed grep sleep true test which)
version=$("$node24" --print 'require(process.argv[1]).version' "$project/package.json")
hidden=(python python3 make cc gcc g++ clang)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# An npm that started this script must not tell those in it what to do; the way to the registry is the machine's.
mapfile -t inherited < <(compgen -e | grep -iE '^(npm_|NODE_OPTIONS$|INIT_CWD$)' |
  grep -viE '^npm_config_(registry|cafile|ca|cache|proxy|https_proxy|noproxy|userconfig)$' || true)
unset "${inherited[@]}"
# Where the machine says how its registry is reached; a Node elsewhere would look for it elsewhere.
npm_config_globalconfig=$(npm config get globalconfig 2>/dev/null)
export npm_config_globalconfig npm_config_audit=false npm_config_update_notifier=false

# make_path FOLDER NODE NPM: a folder of links to be the whole PATH.
make_path() {
  mkdir "$1"
  for tool in "${tools[@]}"; do
    ! command -v "$tool" >/dev/null || ln -s "$(type -P "$tool")" "$1/$tool"
  done
  ln -s "$2" "$1/node"
  ln -s "$3/bin/npm-cli.js" "$1/npm"
  ln -s "$3/bin/npx-cli.js" "$1/npx"
}

says_its_version() { [[ $(npx --no -- league-sync --version | tee /dev/stderr) == "$version" ]]; }

# step SENTENCE COMMAND… in the clone, with the PATH of links
step() {
  local sentence=$1
  shift
  if (cd "$clone" && PATH=$bin "$@") >"$work/log" 2>&1; then
    echo "ok - $sentence"
    passed=$((passed + 1))
  else
    echo "not ok - $sentence (exit code $?)"
    tail -n 30 "$work/log" | sed 's/^/  /'
    failed=$((failed + 1))
  fi
}

shows_no_compiler() {
  for tool in "${hidden[@]}"; do
    [[ ! -e $bin/$tool ]] || return 1
    ! command -v "$tool" || return 1
  done
}

for major in 10 11 12; do
  npm install --prefix "$work/npm$major" --no-fund "npm@$major" >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log"; echo "npm $major could not be had" >&2; exit 1; }
  npm=$work/npm$major/node_modules/npm
  # npm 12 refuses the older Node that a machine may have.
  node=$(readlink -f "$(type -P node)")
  if ((major >= 12)); then node=$node24; fi
  bin=$work/bin$major clone=$work/clone$major
  make_path "$bin" "$node" "$npm"
  git clone --quiet "$project" "$clone"
  with="npm $(PATH=$bin npm --version 2>/dev/null) on Node $("$node" --version)"
  step "$with: there is neither Python nor a compiler" shows_no_compiler
  step "$with: npm ci" npm ci
  # --no: a program that was not built must not be looked for in the registry. Without the dashes npm would take what
  # follows as its own, and tell its own version.
  step "$with: npx league-sync --version" says_its_version
  step "$with: npx league-sync demo" npx --no -- league-sync demo --for 3s
  rm -rf "$clone"
done

echo "$passed passed, $failed failed"
((failed == 0))
