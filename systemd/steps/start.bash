# shellcheck shell=bash
# The service itself: enabled, and restarted when anything of it has changed.

start_wanted=$settings_folder/.start-wanted

# Recorded on disk, so that the next run restarts the service if this one is interrupted before. Where systemd does not run,
# no old service runs either.
want_start() { ! is_booted || : >"$start_wanted"; }

has_start() {
  systemctl --quiet is-enabled mailroom 2>/dev/null || return 1
  ! is_booted || { [[ ! -e $start_wanted ]] && systemctl --quiet is-active mailroom; }
}

make_start() {
  systemctl --quiet enable mailroom
  if ! is_booted; then return; fi
  if ! systemctl restart mailroom; then
    journalctl --unit=mailroom --lines=10 --no-pager --output=cat >&2 || true
    say "the service does not start. Its settings are in $settings_file, its log is: journalctl -u mailroom"
    if [[ -e $home/previous ]]; then say "back to the previous version: $(rollback_command)"; fi
    exit 1
  fi
  rm -f "$start_wanted"
  drop_old_releases
}

rollback_command() { echo "sudo ln -sfnT \"\$(readlink $home/previous)\" $home/current && sudo systemctl restart mailroom"; }

print_next_steps() {
  say "Mailroom $release is installed."
  say "Settings: $settings_file, then: systemctl restart mailroom. Commands: sudo mailroom --help. Log: journalctl -u mailroom"
  [[ -s $relay_file ]] ||
    say "NOTE: no relay is set, so sent emails wait. Write its URL to $relay_file and remove MAILROOM_ROLES from the settings."
  if [[ -s $first_key ]]; then say "The key of the first organization is in $first_key: store it in a safe place, then remove the file."; fi
}
