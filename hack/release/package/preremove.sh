#!/bin/sh
# Debian calls it with "remove" or "upgrade", RPM with the number of versions that stay.
set -e
case "$1" in
remove | 0)
	if [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
		systemctl disable --now promoter.service
	fi
	;;
esac
