# shellcheck shell=bash
# Debian's rspamd with a Redis on this machine, where --with-rspamd asked for it once: the settings then name it.

rspamd_url=http://127.0.0.1:11333
rspamd_controller=http://127.0.0.1:11334
rspamd_redis=/etc/rspamd/local.d/redis.conf
rspamd_mark='# made by the installer of Mailroom'

uses_spam_filter() { [[ -n ${with_rspamd-} || $(setting_of MAILROOM_RSPAMD) == "$rspamd_url" ]]; }

has_spam_filter() {
  [[ $(setting_of MAILROOM_RSPAMD) == "$rspamd_url" ]] || return 1
  [[ -e $rspamd_redis ]] || return 1
  systemctl --quiet is-enabled redis-server rspamd 2>/dev/null || return 1
  ! is_booted || systemctl --quiet is-active redis-server rspamd
}

# Debian's rspamd listens on this machine only, and its controller asks nobody on it for a password.
make_spam_filter() {
  mkdir -p "${rspamd_redis%/*}"
  [[ -e $rspamd_redis ]] || printf '%s\nservers = "127.0.0.1";\n' "$rspamd_mark" | write_file "$rspamd_redis" 644
  systemctl enable --quiet redis-server rspamd 2>/dev/null
  if is_booted; then
    systemctl start redis-server
    systemctl restart rspamd
    wait_for_spam_filter
  fi
  if [[ -z $(setting_of MAILROOM_RSPAMD) ]]; then
    want_start
    {
      cat "$settings_file"
      printf '\n# The spam filter: rspamd on this machine, which learns from messages that people move to and from spam.\n'
      printf 'MAILROOM_RSPAMD=%s\nMAILROOM_RSPAMD_CONTROLLER=%s\n' "$rspamd_url" "$rspamd_controller"
    } | write_file "$settings_file" 640 "root:$account"
  fi
}

# systemd counts it as started before it has read its rules, and also where it then ends.
wait_for_spam_filter() {
  local deadline=$((SECONDS + 60))
  until curl --silent --fail --output /dev/null --max-time 2 "$rspamd_url/ping" &&
    curl --silent --fail --output /dev/null --max-time 2 "$rspamd_controller/ping"; do
    if ((SECONDS > deadline)); then
      say "NOTE: rspamd does not answer at $rspamd_url and $rspamd_controller; until then mail is filed without it. Its log is: journalctl -u rspamd"
      return
    fi
    sleep 0.5
  done
}

remove_spam_filter_settings() {
  if [[ -e $rspamd_redis ]] && grep -qxF "$rspamd_mark" "$rspamd_redis"; then rm -f "$rspamd_redis"; fi
}
