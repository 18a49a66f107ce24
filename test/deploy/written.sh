# The commands of docs/deployment/containers.md's section "Run a container" as written, with podman behind the name
# docker; to be sourced by run.sh. Datasette's image cannot be had, so the section "Compose" is not among them.
# shellcheck shell=bash
# shellcheck disable=SC2154 # what engine.sh and run.sh set

# shellcheck source=test/install/page.sh
source "$project/test/install/page.sh"
written=$work/written

# podman with what docker has by itself. Its layers would only take time: the image is built once.
make_docker() {
  mkdir "$work/bin"
  printf '%s\n' 'unqualified-search-registries = ["docker.io"]' 'short-name-mode = "permissive"' \
    >"$work/registries.conf"
  cat >"$work/bin/docker" <<SHIM
#!/bin/sh
export BUILDAH_FORMAT=docker BUILDAH_ISOLATION=chroot BUILDAH_LAYERS=false
export CONTAINERS_REGISTRIES_CONF=$work/registries.conf
command=\$1
set -- ${engine_options[*]} "\$@"
# A build fetches packages of npm, by the way that this machine has.
[ "\$command" = build ] && exec podman "\$@"
exec ${engine_prefix[*]} podman "\$@"
SHIM
  chmod +x "$work/bin/docker"
}

# The base stands there under the name that the Dockerfile has.
name_base() { engine tag "$base" docker.io/library/node:24-bookworm-slim; }

# A checkout, and the settings beside it.
lay_out_written() {
  mkdir "$written"
  (cd "$project" && cp -r Dockerfile .dockerignore package.json package-lock.json .npmrc tsconfig.json scripts src \
    migrations "$written")
}
write_settings() {
  printf '%s\n' "LEAGUE_SYNC_BASE_URL=$(address_of_service)" LEAGUE_SYNC_ALLOW_HTTP=true LEAGUE_SYNC_USERNAME=player \
    LEAGUE_SYNC_PASSWORD=secret-password >"$written/.env"
}

type_in() {
  (cd "$written" && PATH=$work/bin:$PATH timeout --foreground 300 bash -c "$1") 2>&1 | tee "$work/said"
}
says() { grep -E "$1" "$work/said" >/dev/null || { echo "it does not say: $1"; return 1; }; }

# Runs a command of the page, and looks at what came of it.
as_written() {
  # The reader has a service, and writes its settings just before.
  if [[ $1 == *'--env-file .env'* ]]; then
    open_service
    write_settings
  fi
  type_in "$1"
  case $1 in
    *' build '*) engine tag localhost/league-sync "$image" && has_a_health_check ;;
    *' demo '*) says 'leagues: changed: 124 received, 124 added' && says '"msg":"kept: ' ;;
    'docker run --detach '*) within 30 worker_has_leagues && is_kept_narrow ;;
    *' check') says '^ok +leagues' ;;
    *' status') says '124 live' ;;
    'docker logs '*) says '"msg":"leagues: changed: 124 received, 124 added' ;;
    *' backup '*) type_in 'docker exec league-sync ls /data' && says '^backup\.db$' ;;
    'docker cp '*) polls_once_more && [[ $(sqlite3 "$written/leagues-backup.db" 'SELECT count(*) FROM leagues') == 124 ]] ;;
    *' rm -f /data/backup.db') type_in 'docker exec league-sync ls /data' && says '^leagues\.db$' && ! says backup ;;
    'docker stop league-sync && docker rm '*) ! engine container exists league-sync ;;
    'docker image rm '*) ! engine image exists localhost/league-sync ;;
    'docker volume rm '*) ! engine volume exists leagues ;;
    'docker stop '*) backup_is_older && [[ $(engine inspect --format '{{.State.Status}}' league-sync) == exited ]] ;;
    *restored.db*) type_in 'docker run --rm --network none --volume leagues:/data --entrypoint ls league-sync /data' && ! says 'restored|-wal' ;;
    'docker start '*) within 30 worker_has_leagues && is_restored ;;
    *' kill --signal HUP '*) within 10 has_polled_by_hand ;;
    *'FROM freshness"') says '^last_success_at' && says ' 124 ' ;;
    *) echo "no expected result is known" && return 1 ;;
  esac
}

has_a_health_check() {
  engine image inspect --format '{{.HealthCheck.Test}}' localhost/league-sync | grep -F 'league-sync status --probe'
}
ask_worker() { engine exec league-sync league-sync query --format csv "$1"; }
worker_has_leagues() { ask_worker 'SELECT live_leagues FROM freshness' 2>/dev/null | grep '^124'; }
has_polled_by_hand() {
  ask_worker "SELECT count(*) FROM runs WHERE trigger = 'manual' AND outcome = 'unchanged'" | grep '^[1-9]'
}
is_kept_narrow() {
  engine inspect --format '{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.Memory}} {{.HostConfig.RestartPolicy.Name}}' \
    league-sync | grep -x 'true 536870912 unless-stopped'
}
stops_as_written() {
  type_in 'docker stop league-sync' && [[ $(engine inspect --format '{{.State.ExitCode}}' league-sync) == 0 ]]
}

# What the worker did after the backup must not be in the database that was restored.
polls_once_more() { engine kill --signal HUP league-sync && within 10 has_polled_by_hand; }
backup_is_older() { sqlite3 "$written/leagues-backup.db" "SELECT 'runs by hand: ' || count(*) FROM runs WHERE trigger = 'manual'" | grep -x 'runs by hand: 0'; }
is_restored() { ask_worker "SELECT count(*) FROM runs WHERE trigger = 'manual'" | grep -x 0; }

# Those of Compose, by docker-compose in the folder of compose.yaml.
by_compose() {
  (cd "$work/compose" && eval "compose ${1#docker compose }") 2>&1 | tee "$work/said" || return 1
  case $1 in
    *' backup '*) says 'was copied to /data/backup.db' && engine kill --signal HUP "$worker" ;;
    *' cat '*) [[ $(sqlite3 "$work/compose/leagues-backup.db" 'SELECT count(*) FROM leagues') == 124 ]] ;;
    *' rm -f /data/backup.db') within 10 composed_polled_by_hand ;;
    *' stop '*) [[ $(of_worker '{{.State.ExitCode}}') == 0 ]] ;;
    # What was published before is there still; the start after it brings it up to date.
    *restored.db*) read_published ;;
    *' start '*) within 30 has_published && ! composed_polled_by_hand ;;
    *) echo "no expected result is known" && return 1 ;;
  esac
}
composed_polled_by_hand() {
  engine exec "$worker" league-sync query --format csv "SELECT count(*) FROM runs WHERE trigger = 'manual'" | grep '^[1-9]'
}

# in_shell TEXT - what stands behind `sh -c` in the page's command for Kubernetes that holds the text
in_shell() { sed -n "/^# Kubernetes/,\$ { /^kubectl exec/,/^\$/ { s/.*sh -c '\\(.*$1.*\\)'.*/\\1/p } }" "$pages" | head -n 1; }
polls_in_its_pod() {
  local words
  words=$(sed -n 's/^kubectl exec deployment\/league-sync -- \(league-sync poll\)$/\1/p' "$pages")
  [[ $words ]] || { echo "the page does not say how"; return 1; }
  # shellcheck disable=SC2086 # the words of a command
  engine exec "$worker" $words && within 10 composed_polled_by_hand
}
