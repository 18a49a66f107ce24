#!/usr/bin/env bash
# The promise of the README: on a Debian 12 with Node 20 and npm 11 and nothing else, its commands work as written, for
# an ordinary user, in a fresh clone of HEAD. They are read from the README. Needs root on a Debian-like machine.
set -euo pipefail

# shellcheck source=test/support/ring.sh
source "$(dirname "${BASH_SOURCE[0]}")/../support/ring.sh"
# shellcheck source=test/install/in-root.sh
source "$project/test/install/in-root.sh"

here=$project/test/install
root=$work/root clone=/home/player/league-sync

prepare_root() {
  must_be_root "to lay out a Debian"
  install_needed debootstrap
  lay_out_root "$root" 20 11
}

prepare_clone() {
  git clone --quiet "$project" "$root$clone"
  chroot "$root" useradd --home-dir /home/player player
  chroot "$root" chown --recursive player:player /home/player
}

# as_user COMMAND… - in the clone.
as_user() { in_root "$root" --user player env --chdir "$clone" USER=player "$@"; }

shows_nothing_else() {
  # shellcheck disable=SC2016 # for the shell in there
  as_user bash -c 'for tool; do ! type "$tool" || exit 1; done' - "${hidden[@]}"
  # Nor somewhere off the PATH.
  find "$root" -xdev -perm /111 ! -type d -printf '/%P\n' >"$work/programs"
  grep -x /usr/local/bin/node "$work/programs"
  finds_nothing -xE '.*/(python[0-9.]*|([a-z0-9_-]+-)?(gcc|g\+\+|cc|ld|make)(-[0-9]+)?|clang[0-9-]*|cc1(plus)?|git)' \
    "$work/programs"
}
is_an_ordinary_user() {
  as_user id
  [[ $(as_user id --user) -gt 0 ]]
  as_user sh -c '! touch /usr/local/bin/mark'
}
is_node() { [[ $(as_user node --version) == "v$1."* && $(as_user npm --version) == "$2."* ]]; }
# None is ever deleted, so those of the first poll stay countable even when the demo adds and removes some later.
demo_stored_all() {
  as_user env LEAGUE_SYNC_DATABASE=demo-data/leagues.db npx --no -- league-sync query --format csv \
    'SELECT count(*) AS leagues FROM leagues WHERE first_seen_at = (SELECT min(first_seen_at) FROM leagues)' |
    tee "$work/count"
  [[ $(tail -n 1 "$work/count" | tr -d '\r') == 124 ]]
}
# Until Ctrl-C, as the README says; `timeout` tells by 124 that it was still going on.
goes_on() {
  local code=0
  as_user timeout --signal=INT 15 bash -euc "$1" | tee "$work/said" || code=$?
  ((code == 124)) && grep -q '"msg":"stopped; ' "$work/said"
}
# What a question of the README comes to: a heading and at least one row.
answers() {
  as_user bash -euc "$1" | tee "$work/answer"
  (($(wc -l <"$work/answer") >= 2))
}

prepare_root
prepare_clone
command=$(bash "$here/fences.sh" "$project/README.md" 'Try it' sh)
# What goes on in the next line is one command.
mapfile -t questions < <(bash "$here/fences.sh" "$project/README.md" 'Ask the database' sh | sed ':a; /\\$/ { N; s/\\\n *//; ba }')

check 'Node 20 and npm 11 are there' is_node 20 11
check 'neither Python nor a compiler nor git is there' shows_nothing_else
check 'the commands run as an ordinary user' is_an_ordinary_user
check 'the README has one command to try' test "$command" == 'npm ci && npm run demo'
check "${command% && *}" as_user bash -euc "${command% && *}"
check "${command#* && }" goes_on "${command#* && }"
check 'the database of the demo holds the 124 leagues' demo_stored_all
check 'the README has three questions' test "${#questions[@]}" == 3
for question in "${questions[@]}"; do
  check "${question:0:100}…" answers "$question"
done

summarize
