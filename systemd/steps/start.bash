# shellcheck shell=bash
# The service itself: enabled, and started anew where anything of it has changed.

start_wanted=$settings_folder/.start-wanted

# Noted on the disk, so that a run that was broken off before the start does not leave the old one running. Where systemd
# does not run, nothing of the old does.
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
    say "the service does not start. Its settings are in $settings_file, its log in: journalctl -u mailroom"
    if [[ -e $home/previous ]]; then say "back to the version before: $(way_back)"; fi
    exit 1
  fi
  rm -f "$start_wanted"
  drop_old_releases
}

way_back() { echo "sudo ln -sfnT \"\$(readlink $home/previous)\" $home/current && sudo systemctl restart mailroom"; }

tell_what_is_next() {
  say "Mailroom $release is installed."
  say "Settings: $settings_file, then: systemctl restart mailroom. Commands: sudo mailroom --help. Log: journalctl -u mailroom"
  [[ -s $relay_file ]] ||
    say "NOTE: no relay is set, so what is sent waits. Put its URL into $relay_file and take MAILROOM_ROLES out of the settings."
  if [[ -s $first_key ]]; then say "The key of the first organization is in $first_key: take it to a safe place, then remove the file."; fi
}
