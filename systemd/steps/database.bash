# shellcheck shell=bash
# The database: on this machine over its Unix socket, with a generated password, or the one that MAILROOM_DATABASE_URL names.

database_socket=/run/mysqld/mysqld.sock
database_pid=/run/mysqld/mailroom-install.pid
database_url_file=$credentials/database_url

database_url() { cat "$database_url_file" 2>/dev/null; }

uses_local_database() {
  local url
  url=$(database_url) || url=${MAILROOM_DATABASE_URL-}
  [[ -z $url || $url == *socketPath=* ]]
}

# Is it a server that this installer installs, or has installed?
uses_own_database() {
  uses_local_database || return 1
  [[ -e $database_settings ]] || ! { has_program mariadbd || has_program mysqld; }
}

has_database() {
  [[ -s $database_url_file ]] || return 1
  uses_local_database || return 0
  ! is_open_to_network || return 1
  if is_booted; then is_account_good; else [[ -d /var/lib/mysql/mailroom ]]; fi
}

make_database() {
  if ! uses_local_database; then
    [[ -s $database_url_file ]] || printf '%s\n' "$MAILROOM_DATABASE_URL" | write_file "$database_url_file" 600
    return
  fi
  if is_open_to_network; then close_to_network; fi
  start_database
  if [[ ! -s $database_url_file ]]; then
    printf 'mysql://%s:%s@localhost/mailroom?socketPath=%s\n' \
      "$account" "$(head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n')" "$database_socket" |
      write_file "$database_url_file" 600
  fi
  as_database_root <<SQL
CREATE USER IF NOT EXISTS '$account'@'localhost';
ALTER USER '$account'@'localhost' IDENTIFIED BY '$(database_password)';
GRANT ALL ON mailroom.* TO '$account'@'localhost';
-- backup verify restores into temporary databases.
GRANT ALL ON \`mailroom\\_%\`.* TO '$account'@'localhost';
-- Last: where the database exists, everything before it is done.
CREATE DATABASE IF NOT EXISTS mailroom CHARACTER SET utf8mb4;
SQL
  warn_about_settings
}

# With socket activation MariaDB listens on port 3306 of all addresses, whatever its settings say.
is_open_to_network() { uses_own_database && systemctl --quiet is-enabled mariadb.socket 2>/dev/null; }

close_to_network() {
  if is_booted; then systemctl stop mariadb.socket mariadb.service; fi
  systemctl --quiet disable mariadb.socket 2>/dev/null
}

database_password() { database_url | sed -nE 's|^mysql://[^:]+:([^@]*)@.*|\1|p'; }

database_client() { if has_program mariadb; then echo mariadb; else echo mysql; fi; }

as_database_root() { "$(database_client)" --protocol=socket --socket="$database_socket" --user=root --batch "$@"; }

is_database_up() { as_database_root --execute='SELECT 1' >/dev/null 2>&1; }

is_account_good() {
  [[ -S $database_socket ]] || return 1
  MYSQL_PWD=$(database_password) "$(database_client)" --socket="$database_socket" --user="$account" \
    --execute='SELECT 1' mailroom >/dev/null 2>&1
}

start_database() {
  is_database_up && return
  if is_booted; then
    systemctl enable --quiet --now "$(database_unit)" || stop "$(database_unit) does not start, see: journalctl -u $(database_unit)"
  else
    start_own_database
  fi
  local tries=0
  until is_database_up; do
    ((++tries < 120)) || stop 'the database server does not answer root on its Unix socket.'
    sleep 0.5
  done
}

database_unit() { if has_program mariadbd; then echo mariadb; else echo mysql; fi; }

# Where systemd does not run: starts a server for this run, which is stopped at the end of this run or of the next.
start_own_database() {
  rm -f "$database_pid"
  install -d -o mysql -g mysql -m 755 "${database_socket%/*}"
  "$(PATH=$PATH:/usr/sbin command -v mariadbd || PATH=$PATH:/usr/sbin command -v mysqld)" --user=mysql --skip-networking \
    --socket="$database_socket" --pid-file="$database_pid" </dev/null >/dev/null 2>&1 9>&- &
}

end_own_database() {
  local pid tries=0
  pid=$(cat "$database_pid" 2>/dev/null) || return 0
  # A killed server leaves its pid file, and the system may have given its pid to another process.
  if [[ ! $(readlink "/proc/$pid/exe") =~ /(mariadbd|mysqld)$ ]] || ! kill "$pid" 2>/dev/null; then
    rm -f "$database_pid"
    return 0
  fi
  # The server removes its pid file last.
  while [[ -e $database_pid ]] && ((++tries < 600)); do sleep 0.1; done
}

warn_about_settings() {
  local flush
  flush=$(as_database_root --skip-column-names --execute='SELECT @@innodb_flush_log_at_trx_commit')
  [[ $flush == 1 ]] ||
    say "NOTE: the database server has innodb_flush_log_at_trx_commit=$flush; with any value but 1 a crash can lose mail."
}
