# shellcheck shell=bash
# The Debian packages: the database server and the scanner, unless others are used, the spam filter where it was asked for, and what downloads Bun needs.

database_settings=/etc/mysql/mariadb.conf.d/80-mailroom.cnf
policy=/usr/sbin/policy-rc.d
policy_mark='# made by the installer of Mailroom'

wanted_packages() {
  echo ca-certificates curl unzip
  if uses_own_database; then echo mariadb-server; fi
  if uses_local_scanner; then echo clamav-daemon clamav-freshclam; fi
  if uses_spam_filter; then echo rspamd redis-server; fi
}

is_installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

has_packages() {
  local package
  [[ -z $(dpkg --audit) ]] || return 1
  ! is_own_policy || return 1
  for package in $(wanted_packages); do is_installed "$package" || return 1; done
}

make_packages() {
  if uses_own_database; then write_database_settings; fi
  is_booted || hold_services
  export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1
  local packages
  read -ra packages <<<"$(wanted_packages | tr '\n' ' ')"
  when_unlocked dpkg --configure -a --force-confold
  if ! get_packages "${packages[@]}" 2>/dev/null; then
    when_unlocked apt-get update --quiet --quiet
    get_packages "${packages[@]}" || stop "apt-get could not install ${packages[*]}."
  fi
  release_services
}

# when_unlocked COMMAND...: runs a command that does not itself wait for another program that changes the packages, such as
# Debian's daily update, again until that is done, for five minutes at most.
when_unlocked() {
  local output is_told='' deadline=$((SECONDS + 300))
  until output=$("$@" </dev/null 2>&1); do
    if ((SECONDS > deadline)) || ! [[ $output =~ 'locked by another process'|'Could not get lock' ]]; then
      echo "$output" >&2
      return 1
    fi
    [[ $is_told ]] || say 'Another program is changing the packages: waiting for it, five minutes at most'
    is_told=1
    sleep 1
  done
  [[ -z $output ]] || echo "$output" >&2
}

get_packages() {
  apt-get install --yes --quiet --quiet --no-install-recommends --no-remove -o Dpkg::Use-Pty=0 \
    -o Dpkg::Options::=--force-confold -o DPkg::Lock::Timeout=300 "$@" </dev/null >&2
}

# Debian runs this program before it starts a service. Where systemd does not run, it must start none.
hold_services() {
  [[ -e $policy ]] || printf '#!/bin/sh\n%s\nexit 101\n' "$policy_mark" | write_file "$policy" 755
}

is_own_policy() { [[ -e $policy ]] && grep -qF "$policy_mark" "$policy"; }

release_services() {
  if is_own_policy; then rm -f "$policy"; fi
}

# Written before the server is installed, so that it shows, even after an interrupted run, that we installed the server.
write_database_settings() {
  local memory_mib pool_mib
  memory_mib=$(($(sed -nE 's/^MemTotal: *([0-9]+) kB/\1/p' /proc/meminfo) / 1024))
  pool_mib=$((memory_mib / 4 < 256 ? 256 : memory_mib / 4 > 8192 ? 8192 : memory_mib / 4))
  mkdir -p "${database_settings%/*}"
  [[ -e $database_settings ]] || write_file "$database_settings" 644 <<SETTINGS
# Created for Mailroom; you can change it.
[mariadbd]
# A commit is on disk before Mailroom accepts a message.
innodb_flush_log_at_trx_commit = 1
sync_binlog = 1
innodb_log_file_size = 512M
# For a server with a binary log: without these, each stored byte is written to it twice, and to a temporary file before.
binlog_annotate_row_events = OFF
binlog_cache_size = 4M
# A quarter of the memory of the machine.
innodb_buffer_pool_size = ${pool_mib}M
max_allowed_packet = 64M
SETTINGS
}
