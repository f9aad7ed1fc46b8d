# shellcheck shell=bash
# The settings of the service, which are the operator's once they are written.

relay_file=$credentials/smarthost_url

# What the settings file holds for a key; nothing where it holds none.
setting_of() { sed -nE "s/^$1=\"?([^\"]*)\"?\$/\1/p" "$settings_file" 2>/dev/null | tail -n 1; }

has_settings() { [[ -s $settings_file && -e $relay_file ]]; }

make_settings() {
  local hostname relay
  if [[ ! -e $relay_file ]]; then
    relay=$(ask MAILROOM_SMARTHOST_URL 'The relay, smtp://user:password@host:port (empty: later)' '')
    printf '%s' "$relay" | write_file "$relay_file" 600
  fi
  if [[ -s $settings_file ]]; then return; fi
  hostname=$(ask MAILROOM_HOSTNAME 'The name of this machine in DNS' "$(hostname -f 2>/dev/null || hostname)")
  want_start
  write_settings "$hostname" | write_file "$settings_file" 640 "root:$account"
}

# ask VARIABLE QUESTION DEFAULT: what the variable holds, else what a person at the terminal says, else the default.
ask() {
  local answer=${!1-}
  if [[ -z $answer && -t 0 && -t 2 ]]; then read -rp "mailroom: $2${3:+ [$3]}: " answer; fi
  echo "${answer:-$3}"
}

# given KEY [LINE]: the key as it was given to this run, else the line, which shows what it might be.
given() { if [[ -n ${!1-} ]]; then echo "$1=${!1}"; else echo "${2:-#$1=}"; fi; }

write_settings() {
  local roles='#MAILROOM_ROLES=smtp,http,relay'
  [[ -s $relay_file ]] || roles='MAILROOM_ROLES=smtp,http'
  cat <<SETTINGS
# The settings of Mailroom; docs/settings.md lists all of them. One KEY=value a line, as systemd.exec(5) reads an EnvironmentFile.
# After a change: systemctl restart mailroom

# The name of this machine in DNS, which leads both ways.
MAILROOM_HOSTNAME=$1
# Where clients reach the API: the https address of the reverse proxy before it.
$(given MAILROOM_PUBLIC_URL)
$(given MAILROOM_HTTP_LISTEN '#MAILROOM_HTTP_LISTEN=127.0.0.1:8080')
$(given MAILROOM_SMTP_LISTEN '#MAILROOM_SMTP_LISTEN=0.0.0.0:25')

# The address of the relay, with its password, is in $relay_file. Without one what is sent
# waits: once it is there, take the line of MAILROOM_ROLES away.
$roles
# Whose it is: postfix, postmark, mailgun, sendgrid, brevo or none.
$(given MAILROOM_SMARTHOST_PRESET '#MAILROOM_SMARTHOST_PRESET=postfix')
$(given MAILROOM_SPF_INCLUDE)

# STARTTLS, once there is a certificate. The account $account must be able to read both files.
#MAILROOM_TLS_CERT=/etc/mailroom/tls/fullchain.pem
#MAILROOM_TLS_KEY=/etc/mailroom/tls/privkey.pem

# Who reads mail to a bare postmaster: a mailbox of ours.
#MAILROOM_POSTMASTER=postmaster@example.com
$(given MAILROOM_RESOLVERS)
$(given MAILROOM_CLAMD '#MAILROOM_CLAMD=unix:/run/clamav/clamd.ctl')
SETTINGS
}
