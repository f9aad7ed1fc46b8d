# shellcheck shell=bash
# The systemd unit, and the operator's command.

unit=/etc/systemd/system/mailroom.service
command=/usr/local/bin/mailroom

has_service() {
  cmp -s "$checkout/systemd/mailroom.service" "$unit" && cmp -s "$checkout/systemd/command" "$command"
}

make_service() {
  want_start
  write_file "$command" 755 <"$checkout/systemd/command"
  write_file "$unit" 644 <"$checkout/systemd/mailroom.service"
  if is_booted; then systemctl daemon-reload; fi
}
