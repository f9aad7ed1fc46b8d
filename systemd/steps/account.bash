# shellcheck shell=bash
# The account of the service, and its directories.

has_account() {
  [[ $(id -gn "$account" 2>/dev/null) == "$account" ]] || return 1
  [[ $(stat -c %U:%G:%a "$settings_folder" "$credentials" "$state_folder" 2>/dev/null | tr '\n' ' ') == \
    "root:$account:750 root:root:700 $account:$account:750 " ]] || return 1
  ! uses_local_scanner || is_scanner_open
}

make_account() {
  getent group "$account" >/dev/null || groupadd --system "$account"
  getent passwd "$account" >/dev/null ||
    useradd --system --gid "$account" --home-dir "$state_folder" --no-create-home --shell /usr/sbin/nologin \
      --comment Mailroom "$account"
  install -d -o root -g "$account" -m 750 "$settings_folder"
  install -d -o root -g root -m 700 "$credentials"
  install -d -o "$account" -g "$account" -m 750 "$state_folder"
  if uses_local_scanner; then usermod --append --groups clamav "$account"; fi
}

# Where only clamd's group may use its socket, the account has to be in that group.
is_scanner_open() { [[ " $(id -Gn "$account") " == *' clamav '* ]]; }
