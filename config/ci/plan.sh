#!/bin/sh
# Validates the config file of a pull request, plans its files with the config file of the base,
# and writes a comment to the file PROMOTER_PLAN. Needs git; sends no credential.
#
#   PROMOTER_DIR   the folder of the config file in the clone
#   PROMOTER_PLAN  the file that is written. A link with its name is replaced
#   PROMOTER_BASE  the branch with the config file that counts; empty: the one of the folder counts
set -eu
status=0
linked() { # whether a path in the clone leads through a symbolic link
  at=${1#"$PWD"/}
  case $at in /*) return 1 ;; esac # outside of the clone
  while [ "$at" != . ]; do
    while [ "${at%/}" != "$at" ]; do at=${at%/}; done
    [ ! -L "$at" ] || return 0
    at=$(dirname "$at")
  done
  return 1
}
! linked "$(dirname "$PROMOTER_PLAN")" || { echo "the folder of PROMOTER_PLAN is a symbolic link of the repository" >&2; exit 1; }
rm -f "$PROMOTER_PLAN" # a pull request could add it, also as a link
! linked "$PROMOTER_DIR" || { echo "PROMOTER_DIR is a symbolic link of the repository" >&2; exit 1; }
work=$(mktemp -d)
shallow=$(git -C "$PROMOTER_DIR" rev-parse --is-shallow-repository)
[ "$shallow" = true ] || shallow=
fetch() { git -C "$PROMOTER_DIR" fetch --quiet --no-tags ${shallow:+--depth=1} origin "+refs/heads/$1:refs/remotes/origin/$1"; }
fetch promoter/_state 2>/dev/null || true # there is none before the first decision
[ -z "$PROMOTER_BASE" ] || fetch "$PROMOTER_BASE"
promoter validate --dir "$PROMOTER_DIR" >"$work/messages" 2>&1 || status=$?
if [ "$status" -eq 0 ]; then
  if [ -n "$PROMOTER_BASE" ] && ! git -C "$PROMOTER_DIR" cat-file -e "refs/remotes/origin/$PROMOTER_BASE:./.promoter.yaml" 2>/dev/null; then
    printf '### Plan of promoter\n\nThe config file is valid. There is no plan, because the base has no config file yet.\n' >"$work/plan"
  else
    promoter plan --dir "$PROMOTER_DIR" ${PROMOTER_BASE:+--config-from "refs/remotes/origin/$PROMOTER_BASE"} \
      -o markdown >"$work/plan" 2>>"$work/messages" || status=$?
  fi
fi
cat "$work/messages" >&2
if [ ! -s "$work/plan" ]; then
  # Indented, so that the messages are a code block, whatever they quote.
  { printf '### Plan of promoter\n\nThere is no plan:\n\n' && head -c 20000 "$work/messages" | sed 's/^/    /'; } >"$work/plan"
fi
(set -C && cat "$work/plan" >"$PROMOTER_PLAN")
rm -r "$work"
