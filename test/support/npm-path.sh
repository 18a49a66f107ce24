# For rings that try npm as people have it; to be sourced after ring.sh.
# shellcheck shell=bash
# shellcheck disable=SC2154 # what ring.sh sets

# What npm, its scripts and a shell need. Everything else on the machine stays out of sight.
tools=(sh bash env uname cat tee ls cp mv rm mkdir rmdir chmod ln readlink dirname basename pwd id sed grep sleep true
  test which)

# An npm that started this script must not tell those in it what to do; the way to the registry is the machine's.
mapfile -t inherited < <(compgen -e | grep -iE '^(npm_|NODE_OPTIONS$|INIT_CWD$)' |
  grep -viE '^npm_config_(registry|cafile|ca|cache|proxy|https_proxy|noproxy|userconfig)$' || true)
unset "${inherited[@]}"
# Where the machine says how its registry is reached; a Node elsewhere would look for it elsewhere.
npm_config_globalconfig=$(npm config get globalconfig 2>/dev/null)
export npm_config_globalconfig npm_config_audit=false npm_config_update_notifier=false

# make_path FOLDER NODE NPM: a folder of links to be the whole PATH.
make_path() {
  mkdir "$1"
  local tool
  for tool in "${tools[@]}"; do
    ! command -v "$tool" >/dev/null || ln -s "$(type -P "$tool")" "$1/$tool"
  done
  ln -s "$2" "$1/node"
  ln -s "$3/bin/npm-cli.js" "$1/npm"
  ln -s "$3/bin/npx-cli.js" "$1/npx"
}

# shows_none_of_the_hidden FOLDER - that is the whole PATH
shows_none_of_the_hidden() {
  # shellcheck disable=SC2016 # for the shell in there
  PATH=$1 sh -c 'for tool; do ! command -v "$tool" || exit 1; done' - "${hidden[@]}"
}
