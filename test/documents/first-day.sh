#!/usr/bin/env bash
# The first day of somebody new, in a checkout: the trial, the real service in the same .env, and what goes wrong then.
# Each message must name what is wrong, and the command that it advises must work where it was printed. Needs `npm ci`
# done before.
set -euo pipefail

# shellcheck source=test/support/ring.sh
source "$(dirname "${BASH_SOURCE[0]}")/../support/ring.sh"

must_be_built
home=$work/checkout
trial=18431 real=18432 receiver=18433 page=18434
end_ring() { xargs --no-run-if-empty kill -TERM <"$work/begun" 2>/dev/null; }

git clone --quiet "$project" "$home"
ln -s "$project/node_modules" "$home/node_modules"
cp -r "$project/dist" "$home/dist"
cd "$home"
export HOME=$work NO_COLOR=1
# As npm starts the program, without npm's own second for each start.
export npm_execpath=npm
league_sync() { node_modules/.bin/node dist/league-sync.cjs "$@" </dev/null; }
begin() { # begin LOG COMMAND… - its process id is the last line of the file `begun`
  local log=$1
  shift
  (exec node_modules/.bin/node dist/league-sync.cjs "$@" </dev/null >"$log" 2>&1) &
  echo $! >>"$work/begun"
}

simulate() { # simulate PORT PASSWORD
  begin "$work/simulate-$1.log" simulate --port "$1" --username player --password "$2"
  within 20 curl -fs "http://127.0.0.1:$1/_faults" -o /dev/null
}
set_to() { # set_to NAME VALUE - in .env
  sed -i "/^#\? \?LEAGUE_SYNC_$1=/d" .env
  echo "LEAGUE_SYNC_$1=$2" >>.env
}
# says CODE TEXT… COMMAND… after -- : the command ends with the code, and each text is in what it printed.
says() {
  local wanted=$1 texts=() ended=0
  shift
  while [[ $1 != -- ]]; do texts+=("$1"); shift; done
  shift
  league_sync "$@" >"$work/said" 2>&1 || ended=$?
  tr -s ' \n' ' ' <"$work/said" >"$work/line"
  cat "$work/line"
  [[ $ended == "$wanted" ]] || { echo "ended with $ended"; return 1; }
  for text in "${texts[@]}"; do grep -qF -- "$text" "$work/line" || { echo "lacks: $text"; return 1; }; done
}
# The first command with npx in what was said last, without `npx league-sync`.
advised() { grep -oP 'npx league-sync \K[a-z]+( --[a-z-]+)?' "$work/line" | head -n 1; }

begin_trial() {
  cp .env.example .env
  set_to BASE_URL "http://127.0.0.1:$trial"
  set_to USERNAME player
  set_to PASSWORD secret-password
  set_to DATABASE data/trial.db
  set_to LISTEN "127.0.0.1:$page"
  says 0 ' ok' -- check
  says 0 '124 added' -- sync
}

refuse_other_service() {
  set_to BASE_URL "http://127.0.0.1:$real"
  set_to PASSWORD real-password
  for command in sync check; do
    says "$([[ $command == sync ]] && echo 78 || echo 1)" "127.0.0.1:$trial" "127.0.0.1:$real" 'name another file' -- "$command"
  done
  set_to DATABASE data/leagues.db
  says 0 '124 added' -- sync
  says 0 '124 leagues' 'no worker runs' 'npx league-sync run' -- status
}

name_wrong_path() {
  set_to BASE_URL "http://127.0.0.1:$real/api"
  set_to DATABASE data/other.db
  says 1 "http://127.0.0.1:$real/api/" 'LEAGUE_SYNC_BASE_URL' -- sync
  set_to BASE_URL "http://127.0.0.1:$real/events/v1/leagues/"
  says 78 'LEAGUE_SYNC_BASE_URL' 'ends with the path of a request' -- sync
  set_to BASE_URL "http://127.0.0.1:$real"
}

name_wrong_password() {
  set_to PASSWORD wrong-password
  says 77 'refused the login' 'LEAGUE_SYNC_PASSWORD' -- sync
  local asked
  asked=$(grep -c . "$work/simulate-$real.log")
  says 77 'refused' 'the next try may be made at' -- sync
  [[ $asked == "$(grep -c . "$work/simulate-$real.log")" ]]
  set_to PASSWORD real-password
  says 0 '124 added' -- sync
  set_to DATABASE data/leagues.db
}

start_worker() {
  begin "$work/run.log" "${1:-run}"
  within 20 curl -fs "http://127.0.0.1:$page/readyz" -o /dev/null
}
stop_worker() {
  kill -TERM "$(grep -oP 'worker started \(process \K\d+' "$work/run.log" | tail -n 1)"
  within 10 grep -qE 'stopped; ' "$work/run.log"
}

find_deleted_file() {
  start_worker
  says 0 'unchanged' -- poll
  rm data/leagues.db
  within 5 grep -q 'nothing new is written' "$work/run.log"
  says 1 'is gone' "put the database back (mv '" -- check
  says 74 'is gone' "put the database back (mv '" -- status
  stop_worker
  eval "$(grep -oP '\((?=mv)\K[^)]+' "$work/line" | head -n 1)"
  says 0 '124 leagues' -- status
  start_worker "$(advised)"
  stop_worker
}

outlast_receiver() {
  set_to WEBHOOK_URL "http://127.0.0.1:$receiver/_webhooks"
  set_to WEBHOOK_SECRET whsec_YS1zZWNyZXQtZXZlcnlib2R5LWtub3dz
  start_worker
  says 0 '124 changes will be sent' -- webhook replay --since 0
  # The third attempt comes after five minutes: not before the receiver is back.
  within 30 eval 'league_sync status | grep -q "failed 2 times"'
  says 0 'changes pending' 'ECONNREFUSED' -- status
  says 1 'ECONNREFUSED' -- webhook test
  simulate "$receiver" another-password
  says 0 'accepted the test message' 'due at once' -- webhook test
  within 10 eval 'league_sync status | grep -q "nothing pending"'
  stop_worker
}

simulate "$trial" secret-password
simulate "$real" real-password
check 'the trial has a database of its own' begin_trial
check 'the real service in the same .env is not mixed with the trial' refuse_other_service
check 'a path that is missing or pasted is named, with the address that was asked' name_wrong_path
check 'a wrong password is named, and not tried again at once' name_wrong_password
check 'a file that is deleted under the worker is found again' find_deleted_file
check 'a receiver that was away gets everything once it is back' outlast_receiver
summarize
