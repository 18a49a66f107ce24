#!/usr/bin/env bash
# The npm package: its contents, and that it runs when installed: under npm 10, 11 and 12 without a lockfile,
# on a machine that shows neither Python nor a compiler; for all users; and, with a sentence, on a Node that is too old.
# Needs `npm ci` done before.
set -euo pipefail

# shellcheck source=test/support/ring.sh
source "$(dirname "${BASH_SOURCE[0]}")/../support/ring.sh"
# shellcheck source=test/support/npm-path.sh
source "$project/test/support/npm-path.sh"
# shellcheck source=test/install/page.sh
source "$project/test/install/page.sh"

node24=$(readlink -f "$project/node_modules/.bin/node")
# A fifth of it are pictures of the page.
most_packed_kb=1550
# All that it holds, as globs of the shell, each of which has to match.
expected=(package.json README.md LICENSE CHANGELOG.md SECURITY.md .env.example dist/league-sync.cjs dist/THIRD-PARTY-NOTICES.txt
  'migrations/[0-9][0-9][0-9][0-9]_*.sql' migrations/meta/_journal.json 'migrations/postgres/[0-9][0-9][0-9][0-9]_*.sql'
  docs/{alternatives,configuration,cookbook,deployment,glossary,interface,messages,operations,page,rehearsal,scaling,schema,webhooks}.md 'docs/*.png' docs/demo.svg
  'docs/deployment/*.md' docs/monitoring/{README.md,alerts.yaml,dashboard.json}
  deploy/league-sync.service deploy/league-sync@.service deploy/league-sync.sh)

pack() {
  # Built by its own hook, as when it is published.
  or_give_up "npm pack failed" env --chdir "$project" npm pack --pack-destination "$work"
  tarball=$(echo "$work"/league-sync-*.tgz)
  tar --extract --file "$tarball" --directory "$work"
  (cd "$work/package" && find . -type f -printf '%P\n' | sort) >"$work/files"
}

holds_nothing_else() {
  local file pattern known
  while read -r file; do
    known=
    for pattern in "${expected[@]}"; do
      # shellcheck disable=SC2053 # a pattern is what it is
      [[ $file != $pattern || ${file//[^\/]/} != "${pattern//[^\/]/}" ]] || known=yes
    done
    [[ $known ]] || echo "surplus: $file"
  done <"$work/files" | tee "$work/surplus"
  [[ ! -s $work/surplus ]]
}

lacks_nothing() {
  local pattern
  for pattern in "${expected[@]}"; do
    # Each file that the project has of it: no other check would notice that one is not packed.
    (cd "$project" && compgen -G "$pattern" || echo "nothing: $pattern")
  done | sort | comm -23 - "$work/files" | tee "$work/missing"
  [[ ! -s $work/missing ]]
}

holds_no_secret() {
  finds_nothing -rlE 'BEGIN [A-Z ]*PRIVATE KEY|_authToken' "$work/package"
  finds_nothing -E '^#?LEAGUE_SYNC_(BASE_URL|USERNAME|PASSWORD)=.' "$work/package/.env.example"
  [[ ! -e $work/package/.npmrc ]]
}

# Of each package in the bundle the name, and the words by which its licence is granted.
holds_the_licences() {
  local name
  for name in commander drizzle-orm hono node-cron pino undici zod; do
    grep -E "^$name [0-9]+\." "$work/package/dist/THIRD-PARTY-NOTICES.txt"
  done
  local granted packages
  granted=$(grep -ciE 'permission is hereby granted|permission to use, copy|redistribution and use|apache license' "$work/package/dist/THIRD-PARTY-NOTICES.txt")
  packages=$(grep -cE '^(@[a-z0-9-]+/)?[a-z0-9.-]+ [0-9]+\.[0-9]+\.[0-9]+ \(' "$work/package/dist/THIRD-PARTY-NOTICES.txt")
  echo "$packages packages, $granted licences"
  ((granted >= packages))
}

# The list of packages that is attached to a release (docs/release.md) names all that is in the bundle.
sbom_names_the_bundle() {
  (cd "$project" && npm sbom --sbom-format cyclonedx) >"$work/sbom.json"
  grep -oE '^(@[a-z0-9-]+/)?[a-z0-9.-]+ [0-9]+\.[0-9]+\.[0-9]+ \(' "$work/package/dist/THIRD-PARTY-NOTICES.txt" |
    sed -E 's/^(.*) (.*) \($/"bom-ref": "\1@\2"/' >"$work/bundled"
  [[ -s $work/bundled ]]
  while read -r entry; do grep -qF "$entry" "$work/sbom.json" || echo "lacks $entry"; done <"$work/bundled" |
    tee "$work/unlisted"
  [[ ! -s $work/unlisted ]]
}

# What is said of the project's other files leads to a checkout; the manual goes with the program.
links_of_the_manual_lead_somewhere() {
  local page target
  grep '\.md$' "$work/files" >"$work/pages"
  while read -r page; do
    links "$work/package/$page" | while read -r target; do
      target=$(realpath --canonicalize-missing --relative-to "$work/package" "$work/package/$(dirname "$page")/$target")
      case $target in
        CONTRIBUTING.md | Dockerfile | compose.yaml | deploy/compose-two.yaml | deploy/datasette.json | deploy/kubernetes*.yaml) ;;
        docs/architecture.md | docs/performance.md | docs/release.md | docs/decisions* | test/* | src/*) ;;
        *) [[ -e $work/package/$target ]] || echo "$page: $target" ;;
      esac
    done
  done <"$work/pages" | tee "$work/dangling"
  [[ ! -s $work/dangling ]]
}
# A page may have none.
links() { { grep -oE '\]\([^)#:]+[)#]' "$1" || (($? == 1)); } | sed 's/^](//; s/.$//'; }

is_small() { (($(stat --format %s "$tarball") <= most_packed_kb * 1000)); }

describes_itself() {
  "$node24" -e '
    const assert = require("node:assert");
    const manifest = require(process.argv[1]);
    assert.equal(manifest.license, "MIT");
    assert.equal(manifest.engines.node, ">=24");
    assert.deepEqual(manifest.bin, { "league-sync": "dist/league-sync.cjs" });
    assert.ok(manifest.description.length > 20 && manifest.keywords.length > 2);
    assert.deepEqual(Object.keys(manifest.dependencies), ["better-sqlite3"]);
    for (const hook of ["preinstall", "install", "postinstall"]) assert.equal(manifest.scripts[hook], undefined);
  ' "$work/package/package.json"
}

# at FOLDER COMMAND… - there, with the PATH of links; what it prints is kept.
at() {
  local folder=$1
  shift
  (cd "$folder" && PATH=$bin "$@") 2>&1 | tee "$work/said"
}

says_its_version() { at "$@" && [[ $(tail -n 1 "$work/said") == "$version" ]]; }
runs_the_demo() { at "$@" && demo_ran "$1"; }
demo_ran() {
  grep -q 'leagues: changed: 124 received, 124 added' "$work/said" && grep -q '"msg":"stopped: leagues ' "$work/said" &&
    [[ -f $1/demo-data/leagues.db ]]
}
installs_nothing_else() { [[ $(cd "$1/node_modules" && echo *) == 'better-sqlite3 league-sync node-addon-api' ]]; }
refuses() { # with 78 and the sentence
  local code=0
  at "$@" || code=$?
  ((code == 78)) && grep -q 'league-sync needs Node 24 or newer; this is Node 20' "$work/said"
}

has_its_own_node() {
  echo '{ "private": true, "allowScripts": { "node": true } }' >"$1/package.json"
  at "$1" npm install "$tarball" node@24 && says_its_version "$1" npx --no -- league-sync --version
}

page_names_this_tarball() {
  grep -oE 'league-sync-[0-9]+\.[0-9]+\.[0-9]+[^ `]*\.tgz' "$pages" | sort | uniq --count |
    tee "$work/named"
  [[ $(awk '{ print $2 }' "$work/named") == "$(basename "$tarball")" ]]
}

# The page's commands, in the folder `folder`, in which the package lies, for an npm whose place for all is `global`,
# and which takes nothing from the registry that only has the name of a program.
as_written() {
  local run=(at "$folder" env npm_config_prefix="$global" npm_config_yes=false PATH="$bin:$global/bin" sh -c "$1")
  case $1 in
    'npm install --global '*) "${run[@]}" && [[ -L $global/bin/league-sync ]] ;;
    'npm install '*) "${run[@]}" && installs_nothing_else "$folder" ;;
    'npm uninstall --global '*) "${run[@]}" && [[ ! -e $global/bin/league-sync && ! -e $global/lib/node_modules/league-sync ]] ;;
    'npm uninstall '*) "${run[@]}" && [[ ! -e $folder/node_modules/league-sync && -f $folder/demo-data/leagues.db ]] ;;
    *' --version') "${run[@]}" && [[ $(tail -n 1 "$work/said") == "$version" ]] ;;
    *' demo '*) "${run[@]}" && demo_ran "$folder" ;;
    *) echo "no expected result is known" && return 1 ;;
  esac
}

had() { # had FOLDER PACKAGE… - from the registry
  or_give_up "$2 could not be had" npm install --prefix "$@" --no-fund
}

pack
version=$("$node24" --print 'require(process.argv[1]).version' "$work/package/package.json")
check 'the package holds nothing but what is expected' holds_nothing_else
check 'it lacks nothing of that' lacks_nothing
check 'it holds no secret' holds_no_secret
check 'it holds the licence of each package in the bundle' holds_the_licences
check 'npm sbom names each package in the bundle' sbom_names_the_bundle
check 'the links of its documents lead somewhere' links_of_the_manual_lead_somewhere
check "it is smaller than $most_packed_kb kB" is_small
check 'its package.json says what it is, and runs nothing where it is installed' describes_itself
check "$document names the file of this version" page_names_this_tarball

for major in 10 11 12; do
  had "$work/npm$major" "npm@$major"
  npm=$work/npm$major/node_modules/npm bin=$work/bin$major folder=$work/empty$major global=$work/global$major
  make_path "$bin" "$node24" "$npm"
  mkdir "$folder" "$global"
  with="npm $(PATH=$bin npm --version 2>/dev/null) on Node $("$node24" --version)"
  check "$with: there is neither Python, a compiler nor git" shows_none_of_the_hidden "$bin"
  if ((major == 11)); then
    cp "$tarball" "$folder"
    echo "$with:"
    run_section 'From npm' as_written
    check 'league-sync demo, installed for all' runs_the_demo "$global" "$global/bin/league-sync" demo --for 3s
    run_section 'Upgrade or remove the package' as_written
    continue
  fi
  check "$with: npm install into an empty folder" at "$folder" npm install --ignore-scripts=false "$tarball"
  check "$with: nothing but the program and its addon is installed" installs_nothing_else "$folder"
  check "$with: npx league-sync --version" says_its_version "$folder" npx --no -- league-sync --version
  check "$with: npx league-sync demo --for 3s" runs_the_demo "$folder" npx --no -- league-sync demo --for 3s
done
check_claims

had "$work/node20" node@20
bin=$work/bin20 folder=$work/old
make_path "$bin" "$(readlink -f "$work/node20/node_modules/.bin/node")" "$work/npm11/node_modules/npm"
mkdir "$folder"
check 'on Node 20 it can be installed' at "$folder" npm install "$tarball"
check 'on Node 20 it says which Node it needs, and exits with 78' \
  refuses "$folder" npx --no -- league-sync demo --for 3s
check 'a package of Node 24 beside it helps, as docs/deployment/bare.md says' has_its_own_node "$folder"
unpacked_kb=$(du -sk --apparent-size "$work/package" | cut -f 1)
echo "packed it has $(($(stat --format %s "$tarball") / 1000)) kB, unpacked $unpacked_kb kB"

summarize
