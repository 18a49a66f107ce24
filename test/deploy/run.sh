#!/usr/bin/env bash
# The deployment ring: the commands of docs/deployment/containers.md's section "Run a container" as written; compose.yaml
# by docker-compose and deploy/kubernetes.yaml by `podman kube play`, with the image and against the simulated service; the
# manifest also against Kubernetes' own schemas. Datasette is not started: its image comes from a registry. Needs root
# on a Debian-like machine, and `npm ci` done before.
set -euo pipefail

# shellcheck source=test/container/engine.sh
source "$(dirname "${BASH_SOURCE[0]}")/../container/engine.sh"
export PATH=$project/node_modules/.bin:$PATH
manifest=$project/deploy/kubernetes.yaml
restorer=$project/deploy/kubernetes-restore.yaml
compose_project=ring
api='' url=''
packages=(catatonit curl docker-compose iproute2 sqlite3)
# shellcheck source=test/deploy/written.sh
source "$project/test/deploy/written.sh"
schemas=(kubernetes-models@5.1.0 yaml@2.9.1)

end_ring() {
  [[ -z $api ]] || { kill "$api"; wait "$api"; } 2>/dev/null
  end_containers
}

# A network for this run only: its bridges, addresses and published ports cannot conflict with others.
make_network() {
  : >"$work/network"
  unshare --net="$work/network" ip link set lo up
  mkdir "$work/networks"
  engine_prefix=(nsenter --net="$work/network")
  network_options=(--network-config-dir "$work/networks")
}
inside() { "${engine_prefix[@]}" "$@"; }

# What docker-compose talks to.
serve_api() {
  # Not by `engine`: the number would be that of a shell around it, and podman outlive the ring.
  "${engine_prefix[@]}" podman "${engine_options[@]}" system service --time 0 "unix://$work/api" \
    </dev/null >"$work/api.log" 2>&1 &
  api=$!
  within 10 test -S "$work/api" || { cat "$work/api.log"; give_up "podman does not serve its API"; }
}

compose() {
  (cd "$work/compose" && DOCKER_HOST=unix://$work/api WORKER_IMAGE=$image LEAGUE_SYNC_BASE_URL=$url \
    LEAGUE_SYNC_ALLOW_HTTP=true docker-compose --project-name "$compose_project" "$@")
}

# compose.yaml as people have it: in a folder with .env and secrets.
lay_out_compose() {
  mkdir -p "$work/compose/secrets" "$work/compose/deploy"
  cp "$project/compose.yaml" "$work/compose"
  cp "$project/deploy/datasette.json" "$work/compose/deploy"
  echo player >"$work/compose/secrets/username"
  echo secret-password >"$work/compose/secrets/password"
  chmod 600 "$work/compose/secrets"/*
  chown 10001:10001 "$work/compose/secrets"/*
}

# What the page adds for webhooks. The service receives them, under the secret that everybody knows.
demo_secret=whsec_YS1zZWNyZXQtZXZlcnlib2R5LWtub3dz
lay_out_webhooks() {
  fences Compose yaml >"$work/compose/compose.override.yaml"
  echo "$url/_webhooks" >"$work/compose/secrets/webhook-url"
  echo "$demo_secret" >"$work/compose/secrets/webhook-secret"
  chmod 600 "$work/compose/secrets"/*
  chown 10001:10001 "$work/compose/secrets"/*
}

# The simulated service listens only at 127.0.0.1 of its container; this lets the others in.
open_service() {
  engine run --detach --name service --read-only "$image" simulate >/dev/null
  within 20 service_answers service
  engine exec --detach service node --eval 'net.createServer((socket) => {
    const onwards = net.connect(8080, "127.0.0.1").on("error", () => socket.destroy());
    socket.on("error", () => onwards.destroy()).pipe(onwards).pipe(socket);
  }).listen(8081, "0.0.0.0")'
}
address_of_service() { echo "http://$(engine inspect --format '{{.NetworkSettings.IPAddress}}' service):8081"; }

# Types know every name there is, so that a misspelt one is found; the schemas know what the values may be.
fits_the_schemas() { # fits_the_schemas FILE
  # shellcheck disable=SC2016 # what is expanded, node expands
  cp "$1" "$work/schemas/manifest.yaml" && (cd "$work/schemas" && node --eval '
    const documents = require("yaml").parseAllDocuments(fs.readFileSync("manifest.yaml", "utf8"));
    const lines = documents.map((document, index) => {
      if (document.errors.length > 0) throw document.errors[0];
      const { apiVersion, kind, ...resource } = document.toJS();
      return `import { ${kind} as Kind${index} } from "kubernetes-models/${apiVersion}";
        new Kind${index}(${JSON.stringify(resource)}).validate();`;
    });
    fs.writeFileSync("manifest.mts", lines.join("\n"));
  ' && tsc --noEmit --strict --skipLibCheck --module nodenext --types '' manifest.mts && node manifest.mts)
}

# What the two of the check above are there for.
finds_faults() {
  finds_fault 's/readOnlyRootFilesystem/readOnlyRootFileSystem/' '"readOnlyRootFileSystem"'
  finds_fault 's/port: 9464/port: "9464"/' "Type 'string' is not assignable to type"
}
finds_fault() { # finds_fault EDIT WORDS - that it is told in
  sed "$1" "$manifest" >"$work/faulty.yaml"
  fits_the_schemas "$work/faulty.yaml" >"$work/told" 2>&1 && return 1
  cat "$work/told"
  grep -F "$2" "$work/told" >/dev/null
}

version() { node --print 'JSON.parse(fs.readFileSync(process.argv[1])).version' "$project/package.json"; }
names_this_version() { grep -n "image: league-sync:$(version)$" "$manifest"; }

is_valid_compose() { compose config --quiet; }
asks_for_the_address() {
  local url=''
  compose config >"$work/asked" 2>&1 && return 1
  grep -F 'write it into the file .env' "$work/asked"
}

# Both with the service and the secrets of the ring.
compose_two() {
  (cd "$work/two" && DOCKER_HOST=unix://$work/api WORKER_IMAGE=$image FIRST_BASE_URL=$url SECOND_BASE_URL=$url \
    LEAGUE_SYNC_ALLOW_HTTP=true docker-compose --project-name two --file deploy/compose-two.yaml --project-directory . "$@")
}
starts_two_by_compose() {
  mkdir -p "$work/two/deploy" "$work/two/secrets" && cp "$project/deploy/compose-two.yaml" "$work/two/deploy" || return 1
  cp -r --preserve "$work/compose/secrets" "$work/two/secrets/first" &&
    cp -r --preserve "$work/compose/secrets" "$work/two/secrets/second" && compose_two config --quiet &&
    compose_two up --detach --no-build || return 1
  local name
  for name in first second; do
    worker=two_${name}_1
    show_log_if_not "$worker" within 30 shows_its_leagues && is_narrow || return 1
  done
  within 10 answers http://127.0.0.1:9464/ && within 10 answers http://127.0.0.1:9465/
}

starts_by_compose() { compose up --detach --no-build worker; }
read_published() {
  engine run --rm --network none --read-only --user 65534:65534 --volume "${compose_project}_published:/published:ro" \
    --env LEAGUE_SYNC_DATABASE=/published/leagues.db "$image" query --format csv 'SELECT count(*) FROM active_leagues'
}
has_published() { read_published 2>/dev/null | grep -E '^[1-9][0-9]+'; }
show_log_if_not() { # show_log_if_not CONTAINER COMMAND…
  local container=$1
  shift
  "$@" || { engine logs "$container"; return 1; }
}

answers() { inside curl --silent --show-error --fail --max-time 5 "$1" | grep league-sync >/dev/null; }
is_open_to_this_machine_alone() {
  within 10 answers http://127.0.0.1:9464/
  inside ss --listening --tcp --numeric --no-header | tee "$work/listening"
  grep ':9464' "$work/listening" >"$work/open"
  finds_nothing -v '127\.0\.0\.1:9464' "$work/open"
}

shows_its_leagues() { engine exec "$worker" league-sync status | grep '124 live'; }
of_worker() { engine inspect --format "$1" "$worker"; }
is_narrow() {
  local process
  process=$(of_worker '{{.State.Pid}}')
  of_worker '{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.Memory}}' | tee "$work/narrow"
  # In a control group of this machine, and so of the process that really runs.
  grep -q '^true 536870912$' "$work/narrow"
  awk '/^CapBnd:/ { bound = $2 } /^NoNewPrivs:/ { no = $2 } END { exit !(bound ~ /^0+$/ && no == 1) }' \
    "/proc/$process/status"
}
keeps_secrets_out_of_its_settings() {
  of_worker '{{json .Config}}' >"$work/config"
  grep -q LEAGUE_SYNC_PASSWORD_FILE "$work/config"
  finds_nothing -oE 'secret-password|whsec_|/_webhooks' "$work/config"
}
stops_by_compose() {
  compose stop worker
  [[ $(of_worker '{{.State.ExitCode}}') == 0 ]]
}
# The volumes stay, and so do the leagues: a new worker finds those of the one before.
goes_on_after_an_upgrade() {
  compose rm --force worker
  compose up --detach --no-build worker
  within 30 shows_its_leagues
}

sends_webhooks() {
  engine exec "$worker" league-sync webhook test
  engine exec "$worker" league-sync webhook replay --since 0
  show_log_if_not "$worker" within 20 has_sent_webhooks
}
has_sent_webhooks() {
  engine exec "$worker" league-sync query --format csv \
    "SELECT count(*) FROM outputs, webhook WHERE name = 'webhook' AND done_at > moved_at AND seq >= 124" | grep -x 1
}
sends_webhooks_by_compose() {
  lay_out_webhooks
  compose up --detach --no-build worker
  within 30 shows_its_leagues
  sends_webhooks
}

# The manifest with this ring's image and service. podman takes secrets from its own store, without decoding them.
play() {
  sed -e "s|https://api.example.com|$url|" -e "s|image: league-sync:.*|image: $image|" \
    -e "s|^          env:|&\n            - {name: LEAGUE_SYNC_ALLOW_HTTP, value: 'true'}|" \
    -e 's|# - {name: LEAGUE_SYNC_WEBHOOK|- {name: LEAGUE_SYNC_WEBHOOK|' "$manifest" >"$work/played.yaml"
  printf 'data: {username: player, password: secret-password, webhook-url: "%s", webhook-secret: "%s"}\n' \
    "$url/_webhooks" "$demo_secret" >"$work/secret.yaml"
  engine secret create league-sync-credentials "$work/secret.yaml"
  engine kube play "$work/played.yaml"
}
pod=league-sync-pod-0
pod_is_ready() { inside curl --silent --show-error --fail --max-time 5 "http://$(address_of_pod):9464/readyz"; }
address_of_pod() {
  local infrastructure
  infrastructure=$(engine pod inspect --format '{{.InfraContainerID}}' "$pod")
  engine inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$infrastructure"
}
# status_of NAME - the last value of it, as the kernel tells of the process
status_of() { awk -v name="$1:" '$1 == name { print $NF }' "/proc/$(of_worker '{{.State.Pid}}')/status"; }
is_not_process_one() { (($(status_of NSpid) > 1)); }
has_its_user() { [[ $(of_worker '{{.Config.User}}') == 10001:10001 && $(status_of Uid) == 10001 ]]; }
# As Kubernetes does: first the container, and only then what holds the pod.
stops_in_its_pod() {
  engine stop --time 20 "$worker"
  engine logs --tail 1 "$worker"
  [[ $(of_worker '{{.State.ExitCode}}') == 0 ]]
}

is_backed_up_in_its_pod() {
  engine exec "$worker" league-sync backup /data/backup.db && engine exec "$worker" cat /data/backup.db >"$work/pod.db" &&
    [[ $(sqlite3 "$work/pod.db" 'SELECT count(*) FROM leagues') == 124 ]] && sqlite3 "$work/pod.db" 'CREATE TABLE mark (x)'
}
# The mark is only in the backup.
is_restored_by_a_pod() {
  local shell=league-sync-restore-shell
  sed -e "s|image: league-sync:.*|image: $image|" "$restorer" >"$work/restorer.yaml"
  engine kube play "$work/restorer.yaml" && engine exec --interactive "$shell" sh -c "$(in_shell restored.db)" <"$work/pod.db" &&
    engine exec "$shell" league-sync query --format csv "SELECT count(*) FROM sqlite_schema WHERE name = 'mark'" | grep -x 1
}

install_engine "${packages[@]}"
make_network
choose_driver
mkdir "$work/schemas"
or_give_up "these npm packages could not be had: ${schemas[*]}" \
  npm install --prefix "$work/schemas" --no-audit --no-fund --silent "${schemas[@]}"
check "kubernetes.yaml fits Kubernetes' schemas" fits_the_schemas "$manifest"
check "kubernetes-restore.yaml fits Kubernetes' schemas" fits_the_schemas "$restorer"
check 'a misspelt name or a wrong type in it would be found' finds_faults
check 'kubernetes.yaml names the image of this version' names_this_version

prepare_base
make_docker
name_base
lay_out_written
run_section 'Run a container' as_written
# Nothing else can be said without the image and the service.
engine container exists service || { summarize; exit 1; }
url=$(address_of_service)
run_section 'Back up a container' as_written
run_named 'docker kill --signal HUP league-sync' as_written
check 'docker stop ends the worker with exit code 0' stops_as_written
run_section 'Remove a container' as_written
lay_out_compose
serve_api
check 'compose.yaml is valid' is_valid_compose
check 'compose.yaml asks for the address of the service' asks_for_the_address
worker=${compose_project}_worker_1
check 'compose starts the worker' starts_by_compose
check 'a reader under another user finds the published copy' show_log_if_not "$worker" within 30 has_published
check 'the worker is healthy' engine healthcheck run "$worker"
check 'the page is open only to this machine' is_open_to_this_machine_alone
check 'the worker has a read-only root, a limit of memory, and no capabilities' is_narrow
check 'no secret stands in the settings of the container' keeps_secrets_out_of_its_settings
check 'compose stops the worker with exit code 0' stops_by_compose
check 'a new container goes on with the volume of the old one' goes_on_after_an_upgrade
check 'compose sends webhooks with what the page adds' sends_webhooks_by_compose
check 'no secret of theirs stands in the settings of the container' keeps_secrets_out_of_its_settings
run_section 'Back up with Compose' by_compose
check_claims
compose down --volumes >/dev/null 2>&1
check 'compose-two.yaml starts two workers, each with a volume and a page of its own' starts_two_by_compose
compose_two down --volumes >/dev/null 2>&1

worker=$pod-worker
check 'podman plays kubernetes.yaml' play
check 'the leagues arrive in the pod' show_log_if_not "$worker" within 30 shows_its_leagues
check 'the pod is ready' pod_is_ready
check 'the pod sends webhooks' sends_webhooks
check 'the worker runs as its user' has_its_user
check 'the worker has a read-only root, a limit of memory, and no capabilities' is_narrow
check 'the worker is not the first process of its pod' is_not_process_one
check 'the worker polls in its pod as documented' polls_in_its_pod
check 'a backup is taken out of the pod' is_backed_up_in_its_pod
check 'the worker ends in its pod with exit code 0' stops_in_its_pod
check 'a pod on its volume restores the backup, as documented' is_restored_by_a_pod
summarize
