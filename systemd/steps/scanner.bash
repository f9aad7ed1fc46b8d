# shellcheck shell=bash
# Debian's clamd, with limits above the largest message, unpacking in memory.

scanner_settings=/etc/clamav/clamd.conf
scanner_backup=$scanner_settings.before-mailroom
scanner_unit=/etc/systemd/system/clamav-daemon.service.d/mailroom.conf
scanner_begin='# --- Mailroom: begin ---'
scanner_end='# --- Mailroom: end ---'
scanner_mark='# kept by Mailroom: '

uses_local_scanner() {
  local address
  address=$(setting_of MAILROOM_CLAMD)
  [[ ${address:-${MAILROOM_CLAMD-}} != tcp:* ]]
}

scanner_lines() {
  cat <<'SETTINGS'
StreamMaxLength 100M
MaxFileSize 100M
MaxScanSize 400M
AlertExceedsMax yes
MaxThreads 16
MaxConnectionQueueLength 64
ConcurrentDatabaseReload no
SETTINGS
}

scanner_unit_lines() {
  cat <<'UNIT'
[Unit]
# Until freshclam has fetched the signatures, clamd waits for them instead of not starting.
ConditionPathExistsGlob=

[Service]
ExecStartPre=/bin/sh -c 'until ls /var/lib/clamav/main.c[lv]d && ls /var/lib/clamav/daily.c[lv]d; do sleep 5; done >/dev/null 2>&1'
TimeoutStartSec=infinity
# Unpack in memory: on a disk scans take several times as long.
TemporaryFileSystem=/tmp:mode=1777
UNIT
}

has_scanner() {
  uses_local_scanner || return 0
  [[ -e $scanner_settings && $(own_scanner_lines) == "$(scanner_lines)" ]] || return 1
  [[ $(cat "$scanner_unit" 2>/dev/null) == "$(scanner_unit_lines)" ]] || return 1
  systemctl --quiet is-enabled clamav-freshclam clamav-daemon 2>/dev/null || return 1
  ! is_booted || [[ $(systemctl show --property=ActiveState --value clamav-daemon) == a* ]]
}

own_scanner_lines() { sed -n "/^$scanner_begin\$/,/^$scanner_end\$/{/^# ---/!p}" "$scanner_settings"; }

make_scanner() {
  [[ -e $scanner_backup ]] || cp -p "$scanner_settings" "$scanner_backup"
  # From now on package upgrades do not change the file.
  echo 'clamav-daemon clamav-daemon/debconf boolean false' | debconf-set-selections
  local names
  names=$(scanner_lines | cut -d' ' -f1 | paste -sd'|')
  {
    without_own_lines | sed -E "s/^($names)[[:space:]]/$scanner_mark&/"
    echo "$scanner_begin"
    scanner_lines
    echo "$scanner_end"
  } | write_file "$scanner_settings" 644
  mkdir -p "${scanner_unit%/*}"
  scanner_unit_lines | write_file "$scanner_unit" 644
  systemctl enable --quiet clamav-freshclam clamav-daemon 2>/dev/null
  if is_booted; then start_scanner; fi
}

# The settings without our lines, and with the lines restored that ours replaced.
without_own_lines() { sed -e "/^$scanner_begin\$/,/^$scanner_end\$/d" -e "s/^$scanner_mark//" "$scanner_settings"; }

start_scanner() {
  systemctl daemon-reload
  systemctl start clamav-freshclam || say 'NOTE: freshclam does not start, see: journalctl -u clamav-freshclam'
  systemctl restart --no-block clamav-daemon
  has_signatures ||
    say 'NOTE: ClamAV has no signatures yet. freshclam is fetching them, then clamd starts; until then mail goes to quarantine.'
}

has_signatures() {
  compgen -G '/var/lib/clamav/main.c[lv]d' >/dev/null && compgen -G '/var/lib/clamav/daily.c[lv]d' >/dev/null
}

remove_scanner_settings() {
  rm -f "$scanner_unit"
  rmdir "${scanner_unit%/*}" 2>/dev/null || true
  [[ -e $scanner_settings ]] && grep -qxF "$scanner_begin" "$scanner_settings" || return 0
  without_own_lines | write_file "$scanner_settings" 644
  echo 'clamav-daemon clamav-daemon/debconf boolean true' | debconf-set-selections
  rm -f "$scanner_backup"
}
