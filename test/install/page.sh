# What the rings share that run the pages of docs/deployment as written; to be sourced after ring.sh. What ran is
# noted, so that a block fails the ring that is marked as run by it and is not.
# shellcheck shell=bash
# shellcheck disable=SC2154 # what ring.sh sets

document='docs/deployment/*.md'
# One after the other: no two of their headings are the same.
pages=$work/deployment.md
cat "$project"/docs/deployment/*.md >"$pages"
: >"$work/ran"

fences() { bash "$project/test/install/fences.sh" "$pages" "$@"; }
# A command that goes on in the next line becomes one line.
join_lines() { sed -e ':more' -e '/\\$/ { N; s/ *\\\n */ /; b more' -e '}'; }

# run_section HEADING FUNCTION - each command of it in turn: `FUNCTION COMMAND` runs it and looks at what came of it.
run_section() {
  local command commands
  mapfile -t commands < <(fences "$1" sh "$ring" | join_lines)
  for command in "${commands[@]}"; do
    echo "$command" >>"$work/ran"
    check "$document: $command" "$2" "$command" </dev/null
  done
}
# run_named COMMAND FUNCTION - one that stands in a sentence.
run_named() { check "$document: $1" run_if_named "$1" "$2" </dev/null; }
run_if_named() {
  grep -qF "\`$1\`" "$pages" || { echo "the page does not have it"; return 1; }
  "$2" "$1"
}

# What the page says that this ring runs, in whichever section, against what it ran; < was left out.
ran_what_the_page_claims() {
  fences '' sh "$ring" >"$work/claimed"
  diff <(join_lines <"$work/claimed" | sort) <(join_lines <"$work/ran" | sort)
}
check_claims() { check "every block of $document that is marked as run by $ring was run" ran_what_the_page_claims; }
