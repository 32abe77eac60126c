#!/bin/sh
# Validates the config file of a pull request, plans its files with the config file of the base,
# and writes a comment to the file PROMOTER_PLAN. Needs git; sends no credential.
#
#   PROMOTER_DIR   the folder of the config file in the clone
#   PROMOTER_BASE  the branch with the config file that counts; empty: the one of the folder counts
set -eu
status=0
rm -f "$PROMOTER_PLAN" "$PROMOTER_PLAN.messages" # a pull request could add them as links
: >"$PROMOTER_PLAN"
shallow=$(git -C "$PROMOTER_DIR" rev-parse --is-shallow-repository)
[ "$shallow" = true ] || shallow=
fetch() { git -C "$PROMOTER_DIR" fetch --quiet --no-tags ${shallow:+--depth=1} origin "+refs/heads/$1:refs/remotes/origin/$1"; }
fetch promoter/_state 2>/dev/null || true # there is none before the first decision
[ -z "$PROMOTER_BASE" ] || fetch "$PROMOTER_BASE"
promoter validate --dir "$PROMOTER_DIR" >"$PROMOTER_PLAN.messages" 2>&1 || status=$?
if [ "$status" -eq 0 ]; then
  if [ -n "$PROMOTER_BASE" ] && ! git -C "$PROMOTER_DIR" cat-file -e "refs/remotes/origin/$PROMOTER_BASE:./.promoter.yaml" 2>/dev/null; then
    printf '### Plan of promoter\n\nThe config file is valid. There is no plan, because the base has no config file yet.\n' >"$PROMOTER_PLAN"
  else
    promoter plan --dir "$PROMOTER_DIR" ${PROMOTER_BASE:+--config-from "refs/remotes/origin/$PROMOTER_BASE"} \
      -o markdown >"$PROMOTER_PLAN" 2>>"$PROMOTER_PLAN.messages" || status=$?
  fi
fi
cat "$PROMOTER_PLAN.messages" >&2
if [ ! -s "$PROMOTER_PLAN" ]; then
  # Indented, so that the messages are a code block, whatever they quote.
  { printf '### Plan of promoter\n\nThere is no plan:\n\n' && head -c 20000 "$PROMOTER_PLAN.messages" | sed 's/^/    /'; } >"$PROMOTER_PLAN"
fi
rm "$PROMOTER_PLAN.messages"
