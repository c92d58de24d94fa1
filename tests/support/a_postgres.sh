# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A server of PostgreSQL of the test's own.

# start_postgres FOLDER: one whose socket is in the folder `server`, for the user `penstock`. At its exit the shell ends it, and removes
# both folders. Exits with 77 where there is none.
start_postgres() {
  folder=$1
  programs=$(find /usr/lib/postgresql/*/bin -name postgres -printf '%h\n' 2>/dev/null |
    grep -E '/(1[4-9]|[2-9][0-9])/bin$' | sort -V | tail -1 || true)
  [[ -n $programs ]] || { echo 'there is no PostgreSQL server from version 14 on (postgresql)' && exit 77; }
  # The server does not run as root, and the path of its socket is short.
  server=$(mktemp -d /tmp/penstock-pg-XXXXXX)
  trap 'rm -rf "$folder" "$server"' EXIT
  # It ends with this shell, also where that is killed. A change of the user would undo that, so it comes before.
  as=()
  if ((EUID == 0)); then
    user=$(id -un postgres 2>/dev/null || id -un nobody 2>/dev/null) ||
      { echo 'there is no user for a server' && exit 77; }
    as=(setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups)
    chown "$user" "$server" || { echo 'a folder cannot be given to another user' && exit 77; }
  fi
  as+=(setpriv --pdeathsig KILL)
  "${as[@]}" true || { echo 'setpriv cannot be used here' && exit 77; }
  in_server() { cd "$server" && exec "${as[@]}" "$programs/$1" "${@:2}"; }
  (in_server initdb -D "$server/data" -A trust -U penstock --no-sync --no-locale -E UTF8) >said 2>&1 || fail "$(cat said)"
  (in_server postgres -D "$server/data" -k "$server" -c listen_addresses=) >said 2>&1 &
  postgres=$!
  trap 'kill -QUIT "$postgres" 2>/dev/null || true; wait; rm -rf "$folder" "$server"' EXIT
  until "$programs/pg_isready" -q -h "$server"; do
    kill -0 "$postgres" 2>/dev/null || fail "$(cat said)"
  done
}
