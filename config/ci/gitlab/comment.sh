#!/bin/sh
# Writes the file PROMOTER_PLAN as a comment on a merge request of GitLab, or updates the one from
# before. Needs curl and jq. Without PROMOTER_COMMENT_TOKEN, as in the pipeline of a fork, it does
# nothing.
#
#   CI_API_V4_URL, CI_MERGE_REQUEST_PROJECT_ID, CI_MERGE_REQUEST_IID  set by GitLab
#   PROMOTER_COMMENT_TOKEN                              a token with the scope api
#   PROMOTER_DIR                                        one comment for each folder
set -eu
if [ -z "${PROMOTER_COMMENT_TOKEN:-}" ]; then
  echo "no comment: PROMOTER_COMMENT_TOKEN is not set"
else
  if [ -L "$PROMOTER_PLAN" ] || [ ! -f "$PROMOTER_PLAN" ]; then
    echo "PROMOTER_PLAN: $PROMOTER_PLAN is not a file" >&2
    exit 1
  fi
  work=$(mktemp -d)
  marker="<!-- promoter plan of $PROMOTER_DIR -->"
  notes=$CI_API_V4_URL/projects/$CI_MERGE_REQUEST_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes
  api() { # The token is no argument: other processes see those.
    printf 'PRIVATE-TOKEN: %s\nContent-Type: application/json\n' "$PROMOTER_COMMENT_TOKEN" |
      curl --fail --silent --show-error --max-time 60 --header @- "$@"
  }
  # Only our own comment is updated: another user could change what is in theirs.
  self=$(api "$CI_API_V4_URL/user" | jq .id)
  page=1 id=
  while [ -z "$id" ] && [ "$page" -le 30 ]; do
    list=$(api "$notes?per_page=100&page=$page")
    id=$(printf '%s' "$list" | jq -r --argjson self "$self" --arg marker "$marker" \
      '[.[] | select(.author.id == $self and (.body | startswith($marker))) | .id][0] // empty')
    [ "$(printf '%s' "$list" | jq length)" -eq 100 ] || break
    page=$((page + 1))
  done
  jq -n --arg marker "$marker" --rawfile plan "$PROMOTER_PLAN" '{body: ($marker + "\n" + $plan)}' >"$work/body"
  if [ -n "$id" ]; then
    api --request PUT --data @"$work/body" --output /dev/null "$notes/$id"
  else
    api --request POST --data @"$work/body" --output /dev/null "$notes"
  fi
  rm -r "$work"
fi
