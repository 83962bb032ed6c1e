#!/usr/bin/env bash
# Find a Chromium for make test-page, or install Debian's where that is allowed; else say so, and fail.
set -euo pipefail

find_browser() {
  for name in chromium chromium-browser google-chrome google-chrome-stable chrome; do
    command -v "$name" && return 0
  done
  return 1
}

if found=$(find_browser); then
  echo "browser: $found"
  exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "browser: installing Debian's Chromium ..."
  export DEBIAN_FRONTEND=noninteractive
  if { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } > /dev/null 2>&1 \
    && found=$(find_browser); then
    echo "browser: $found"
    exit 0
  fi
  echo "browser: apt-get could not install Chromium"
else
  echo "browser: none found; installing one needs root and apt-get. Install chromium, and try again"
fi
exit 1
