#!/bin/sh
# The command league-sync for the service's database, run by the Node installed with it. It belongs in /usr/local/bin,
# for everyone who may read the database. The locations of the database, the page and the published copy come from the
# environment, or from those of the service's settings that the caller may read. Called as league-sync@NAME, by a link
# to this file, it is the command of the service league-sync@NAME.

# setting NAME FILE - the last value in the file, with or without quotes around it; systemd's escapes are not supported.
setting() {
  sed -n "s/^[[:space:]]*$1[[:space:]]*=[[:space:]]*//p" "$2" |
    sed -e 's/[[:space:]]*$//' -e "s/^'\(.*\)'\$/\1/" -e 's/^"\(.*\)"$/\1/' | tail -n 1
}

case $0 in
  *@*) instance=/${0##*@} ;;
  *) instance= ;;
esac

# The first file that sets a value wins, as for the service.
for file in "/etc/league-sync$instance/league-sync.env" "/etc/league-sync$instance/readers.env"; do
  [ -r "$file" ] || continue
  : "${LEAGUE_SYNC_DATABASE:=$(setting LEAGUE_SYNC_DATABASE "$file")}"
  : "${LEAGUE_SYNC_LISTEN:=$(setting LEAGUE_SYNC_LISTEN "$file")}"
  : "${LEAGUE_SYNC_PUBLISH:=$(setting LEAGUE_SYNC_PUBLISH "$file")}"
done
: "${LEAGUE_SYNC_DATABASE:=/var/lib/league-sync$instance/leagues.db}"
# An empty value counts as unset.
export LEAGUE_SYNC_DATABASE LEAGUE_SYNC_LISTEN LEAGUE_SYNC_PUBLISH
exec /opt/league-sync/node_modules/.bin/node /opt/league-sync/node_modules/league-sync/dist/league-sync.cjs "$@"
