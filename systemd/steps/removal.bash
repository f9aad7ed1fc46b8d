# shellcheck shell=bash
# Uninstalling. Packages stay: other programs may use them by now.

uninstall() {
  if [[ -n $purge ]]; then confirm_purge; fi
  say 'Stopping the service, removing its unit and command'
  if is_booted; then systemctl disable --quiet --now mailroom 2>/dev/null || true; fi
  systemctl --quiet disable mailroom 2>/dev/null || true
  rm -f "$unit" "$command"
  say "Removing $home and the changes to the settings of clamd"
  rm -rf "$home"
  remove_scanner_settings
  remove_spam_filter_settings
  if is_booted; then
    systemctl daemon-reload
    systemctl try-restart clamav-daemon 2>/dev/null || true
  fi
  if [[ -n $purge ]]; then
    purge_all
  else
    say "Kept: the database, $settings_folder and $state_folder. systemd/install uses them again; --purge removes them."
  fi
  say 'The packages stay: mariadb-server, clamav-daemon, clamav-freshclam, and with --with-rspamd rspamd and redis-server.'
}

confirm_purge() {
  [[ -z $yes ]] || return 0
  [[ -t 0 ]] || stop 'this deletes all mail, keys and settings for good; without a terminal it needs --yes.'
  local answer
  read -rp 'mailroom: This deletes all mail, keys and settings for good. Type "purge" to continue: ' answer
  [[ $answer == purge ]] || stop 'nothing was changed.'
}

purge_all() {
  say "Removing the database, $settings_folder, $state_folder and the account"
  # The settings go last, so that the next run still finds the database if this one is interrupted.
  if uses_local_database && { has_program mariadb || has_program mysql; }; then
    start_database
    as_database_root <<SQL
DROP DATABASE IF EXISTS mailroom;
DROP USER IF EXISTS '$account'@'localhost';
SQL
  elif [[ -s $database_url_file ]]; then
    say 'NOTE: the database is not on this machine; its tables stay.'
  fi
  rm -rf "$state_folder" "$settings_folder"
  rm -f "$database_settings"
  if getent passwd "$account" >/dev/null; then userdel "$account"; fi
  if getent group "$account" >/dev/null; then groupdel "$account"; fi
}
