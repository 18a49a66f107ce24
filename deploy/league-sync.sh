#!/bin/sh
# league-sync on the database of the service, with the Node that lies beside it: for /usr/local/bin, where everybody who
# may read the database finds it. Where the worker has its database, its page and its published copy is taken from the
# environment, or from the service's settings as far as whoever asks may read them.

# setting NAME FILE - what the file says of it last, with quotes around it or without; systemd's escapes are not known.
setting() {
  sed -n "s/^[[:space:]]*$1[[:space:]]*=[[:space:]]*//p" "$2" |
    sed -e 's/[[:space:]]*$//' -e "s/^'\(.*\)'\$/\1/" -e 's/^"\(.*\)"$/\1/' | tail -n 1
}

# The first that names it counts, as for the service.
for file in /etc/league-sync/league-sync.env /etc/league-sync/readers.env; do
  [ -r "$file" ] || continue
  : "${LEAGUE_SYNC_DATABASE:=$(setting LEAGUE_SYNC_DATABASE "$file")}"
  : "${LEAGUE_SYNC_LISTEN:=$(setting LEAGUE_SYNC_LISTEN "$file")}"
  : "${LEAGUE_SYNC_PUBLISH:=$(setting LEAGUE_SYNC_PUBLISH "$file")}"
done
: "${LEAGUE_SYNC_DATABASE:=/var/lib/league-sync/leagues.db}"
# An empty value counts as unset.
export LEAGUE_SYNC_DATABASE LEAGUE_SYNC_LISTEN LEAGUE_SYNC_PUBLISH
exec /opt/league-sync/node_modules/.bin/node /opt/league-sync/node_modules/league-sync/dist/league-sync.cjs "$@"
