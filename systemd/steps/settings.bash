# shellcheck shell=bash
# The settings of the service. Once written, they are the operator's to change.

relay_file=$credentials/smarthost_url

# The value of a key in the settings file; nothing if it is not set.
setting_of() { sed -nE "s/^$1=\"?([^\"]*)\"?\$/\1/p" "$settings_file" 2>/dev/null | tail -n 1; }

has_settings() { [[ -s $settings_file && -e $relay_file ]]; }

make_settings() {
  local hostname relay
  if [[ ! -e $relay_file ]]; then
    relay=$(ask MAILROOM_SMARTHOST_URL 'The relay, smtp://user:password@host:port (empty: later)' '')
    printf '%s' "$relay" | write_file "$relay_file" 600
  fi
  if [[ -s $settings_file ]]; then return; fi
  hostname=$(ask MAILROOM_HOSTNAME 'The hostname of this machine in DNS' "$(hostname -f 2>/dev/null || hostname)")
  want_start
  write_settings "$hostname" | write_file "$settings_file" 640 "root:$account"
}

# ask VARIABLE QUESTION DEFAULT: the value of the variable, else the answer at the terminal, else the default.
ask() {
  local answer=${!1-}
  if [[ -z $answer && -t 0 && -t 2 ]]; then read -rp "mailroom: $2${3:+ [$3]}: " answer; fi
  echo "${answer:-$3}"
}

# given KEY [LINE]: a line with the value given to this run, else LINE, an example that is commented out.
given() { if [[ -n ${!1-} ]]; then echo "$1=${!1}"; else echo "${2:-#$1=}"; fi; }

write_settings() {
  local roles='#MAILROOM_ROLES=smtp,http,relay,submission,webhooks'
  [[ -s $relay_file ]] || roles='MAILROOM_ROLES=smtp,http,submission,webhooks'
  cat <<SETTINGS
# The settings of Mailroom; docs/settings.md lists all of them. One KEY=value a line, as systemd.exec(5) reads an EnvironmentFile.
# After a change: systemctl restart mailroom

# The hostname of this machine, with matching forward and reverse DNS (FCrDNS).
MAILROOM_HOSTNAME=$1
# Where clients and browsers reach the API and the dashboard: the https address of the reverse proxy in front of them.
$(given MAILROOM_PUBLIC_URL)
$(given MAILROOM_HTTP_LISTEN '#MAILROOM_HTTP_LISTEN=127.0.0.1:8080')
$(given MAILROOM_SMTP_LISTEN '#MAILROOM_SMTP_LISTEN=0.0.0.0:25')

# The URL of the relay, with its password, is in $relay_file. Without a relay, sent emails
# wait: when you have set one, remove the line with MAILROOM_ROLES.
$roles
# The provider of the relay: postfix, postmark, mailgun, sendgrid, brevo or none.
$(given MAILROOM_SMARTHOST_PRESET '#MAILROOM_SMARTHOST_PRESET=postfix')
$(given MAILROOM_SPF_INCLUDE)

# Where programs submit mail by SMTP with an API key as password, when there is a certificate.
$(given MAILROOM_SUBMISSION_LISTEN '#MAILROOM_SUBMISSION_LISTEN=0.0.0.0:587')
$(given MAILROOM_SUBMISSIONS_LISTEN '#MAILROOM_SUBMISSIONS_LISTEN=0.0.0.0:465')

# STARTTLS, when there is a certificate. The account $account must be able to read both files.
#MAILROOM_TLS_CERT=/etc/mailroom/tls/fullchain.pem
#MAILROOM_TLS_KEY=/etc/mailroom/tls/privkey.pem

# The mailbox that receives mail to postmaster without a domain.
#MAILROOM_POSTMASTER=postmaster@example.com
$(given MAILROOM_RESOLVERS)
$(given MAILROOM_CLAMD '#MAILROOM_CLAMD=unix:/run/clamav/clamd.ctl')
SETTINGS
}
