#!/bin/sh
# Writes the file PROMOTER_PLAN as a comment on a pull request of GitHub, or updates the one from
# before. Needs curl and jq.
#
#   GITHUB_API_URL, GITHUB_REPOSITORY  set by GitHub
#   PROMOTER_PULL_REQUEST              the number
#   PROMOTER_TOKEN                     may write comments of pull requests
#   PROMOTER_AUTHOR                    the account of the token. A comment of another one is never updated
#   PROMOTER_DIR                       one comment for each folder
set -eu
if [ -L "$PROMOTER_PLAN" ] || [ ! -f "$PROMOTER_PLAN" ]; then
  echo "PROMOTER_PLAN: $PROMOTER_PLAN is not a file" >&2
  exit 1
fi
work=$(mktemp -d)
marker="<!-- promoter plan of $PROMOTER_DIR -->"
comments=$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues
api() { # The token is no argument: other processes see those.
  printf 'Authorization: Bearer %s\nAccept: application/vnd.github+json\nContent-Type: application/json\nX-GitHub-Api-Version: 2022-11-28\n' "$PROMOTER_TOKEN" |
    curl --fail --silent --show-error --max-time 60 --header @- "$@"
}
page=1 id=
while [ -z "$id" ] && [ "$page" -le 30 ]; do
  list=$(api "$comments/$PROMOTER_PULL_REQUEST/comments?per_page=100&page=$page")
  id=$(printf '%s' "$list" | jq -r --arg author "$PROMOTER_AUTHOR" --arg marker "$marker" \
    '[.[] | select(.user.login == $author and (.body | startswith($marker))) | .id][0] // empty')
  [ "$(printf '%s' "$list" | jq length)" -eq 100 ] || break
  page=$((page + 1))
done
jq -n --arg marker "$marker" --rawfile plan "$PROMOTER_PLAN" '{body: ($marker + "\n" + $plan)}' >"$work/body"
if [ -n "$id" ]; then
  api --request PATCH --data @"$work/body" --output /dev/null "$comments/comments/$id"
else
  api --request POST --data @"$work/body" --output /dev/null "$comments/$PROMOTER_PULL_REQUEST/comments"
fi
rm -r "$work"
