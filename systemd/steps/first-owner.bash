# shellcheck shell=bash
# Who signs in to the dashboard first: owns the first organization and operates this instance.

owner=''

# Prints a link that signs the owner in, until they have signed in; without an owner, how to make one.
print_first_owner() {
  local organization
  if uses_local_database; then start_database; fi
  # Where systemd does not run, no service has migrated the tables.
  is_booted || "$command" migrate >&2
  organization=$("$command" org list --json | from_json 'it[0]?.id ?? ""')
  if [[ -z $organization ]]; then return; fi
  if [[ -z $owner ]] && ! has_operator; then
    owner=$(ask MAILROOM_OWNER 'Your email address, to sign in to the dashboard (empty: later)' '')
    [[ -n $owner ]] || say "To sign in to the dashboard: sudo mailroom org owner $organization you@example.com --operator"
  fi
  if [[ -n $owner ]]; then "$command" org owner "$organization" "$owner" --operator >&2; fi
}

has_operator() { [[ $("$command" operator list --json | from_json it.length) != 0 ]]; }
