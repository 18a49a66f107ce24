#!/bin/sh
# league-sync on the database of the service, with the Node that lies beside it: for /usr/local/bin, where everybody who
# may read the database finds it.
export LEAGUE_SYNC_DATABASE="${LEAGUE_SYNC_DATABASE:-/var/lib/league-sync/leagues.db}"
exec /opt/league-sync/node_modules/.bin/node /opt/league-sync/node_modules/league-sync/dist/league-sync.cjs "$@"
