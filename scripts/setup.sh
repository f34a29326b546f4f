#!/bin/sh
# Brings in what a fresh machine lacks: system packages through its package manager, the rest through `npm ci`.
# Usage: setup.sh demo | test | extras     (each level asks for more programs)
set -eu
cd "$(dirname "$0")/.."
level=${1:-demo}

missing=""
# Only these two folders count: a plugin's cage looks nowhere else, and version managers put stand-ins elsewhere.
need() { [ -x "/usr/bin/$1" ] || [ -x "/usr/local/bin/$1" ] || missing="$missing $2"; }
need bash bash
need bwrap bubblewrap
need jq jq
need python3 python3
case $level in
  test | extras)
    need git git
    need curl curl
    ;;
esac
case $level in
  extras)
    need strace strace
    need chromium chromium
    # The same without windows, for tests: only Debian has it under this name.
    if command -v apt-get >/dev/null 2>&1; then need chromium-headless-shell chromium-headless-shell; fi
    need gofmt golang-go
    [ -n "$(ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null)" ] || missing="$missing postgresql"
    for module in pydantic requests httpx; do
      /usr/bin/python3 -c "import $module" 2>/dev/null || missing="$missing python3-$module"
    done
    ;;
esac

if [ -n "$missing" ]; then
  if command -v apt-get >/dev/null 2>&1; then
    install="apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends$missing"
  elif command -v dnf >/dev/null 2>&1; then
    install="dnf install -y$missing"
  elif command -v pacman >/dev/null 2>&1; then
    install="pacman -S --noconfirm$missing"
  else
    echo "error: missing$missing, and no known package manager; install them, then run this again" >&2
    exit 1
  fi
  if [ "$(id -u)" = 0 ]; then
    echo "setup: installing$missing with the system's package manager"
    sh -c "$install" >/dev/null
  elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    echo "setup: installing$missing with the system's package manager (sudo)"
    sudo sh -c "$install" >/dev/null
  else
    echo "error: missing$missing, and no right to install; have an administrator run:" >&2
    echo "  sudo sh -c '$install'" >&2
    exit 1
  fi
fi

stamp=node_modules/.kaged-lock.json
if ! cmp -s package-lock.json "$stamp"; then
  echo "setup: installing the pinned tools and runtimes (npm ci)"
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
  cp package-lock.json "$stamp"
fi
if [ "$level" = extras ]; then
  # Packages that are too large for everybody: the MCP Inspector, the agent frameworks, bundlers.
  for folder in tools/inspector tools/frameworks tools/bundlers; do
    stamp=$folder/node_modules/.kaged-lock.json
    if ! cmp -s $folder/package-lock.json "$stamp"; then
      echo "setup: installing $folder (npm ci)"
      (cd $folder && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
      cp $folder/package-lock.json "$stamp"
    fi
  done
fi
for tool in node deno bun; do
  if ! node_modules/.bin/$tool --version >/dev/null 2>&1; then
    echo "error: node_modules/.bin/$tool does not run; remove node_modules and run this again" >&2
    exit 1
  fi
done
