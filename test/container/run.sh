#!/usr/bin/env bash
# The container ring: builds the Dockerfile and runs the image as an orchestrator would, with a read-only root, no
# privileges and one volume, against the simulated service. Needs root on a Debian-like machine, and `npm ci` done
# before; buildah and podman come with it.
set -euo pipefail

# shellcheck source=test/container/engine.sh
source "$(dirname "${BASH_SOURCE[0]}")/engine.sh"
node=$project/node_modules/.bin/node
most_added_kb=10240
user=10001
addon=app/node_modules/better-sqlite3
# Stands in every file that must not reach the image.
canary=canary-$$-must-not-be-in-the-image
settings=(--env LEAGUE_SYNC_BASE_URL=http://127.0.0.1:8080 --env LEAGUE_SYNC_USERNAME=player
  --env LEAGUE_SYNC_PASSWORD=secret-password)
narrow=("${read_only[@]}" --cap-drop all --security-opt no-new-privileges --network container:service)

# A checkout as people have one: with secrets, databases and results of builds lying about.
lay_out_checkout() {
  checkout=$work/checkout
  mkdir -p "$checkout"/{data,secrets,dist}
  (cd "$project" && cp -r Dockerfile .dockerignore package.json package-lock.json .npmrc tsconfig.json scripts src \
    migrations README.md test "$checkout")
  local name
  for name in .env secrets/password data/leagues.db dist/old.cjs src/.env scripts/notes; do
    echo "$canary" >"$checkout/$name"
  done
}

# The layers of the image above those of its base, each unpacked into a folder of its own.
unpack_layers() {
  local layers base_layers layer
  mkdir "$work/layers"
  engine save --quiet --format docker-dir --output "$work/saved" "$image"
  base_layers=$(engine image inspect --format '{{len .RootFS.Layers}}' "$base")
  mapfile -t layers < <("$node" --print \
    'JSON.parse(fs.readFileSync(process.argv[1])).layers.map((layer) => layer.digest.slice(7)).join("\n")' \
    "$work/saved/manifest.json")
  for layer in "${layers[@]:base_layers}"; do
    mkdir "$work/layers/$layer"
    tar --extract --directory "$work/layers/$layer" --file "$work/saved/$layer"
  done
  ((${#layers[@]} > base_layers))
}

# Except for the empty file that buildah leaves if a base has no /etc/hosts.
files_of_layers() {
  (cd "$work/layers" && find . ! -type d ! '(' -path './*/etc/hosts' -size 0 ')' -printf '%P\n') |
    cut -d / -f 2- | sort -u
}

holds_only_what_runs() {
  files_of_layers >"$work/added"
  grep -x app/dist/league-sync.cjs "$work/added"
  finds_nothing -vE -e "^$addon/(lib/.+|package\.json|LICENSE|prebuilds/linux-[a-z0-9]+\.node)$" \
    -e '^app/(dist/(league-sync\.cjs|THIRD-PARTY-NOTICES\.txt)|migrations/.+|package\.json)$' \
    -e '^compile-cache/.+' -e '^usr/local/bin/league-sync$' "$work/added"
}

holds_no_secret() {
  # The file that names the layers holds the history of all of them.
  finds_nothing --recursive --files-with-matches "$canary" "$work/layers" "$work/saved"
  engine history --no-trunc "$image" >"$work/history"
  grep -F /app "$work/history" >/dev/null
  finds_nothing -iE 'password|token|secret' "$work/history"
}

added_kb() { du --apparent-size --summarize --block-size 1K "$work/layers" | cut -f 1; }
is_small() { added_kb; (($(added_kb) <= most_added_kb)); }

holds_compiled_code() { [[ -n $(find "$work"/layers/*/compile-cache/*-"$user" -type f -size +50k) ]]; }

in_package() {
  "$node" --print 'JSON.parse(fs.readFileSync(process.argv[1]))[process.argv[2]]' "$project/package.json" "$1"
}
label() { engine image inspect --format "{{index .Labels \"org.opencontainers.image.$1\"}}" "$image"; }
labels_are_those_of_the_package() {
  local pair said wanted
  for pair in title:name description:description licenses:license version:version; do
    said=$(label "${pair%:*}")
    wanted=$(in_package "${pair#*:}")
    echo "${pair%:*}: $said"
    [[ $said == "$wanted" ]]
  done
}

# What the image says of itself, which an orchestrator goes by.
says_how_it_is_run() {
  engine image inspect --format '{{json .Config}}' "$image" | "$node" --eval '
    const { User, WorkingDir, Entrypoint, Cmd, Volumes, ExposedPorts, StopSignal, Env } = JSON.parse(fs.readFileSync(0, "utf8"));
    const own = Env.filter((one) => !/^(PATH|NODE_VERSION|YARN_VERSION)=/.test(one)).sort();
    assert.deepEqual({ User, WorkingDir, Entrypoint, Cmd, Volumes, ExposedPorts, StopSignal, own }, {
      User: "10001:10001", WorkingDir: "/data", Entrypoint: ["league-sync"], Cmd: ["run"], Volumes: { "/data": {} },
      ExposedPorts: { "9464/tcp": {} }, StopSignal: undefined,
      own: ["LEAGUE_SYNC_DATABASE=/data/leagues.db", "LEAGUE_SYNC_LISTEN=0.0.0.0:9464", "LEAGUE_SYNC_LOG_FORMAT=json",
        "NODE_COMPILE_CACHE=/compile-cache", "NODE_ENV=production", "TZ=UTC"],
    });'
  # The probe takes 5 s at most, and a worker that opens a large database is given time.
  engine image inspect --format '{{json .HealthCheck}}' "$image" | tee "$work/health"
  grep -qF '{"Test":["CMD","league-sync","status","--probe"],"StartPeriod":30000000000,"Interval":30000000000,"Timeout":10000000000,"Retries":3}' "$work/health"
}

keeps_its_compiled_code() {
  engine run --rm --network none --entrypoint sh "$image" -c 'chmod u+w /compile-cache; touch /compile-cache/new' 2>&1 | tee "$work/kept" || true
  grep -q 'Operation not permitted' "$work/kept"
  grep -q 'Permission denied' "$work/kept"
}

# A label that is not maintained would be wrong from the next release on.
refuses_another_version() {
  builder build --format docker --layers --isolation chroot --pull-never --build-arg "BASE=$base" \
    --build-arg VERSION=9.9.9 --target build "$checkout" >"$work/refused" 2>&1 && return 1
  grep -F 'Error: VERSION in the Dockerfile is 9.9.9' "$work/refused"
}

has_an_arm64_addon() {
  file "$project/node_modules/better-sqlite3/prebuilds/linux-arm64.node" | tee "$work/kind"
  grep -q 'ELF 64-bit.*ARM aarch64' "$work/kind"
  # A path named for only one kind of machine would be missing on the other.
  grep -v '^#' "$project/Dockerfile" >"$work/instructions"
  finds_nothing -nE 'amd64|x64|x86|arm64|aarch64' "$work/instructions"
}

prints_its_version() {
  local version
  version=$(in_package version)
  [[ $(engine run --rm --network none "$image" --version) == "$version" ]]
}

runs_the_demo() {
  engine run --rm --network none "${read_only[@]}" "$image" demo --for 2s >"$work/demo"
  grep -q '124 added' "$work/demo"
}

stored() { sqlite3 -readonly -cmd '.timeout 2000' "$volume/leagues.db" 'SELECT count(*) FROM leagues' 2>/dev/null; }
all_leagues_stored() { [[ $(stored) == 124 ]]; }
show_worker_if_not() { "$@" || { engine logs worker; return 1; }; }

# The image's own command, without an init.
start_worker() {
  engine run --detach --name worker "${narrow[@]}" "${settings[@]}" --volume "$volume:/data" "$image"
}

# Its number on this machine.
worker_process() { engine inspect --format '{{.State.Pid}}' worker; }
worker_status() { cat "/proc/$(worker_process)/status"; }
status_of() { worker_status | awk -v name="$1:" '$1 == name { print $2 }'; }
is_the_program() {
  tr '\0' ' ' <"/proc/$(worker_process)/cmdline" | tee "$work/command"
  grep -q '^node /usr/local/bin/league-sync run $' "$work/command"
}
is_process_one() { worker_status | awk '/^NSpid:/ { pid = $NF } END { exit pid != 1 }'; }
runs_without_root() {
  [[ $(worker_status | awk '/^[UG]id:/ { print $2, $3, $4, $5 }' | sort -u) == "$user $user $user $user" ]]
}
gains_nothing() { [[ $(status_of CapEff) =~ ^0+$ && $(status_of CapBnd) =~ ^0+$ && $(status_of NoNewPrivs) == 1 ]]; }
root_is_read_only() {
  awk '$5 == "/" { last = $6 } END { exit !(last ~ /^ro/) }' "/proc/$(worker_process)/mountinfo"
  engine exec worker touch /app/written >"$work/touched" 2>&1 && return 1
  grep 'Read-only file system' "$work/touched"
}

# An address that is not the one of the probe; a worker that listened on 127.0.0.1 would refuse it.
answers_on_all_addresses() {
  engine exec worker node --eval 'fetch("http://127.0.0.2:9464/").then(async (answer) => {
    if (!answer.ok || !(await answer.text()).includes("league-sync")) process.exit(1);
  })'
}

healthy() { engine healthcheck run worker; }
unhealthy() {
  local code=0
  healthy || code=$?
  # Anything else is podman's own.
  ((code == 1))
}
# Stopped from outside, as by a debugger or a disk that hangs.
notices_a_frozen_worker() {
  local process code=0
  process=$(worker_process)
  kill -STOP "$process"
  unhealthy || code=$?
  kill -CONT "$process"
  return "$code"
}
# With the status server off: the same network, and nothing listens.
is_unhealthy_without_a_worker() {
  local code=0
  engine run --rm "${narrow[@]}" "$image" status --probe || code=$?
  ((code == 1))
}

shows_its_status() { engine exec worker league-sync status | tee "$work/status"; grep -q '124 live' "$work/status"; }
makes_a_backup() {
  engine exec worker league-sync backup /data/backup.db
  [[ $(sqlite3 "$volume/backup.db" 'SELECT count(*) FROM leagues') == 124 ]]
  rm "$volume/backup.db"
}
is_read_by_another_container() {
  engine run --rm --network none "${read_only[@]}" --user 65534:65534 --volume "$volume:/data:ro" "$image" \
    query --format csv 'SELECT live_leagues FROM freshness' | tee "$work/read"
  grep -q '^124' "$work/read"
}
logs_json() {
  engine logs worker 2>&1 |
    "$node" --eval 'for (const line of fs.readFileSync(0, "utf8").trim().split("\n")) JSON.parse(line)'
}

ends_well() {
  local began=$SECONDS code
  engine stop --time 20 worker >/dev/null
  code=$(engine inspect --format '{{.State.ExitCode}}' worker)
  echo "exit code $code after $((SECONDS - began)) s"
  engine logs worker
  ((code == 0 && SECONDS - began <= 10))
}

only_the_database_is_left() { ls -A "$volume"; [[ $(ls -A "$volume") == leagues.db ]]; }

refuses_an_unwritable_volume() {
  local code=0
  mkdir -m 0555 "$work/unwritable"
  engine run --rm "${narrow[@]}" "${settings[@]}" --volume "$work/unwritable:/data" "$image" >"$work/refused" 2>&1 ||
    code=$?
  echo "exit code $code"
  cat "$work/refused"
  ((code == 74))
  grep -q '/data/leagues.db.*give' "$work/refused"
}

install_engine file sqlite3
choose_driver
prepare_base
lay_out_checkout
check 'the image builds' build_image "$checkout" --layers
((failed == 0)) || { summarize; exit 1; }
check 'its layers can be unpacked' unpack_layers
check 'its layers hold what runs and nothing else' holds_only_what_runs
check 'its layers and their history hold no secret of the checkout' holds_no_secret
check "it adds less than $((most_added_kb / 1024)) MB to its base" is_small
check 'it holds compiled code for its user' holds_compiled_code
check 'its user cannot change that' keeps_its_compiled_code
check 'it says how it is run' says_how_it_is_run
check 'its labels are those of package.json' labels_are_those_of_the_package
check 'it is not built with the version of another package.json' refuses_another_version
check 'an image for arm64 has all that it copies' has_an_arm64_addon
check 'it prints its version' prints_its_version
check 'it runs the demo with a read-only root' runs_the_demo

start_service service
volume=$work/volume
mkdir "$volume"
chown "$user:$user" "$volume"
check 'the health check fails where there is no worker' is_unhealthy_without_a_worker
check 'the worker starts' start_worker
check 'the leagues arrive in the database on the volume' show_worker_if_not within 30 all_leagues_stored
check 'the worker is process 1' is_process_one
check 'the worker is the program itself, without a shell or npm' is_the_program
check 'the worker is not root' runs_without_root
check 'the worker has no capabilities' gains_nothing
check 'the root of the worker is read-only' root_is_read_only
check 'the page answers on all addresses' answers_on_all_addresses
check 'the health check passes' healthy
check 'the health check fails while the worker is frozen' notices_a_frozen_worker
check 'the health check passes again' healthy
check 'league-sync status says what is stored' shows_its_status
check 'league-sync backup makes a copy on the volume' makes_a_backup
check 'another container with another user reads the database on a read-only mount' is_read_by_another_container
check 'every line of the log is JSON' logs_json
check 'SIGTERM ends the worker with exit code 0' ends_well
check 'one file is left on the volume' only_the_database_is_left
check 'an unwritable volume ends it with exit code 74 and the fix' refuses_an_unwritable_volume
echo "the image adds $(added_kb) KB to its base"
summarize
