#!/bin/sh
# Runs after an installation and after an upgrade. It starts nothing that was not running: the
# service needs a server file first.
set -e
if [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart promoter.service
fi
