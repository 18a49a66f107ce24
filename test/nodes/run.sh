#!/usr/bin/env bash
# The Node lines: the built program, and the tests of what another Node can do otherwise, on the Node that comes after the
# project's own: files, SQLite's addon, HTTP, processes, time zones, dates, URLs, JSON and `.env`. What only computes does
# not depend on it. Needs `npm ci` done before, and fails if anything ran on another Node than requested.
set -euo pipefail

# shellcheck source=test/support/ring.sh
source "$(dirname "${BASH_SOURCE[0]}")/../support/ring.sh"

majors=(26)
# One or more for each module of Node, and each part of JavaScript's library, that `src` builds on.
tests=(test/unit/{child-process,clock.timestamp,cron,cron.dst,environment.dotenv,json,log,network-error,proxy,race-abort}.test.ts
  test/unit/{response.date,retry-after,table,token}.test.ts
  test/integration/{database,delivery,http,worker-lock,run.deadline,server,service,store,upgrade}.test.ts)

# on MAJOR COMMAND… - with that Node ahead of all others; each Node process that starts writes down which it is.
on() {
  local bin=$work/node$1/node_modules/.bin
  shift
  : >"$work/ran"
  (cd "$project" && PATH=$bin:$PATH RAN=$work/ran NODE_OPTIONS="--require=$project/test/nodes/tell.cjs" "$@")
}

# only_ran MAJOR NEEDLE - all reported processes ran on it, and one of them ran what is asked for
only_ran() {
  sort "$work/ran" | uniq -c
  grep -q " $2\$" "$work/ran"
  finds_nothing -v "^v$1\." "$work/ran"
}

are_there() { (cd "$project" && ls "${tests[@]}"); }
run_tests() { on "$1" node node_modules/vitest/vitest.mjs run "${tests[@]}" --reporter=dot; }
runs_the_program() {
  on "$1" env -C "$work" node --throw-deprecation "$project/dist/league-sync.cjs" demo --for 3s 2>&1 | tee "$work/said"
  grep -q '"msg":"stopped: leagues ' "$work/said"
  finds_nothing -i deprecat "$work/said"
}

check 'the tests of what depends on Node are there' are_there
for major in "${majors[@]}"; do
  or_give_up "Node $major could not be had" npm install --prefix "$work/node$major" --no-audit --no-fund "node@$major"
  version=$("$work/node$major/node_modules/.bin/node" --version)
  check "Node $major is what was asked for ($version)" test "${version%%.*}" == "v$major"
  check "Node $version: the built program runs, without a use of anything deprecated" runs_the_program "$major"
  check "Node $version: nothing else ran the program" only_ran "$major" league-sync.cjs
  check "Node $version: tests of what depends on it" run_tests "$major"
  grep -hE '(Test Files|Tests) ' "$work/check" || true
  check "Node $version: nothing else ran the tests" only_ran "$major" forks.js
  sed 's/^/  /' "$work/check"
done

summarize
