# shellcheck shell=bash
# The tables, and the first organization with its key where there is none yet.

first_key=$settings_folder/first-key.json
first_key_name='Made by the installer'

first_key_made=$settings_folder/.first-key-made

# from_json EXPRESSION: evaluates it with `it`, the JSON on standard input, and prints the value; a list, one item on each line.
from_json() {
  "$home/current/bin/bun" --print "const it = JSON.parse(await Bun.stdin.text()); [$1].flat().join('\n')"
}

# The file is empty until the key is created. If it is missing although the key was created, the operator has removed it.
has_first_key() {
  if [[ -e $first_key ]]; then [[ -s $first_key ]]; else [[ -e $first_key_made ]]; fi
}

make_first_key() {
  local organization keys key
  if uses_local_database; then start_database; fi
  "$command" migrate >&2
  organization=$("$command" org list --json | from_json 'it[0]?.id ?? ""')
  if [[ -z $organization ]]; then
    organization=$("$command" org create "$(organization_name)" --json | from_json it.id)
  fi
  keys=$("$command" key list --org "$organization" --json)
  if [[ -e $first_key || $(from_json it.length <<<"$keys") == 0 ]]; then
    write_file "$first_key" 600 </dev/null
    # Revoke keys that an interrupted run created without storing them: nobody has them.
    for key in $(from_json "it.filter(k => k.name === '$first_key_name' && !k.revoked_at).map(k => k.id)" <<<"$keys"); do
      "$command" key revoke "$key" >&2
    done
    "$command" key create --org "$organization" --name "$first_key_name" --json | write_file "$first_key" 600
  fi
  : >"$first_key_made"
}

organization_name() { ask MAILROOM_ORGANIZATION 'The name of the first organization' "$(setting_of MAILROOM_HOSTNAME)"; }
