#!/usr/bin/env bash
# The systemd ring: a minimal Debian with an old Node is booted with its systemd as process 1, the npm package is
# installed there by the commands of docs/deployment/systemd.md, and the service is run against the simulated one. Needs
# root on a Debian-like machine, and `npm ci` done before.
set -euo pipefail

# shellcheck source=test/support/ring.sh
source "$(dirname "${BASH_SOURCE[0]}")/../support/ring.sh"
# shellcheck source=test/install/page.sh
source "$project/test/install/page.sh"
# shellcheck source=test/install/in-root.sh
source "$project/test/install/in-root.sh"

here=$project/test/systemd
# Tenths of systemd's points: 0 is closed, 100 wide open.
most_exposure=13
unit=/etc/systemd/system/league-sync.service

root=$work/root
cgroup=league-sync-ring-$$
boot='' init=''

end_ring() {
  [[ $boot ]] || return 0
  # With the first process of a process namespace all others in it end.
  { kill -KILL "$boot" && wait "$boot"; } 2>/dev/null
  # systemd's own groups stay behind; a mount that no other process sees reaches them wherever the machine has its own.
  unshare --mount bash "$here/sweep.sh" "$cgroup"
}

# What the service said last tells more of a check that failed.
explain() {
  [[ -z $init ]] || inside journalctl -u league-sync -o cat -n 8 2>&1 | cut -c 1-400 | sed 's/^/  journal: /'
}

# The commands that the document has under a heading, as one script.
commands() { fences "$1" sh | tee --append "$work/ran"; }
settings() { fences "$1" ini; }

prepare_root() {
  lay_out_root "$root" 20 11
  or_give_up "systemd could not be installed" in_root "$root" sh -c \
    'apt-get update && apt-get install --yes --no-install-recommends systemd systemd-sysv dbus sqlite3'
  or_give_up "the npm package could not be made" \
    env --chdir "$project" npm pack --ignore-scripts --pack-destination "$root/root"
}

# Before the boot, since the registry cannot be reached after it.
installs_as_documented() {
  commands 'Install the program' | in_root "$root" npm_config_update_notifier=false npm_config_audit=false sh -eux
}
holds_its_own_node() { [[ $("$root/opt/league-sync/node_modules/.bin/node" --version) == v24.* ]]; }

start_machine() {
  unshare --mount --cgroup --pid --fork --kill-child --mount-proc \
    bash "$here/boot.sh" "$root" "$cgroup" </dev/null >"$work/boot.log" 2>&1 &
  boot=$!
  if ! within 30 find_init || ! within 30 is_up; then
    cat "$work/boot.log" >&2
    give_up "no systemd boots on this machine"
  fi
}

# The process that says of itself that it is process 1 of the namespace in the namespace.
find_init() {
  local process
  for process in /proc/[0-9]*; do
    [[ $(awk '/^NSpid:/ { print NF, $NF }' "$process/status" 2>/dev/null) == '4 1' ]] || continue
    [[ $(stat --format %d:%i "$process/root/." 2>/dev/null) == "$(stat --format %d:%i "$root/.")" ]] || continue
    init=${process#/proc/}
    return 0
  done
  return 1
}

inside() {
  nsenter --target "$init" --mount --uts --ipc --net --pid --cgroup --root -- /usr/bin/env \
    --ignore-environment --chdir /root HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

is_up() { [[ $(inside systemctl is-system-running 2>/dev/null) == @(running|degraded) ]]; }

is_booted() {
  inside cat /proc/1/comm
  [[ $(inside cat /proc/1/comm) == systemd && $(inside systemctl is-system-running) == running ]]
}

# simulate PASSWORD - the service, as a service of its own.
simulate() {
  inside systemctl stop simulator 2>/dev/null || true
  inside systemd-run --quiet --collect --unit simulator --uid nobody \
    league-sync simulate --port 8080 --username player --password "$1"
  within 10 inside bash -c 'echo >/dev/tcp/127.0.0.1/8080' 2>/dev/null
}

set_password() { inside sh -c "echo '$1' > /etc/league-sync/password"; }

# The document's own settings, but for the address; further lines as arguments.
write_settings() {
  { settings 'Set it up' | sed 's|=https://.*|=http://127.0.0.1:8080|'; printf '%s\n' "$@"; } |
    inside sh -c 'cat > /etc/league-sync/league-sync.env'
}

set_up_as_documented() {
  commands 'Set it up' | inside sh -eux
  write_settings
  simulate first-secret
  set_password first-secret
}

checks_well_as_documented() { commands 'Check the setup' | inside sh -eux; }
verifies() {
  inside systemd-analyze verify "$unit" 2>&1 | tee "$work/said"
  [[ ! -s $work/said ]]
}
is_closed() {
  inside systemd-analyze security --no-pager --offline=true --threshold="$most_exposure" "$unit" \
    >"$work/security" 2>&1 || { grep ✗ "$work/security"; tail -n 1 "$work/security"; return 1; }
}
# What nothing else here would notice the loss of.
keeps_its_settings() {
  inside systemctl show league-sync --property \
    Restart,RestartUSec,RestartPreventExitStatus,StartLimitIntervalUSec,KillMode,TimeoutStopUSec,LimitCORE,TasksMax,MemoryMax |
    sort | tee "$work/shown"
  inside systemctl is-enabled league-sync
  diff "$work/shown" - <<'SHOWN'
KillMode=mixed
LimitCORE=0
MemoryMax=1572864000
Restart=always
RestartPreventExitStatus=64 78
RestartUSec=10s
StartLimitIntervalUSec=0
TasksMax=64
TimeoutStopUSec=30s
SHOWN
}

starts_as_documented() { commands 'Start it' | inside sh -eux; }

shown() { inside systemctl show --value --property "$1" league-sync; }
state_is() { [[ "$(shown ActiveState) $(shown SubState)" == "$1" ]]; }
# As a user who has nothing to do with the worker, by a program that knows nothing of it.
ask() {
  inside setpriv --reuid nobody --clear-groups \
    sqlite3 -readonly -cmd '.timeout 2000' /var/lib/league-sync/leagues.db "$1"
}
all_leagues_stored() { [[ $(ask 'SELECT count(*) FROM leagues' 2>/dev/null) == 124 ]]; }
finds() { [[ $(ask "SELECT EXISTS ($1)") == 1 ]]; }

worker_status() { inside cat "/proc/$(shown MainPID)/status"; }
runs_without_root() {
  local user
  user=$(inside id --user league-sync)
  worker_status | awk -v user="$user" '/^Uid:/ { uid = $2 } /^CapEff:|^CapPrm:|^CapBnd:/ { caps = caps $2 }
    /^NoNewPrivs:/ { no = $2 } /^Seccomp:/ { filter = $2 } { print }
    END { exit !(uid == user && uid > 0 && caps ~ /^0+$/ && no == 1 && filter == 2) }'
}
writes_nowhere_else() {
  inside nsenter --target "$(shown MainPID)" --mount --wd=/ -- findmnt --noheadings --raw --output TARGET,OPTIONS |
    awk '$1 == "/" { ro = $2 ~ /^ro/ } $1 == "/var/lib/league-sync" { rw = $2 ~ /^rw/ } { print }
      END { exit !(ro && rw) }'
}
tells_of_the_worker() { # by any user, and by its kernel's own list of locks
  inside setpriv --reuid nobody --clear-groups league-sync status | tee "$work/status"
  grep -q "running: process $(shown MainPID) " "$work/status"
}
logs_json() {
  # Its own lines, not those of systemd about it.
  inside journalctl -o cat _SYSTEMD_UNIT=league-sync.service >"$work/log"
  "$root/opt/league-sync/node_modules/.bin/node" -e '
    const text = require("node:fs").readFileSync(process.argv[1], "utf8");
    const lines = text.trim().split("\n").map((line) => JSON.parse(line));
    if (!lines.some((line) => /124 received/.test(line.msg))) throw new Error("no line tells of the leagues");
  ' "$work/log"
}
# Not by those who may read the database, even if that is only the group.
password_is_closed() {
  inside setpriv --reuid nobody --regid league-sync --clear-groups cat /etc/league-sync/password >"$work/said" 2>&1 &&
    return 1
  grep 'Permission denied' "$work/said"
}
keeps_secrets_out() {
  inside sh -ec 'journalctl -u league-sync --output export; cat /var/lib/league-sync/*' >"$work/all"
  grep --text --quiet "124 received" "$work/all" || { echo "there is no journal"; return 1; }
  finds_nothing --text --count --extended-regexp '(first|second)-secret' "$work/all"
}

reloads() {
  local last
  last=$(ask 'SELECT max(id) FROM runs')
  inside systemctl reload league-sync
  within 10 finds "SELECT 1 FROM runs WHERE id > $last AND kind = 'leagues' AND trigger = 'manual'
    AND outcome IN ('changed', 'unchanged')"
}

takes_over_a_new_password() {
  local last
  last=$(ask 'SELECT max(id) FROM logins')
  simulate second-secret
  inside systemctl reload league-sync
  within 20 finds "SELECT 1 FROM logins WHERE id > $last AND outcome = 'refused'" ||
    { echo 'it was not refused'; return 1; }
  set_password second-secret
  within 25 finds "SELECT 1 FROM logins WHERE id > $last AND outcome = 'ok'"
}

# The service receives webhooks, under the secret that everybody knows.
demo_secret=whsec_YS1zZWNyZXQtZXZlcnlib2R5LWtub3dz
sends_webhooks_as_documented() {
  commands 'Send webhooks' | inside sh -eux
  inside stat --format '%n %a %U' /etc/league-sync/webhook-secret | tee "$work/modes"
  grep -qx '/etc/league-sync/webhook-secret 400 league-sync' "$work/modes"
  inside cat /etc/league-sync/webhook-secret >"$work/secret"
  grep -qxE 'whsec_[A-Za-z0-9+/]{43}=' "$work/secret"
  write_settings "$(settings 'Send webhooks' | sed 's|=https://.*|=http://127.0.0.1:8080/_webhooks|')"
  inside systemctl restart league-sync
  within 20 finds "SELECT 1 FROM outputs WHERE name = 'webhook'"
  inside sh -c "echo '$demo_secret' > /etc/league-sync/webhook-secret"
  inside runuser -u league-sync -- league-sync webhook replay --since 0
  within 20 finds "SELECT 1 FROM outputs, webhook WHERE name = 'webhook' AND done_at > moved_at AND seq >= 124"
}

comes_back_after_a_kill() {
  local before
  before=$(shown MainPID)
  inside systemctl kill --kill-whom main --signal KILL league-sync
  within 30 runs_anew "$before"
  within 10 is_live
  reloads
}
runs_anew() { state_is 'active running' && [[ $(shown MainPID) != "$1" && $(shown NRestarts) == 1 ]]; }
is_live() { inside league-sync status --probe; }

# ends_with CODE STATE - at a start with the settings as they are
ends_with() {
  inside systemctl restart league-sync
  within 10 state_is "$2" || { inside systemctl status --no-pager league-sync; return 1; }
  [[ $(shown ExecMainStatus) == "$1" ]]
}
stays_down_after_wrong_settings() {
  write_settings 'LEAGUE_SYNC_SCHEDULE=now and then'
  ends_with 78 'failed failed'
}
is_tried_again_without_a_database() {
  write_settings 'LEAGUE_SYNC_DATABASE=/srv/nobody-may-write-here.db'
  ends_with 74 'activating auto-restart'
}

is_tried_again_until_its_address_is_there() {
  write_settings 'LEAGUE_SYNC_LISTEN=192.0.2.1:9464'
  ends_with 75 'activating auto-restart'
}

takes_a_credential() {
  local last
  last=$(ask 'SELECT max(id) FROM logins')
  inside systemctl stop league-sync
  inside mkdir -p /etc/systemd/system/league-sync.service.d
  settings 'Change the password' | inside sh -c 'cat > /etc/systemd/system/league-sync.service.d/credential.conf'
  settings 'Set it up' | sed 's|=https://.*|=http://127.0.0.1:8080|; /PASSWORD_FILE/d' |
    inside sh -c 'cat > /etc/league-sync/league-sync.env'
  # Only by root, whose rights the worker does not have.
  inside chown root:root /etc/league-sync/password
  inside systemctl daemon-reload
  inside systemctl start league-sync
  within 15 finds "SELECT 1 FROM logins WHERE id > $last AND outcome = 'ok'"
}

stops_cleanly() {
  local began=$SECONDS
  inside systemctl stop league-sync
  echo "after $((SECONDS - began)) s: $(shown Result), exit code $(shown ExecMainStatus)"
  inside ls -A /var/lib/league-sync
  ((SECONDS - began <= 10))
  [[ $(shown Result) == success && $(shown ExecMainCode) == 1 && $(shown ExecMainStatus) == 0 ]]
  [[ $(inside ls -A /var/lib/league-sync) == leagues.db ]]
  all_leagues_stored
}

updates_as_documented() {
  # The registry cannot be reached in there: what npm fetched for the installation has to do.
  commands 'Update it' | inside npm_config_offline=true sh -eux
  within 10 is_live
}

# Typed in by a person. The shell of root, since that of scripts has no `read -s`.
writes_the_password_as_documented() {
  inside bash -c "$(commands 'Write the password')" <<<first-secret &&
    inside stat --format '%n %a %U' /etc/league-sync/password /etc/league-sync/league-sync.env | tee "$work/modes" &&
    grep -qx '/etc/league-sync/password 400 league-sync' "$work/modes" &&
    grep -qx '/etc/league-sync/league-sync.env 600 root' "$work/modes" &&
    [[ $(inside cat /etc/league-sync/password) == first-secret ]]
}

as_reader() { inside setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
as_member() { inside setpriv --reuid nobody --regid league-sync --clear-groups "$@"; }
for_readers() { printf '%s\n' "$@" | inside sh -c 'cat > /etc/league-sync/readers.env'; }
published=/var/lib/league-sync/published.db

# Of systemd's ways to write a line: blanks around it, quotes, a comment, a line that comes twice.
tells_readers_where_the_worker_is() {
  for_readers '# LEAGUE_SYNC_LISTEN=127.0.0.1:1' 'LEAGUE_SYNC_LISTEN=127.0.0.1:2' " LEAGUE_SYNC_LISTEN = '127.0.0.1:9555' " \
    "LEAGUE_SYNC_PUBLISH=\"$published\"" &&
    inside systemctl restart league-sync && within 20 as_reader league-sync status --probe || return 1
  as_reader league-sync status --json | tee "$work/told" | grep -F "\"$published\"" &&
    ! as_reader env LEAGUE_SYNC_LISTEN=127.0.0.1:2 league-sync status --probe
}
names_another_database() {
  for_readers 'LEAGUE_SYNC_DATABASE=/srv/elsewhere.db' &&
    ! as_reader league-sync status >"$work/told" 2>&1 && grep -F /srv/elsewhere.db "$work/told"
}

# publishes MODE… - a copy is rebuilt, and has one of these
publishes() {
  inside systemctl stop league-sync && inside rm -f "$published" && inside systemctl start league-sync &&
    within 20 inside test -f "$published" || return 1
  local mode expected
  mode=$(inside stat --format '%a %G' "$published")
  echo "its mode is $mode"
  for expected in "$@"; do [[ $mode != "$expected league-sync" ]] || return 0; done
  return 1
}
publishes_for_all() {
  publishes 444 644 && as_member cat "$published" >/dev/null && as_reader cat "$published" >/dev/null
}
publishes_for_the_group() {
  inside mkdir -p /etc/systemd/system/league-sync.service.d &&
    settings 'Start it' | inside sh -c 'cat > /etc/systemd/system/league-sync.service.d/group.conf' &&
    inside chmod 0640 /var/lib/league-sync/leagues.db && inside systemctl daemon-reload &&
    publishes 440 640 && as_member cat "$published" >/dev/null && ! as_reader cat "$published"
}
is_open_again() {
  for_readers && inside rm -r /etc/systemd/system/league-sync.service.d "$published" &&
    inside chmod 0644 /var/lib/league-sync/leagues.db && inside systemctl daemon-reload &&
    inside systemctl restart league-sync && within 20 is_live && within 10 all_leagues_stored
}

# As many of the checks above as a mistake in the template or in the command could fail.
second=/var/lib/league-sync/second/leagues.db
second_has_leagues() { [[ $(inside sqlite3 -readonly "$second" 'SELECT count(*) FROM leagues' 2>/dev/null) == 124 ]]; }
starts_a_second_worker_as_documented() {
  commands 'Set up a second worker' | inside sh -eux && inside systemd-analyze verify league-sync@second.service || return 1
  settings 'Set up a second worker' | sed 's|=https://.*|=http://127.0.0.1:8080|' |
    inside sh -c 'cat > /etc/league-sync/second/league-sync.env; echo second-secret > /etc/league-sync/second/password'
  commands 'Start the second worker' | inside sh -eux && within 20 second_has_leagues || return 1
  # Each command is for its own worker.
  inside league-sync@second status | tee "$work/status"
  grep -qF "$second" "$work/status"
  grep -q "running: process $(inside systemctl show --value --property MainPID league-sync@second) " "$work/status"
  inside league-sync@second status --probe && is_live
  inside ls -A /var/lib/league-sync /var/lib/league-sync/second
}
removes_the_second_worker_as_documented() {
  commands 'Remove the second worker' | inside sh -eux || return 1
  inside test -f "$second" && ! inside test -e /etc/league-sync/second && ! inside systemctl is-active league-sync@second &&
    is_live || return 1
  inside rm -r /var/lib/league-sync/second
}

checks_well_with_a_credential() { commands 'Change the password' | inside sh -eux; }

polled_after() { finds "SELECT 1 FROM runs WHERE id > $1 AND trigger = 'manual' AND outcome IN ('changed', 'unchanged')"; }
# What the worker did after the backup is gone with the database that it did it in.
restores_as_documented() {
  local last after
  commands 'Back it up' >"$work/restore" && head -n 1 "$work/restore" | inside sh -eux || return 1
  last=$(ask 'SELECT max(id) FROM runs')
  within 10 is_live && inside systemctl reload league-sync && within 10 polled_after "$last" || return 1
  after=$(ask 'SELECT max(started_at) FROM runs')
  tail -n +2 "$work/restore" | inside sh -eux && within 20 is_live && within 10 all_leagues_stored || return 1
  ! finds "SELECT 1 FROM runs WHERE started_at = '$after'"
}

is_removed_as_documented() {
  commands 'Remove it' | inside sh -eux || return 1
  inside ls /var/lib/league-sync/leagues.db && ! inside test -e /opt/league-sync -o -e /etc/league-sync -o -e "$unit" &&
    [[ $(inside systemctl show --value --property LoadState league-sync) == not-found ]]
}

must_be_root "to boot a machine"
must_be_built
install_needed debootstrap systemd-container
prepare_root
check 'the program is installed as documented, under Node 20 and npm 11' installs_as_documented
check 'it brings its own Node 24' holds_its_own_node
((failed == 0)) || { summarize; exit 1; }
start_machine
check 'systemd is process 1, and all of its units are well' is_booted
check 'the service is set up as documented' set_up_as_documented
check 'the password is written as documented, and only the settings of readers are open' writes_the_password_as_documented
check 'league-sync check finds nothing wrong, as documented' checks_well_as_documented
check 'systemd-analyze verify has nothing to say of the unit' verifies
check "its exposure is less than $most_exposure tenths of a point" is_closed
check 'the service starts as documented' starts_as_documented
check 'it keeps to how it is ended, limited and started again' keeps_its_settings
check 'the leagues arrive in the database' within 30 all_leagues_stored
check 'the worker is not root, and has neither capabilities nor all system calls' runs_without_root
check 'it can write to the folder of its database, and not to the root' writes_nowhere_else
check 'another user is told which process the worker is' tells_of_the_worker
check 'the journal holds its lines as they were written' logs_json
check 'only the worker can read the password, not even its group' password_is_closed
check 'systemctl reload polls at once' reloads
check 'a new password is taken over without a restart' takes_over_a_new_password
check 'webhooks are sent as documented, with a new secret at the next attempt' sends_webhooks_as_documented
check 'a killed worker is started again, and goes on' comes_back_after_a_kill
check 'any user is told where the page and the published copy are' tells_readers_where_the_worker_is
check 'all may read the published copy' publishes_for_all
check 'under the drop-in of the page only the group may read it' publishes_for_the_group
check 'the settings of readers name the database, too' names_another_database
check 'without that drop-in all may read the database again' is_open_again
check 'a second worker starts beside it as documented, with a database, a page and a command of its own' \
  starts_a_second_worker_as_documented
check 'the second worker is removed as documented, but for its database' removes_the_second_worker_as_documented
check 'after wrong settings it is not started again' stays_down_after_wrong_settings
check 'without its database it is tried again' is_tried_again_without_a_database
check 'before its address is there it is tried again' is_tried_again_until_its_address_is_there
check 'the password can be a credential that only root can read, as documented' takes_a_credential
check 'league-sync check takes that credential, as documented' checks_well_with_a_credential
check 'systemctl stop ends it with exit code 0, and leaves one file that others can read' stops_cleanly
check 'it is updated as documented' updates_as_documented
check 'neither the journal nor the database holds a password' keeps_secrets_out
check 'a backup is made and restored as documented' restores_as_documented
check 'it is removed as documented, but for the database' is_removed_as_documented
check_claims
tail -n 1 "$work/security"

summarize
