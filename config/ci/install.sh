#!/bin/sh
# Installs a release of promoter into the folder PROMOTER_BIN. Needs curl, tar, and sha256sum or
# shasum.
#
#   PROMOTER_VERSION  the version, such as 0.1.0; empty: promoter is on the PATH already
#   PROMOTER_SHA256   the checksum of the archive, from SHA256SUMS of the release
#   PROMOTER_URL      where the releases are, such as https://github.com/acme/promoter/releases/download
set -eu
if [ -z "$PROMOTER_VERSION" ]; then
  command -v promoter >/dev/null || { echo "promoter is not on the PATH: set version and sha256" >&2; exit 1; }
else
  case $(uname -m) in
    x86_64 | amd64) platform=amd64 ;;
    aarch64 | arm64) platform=arm64 ;;
    *) echo "there is no release for $(uname -m)" >&2; exit 1 ;;
  esac
  platform=$(uname -s | tr '[:upper:]' '[:lower:]')_$platform
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
  ! linked "$PROMOTER_BIN" || { echo "PROMOTER_BIN is a symbolic link of the repository" >&2; exit 1; }
  work=$(mktemp -d)
  archive=$work/promoter.tar.gz
  curl --fail --silent --show-error --location --proto-redir =https --retry 3 --max-time 300 --output "$archive" \
    "$PROMOTER_URL/v$PROMOTER_VERSION/promoter_${PROMOTER_VERSION}_$platform.tar.gz"
  if command -v sha256sum >/dev/null; then sum=$(sha256sum "$archive"); else sum=$(shasum -a 256 "$archive"); fi
  if [ "${sum%% *}" != "$PROMOTER_SHA256" ]; then
    echo "the archive has the SHA-256 ${sum%% *}, not $PROMOTER_SHA256" >&2
    rm -r "$work"
    exit 1
  fi
  tar -xzf "$archive" -C "$work" --strip-components=1 "promoter_${PROMOTER_VERSION}_$platform/promoter"
  mkdir -p "$PROMOTER_BIN"
  rm -f "$PROMOTER_BIN/promoter" # it could be a link
  mv "$work/promoter" "$PROMOTER_BIN/promoter"
  rm -r "$work"
fi
