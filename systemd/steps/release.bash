# shellcheck shell=bash
# The program: a directory for each version, and a link `current` to the one that serves.

released=(mailroom package.json bun.lock tsconfig.json README.md docs src systemd)
for entry in CHANGELOG.md LICENSE docker; do [[ ! -e $checkout/$entry ]] || released+=("$entry"); done

# The version and a hash of its files: the same files have the same name.
name_release() {
  local version
  version=$(sed -nE 's/^ *"version": *"([^"]+)".*/\1/p' "$checkout/package.json")
  cd "$checkout" || exit
  echo "$version-$(find "${released[@]}" -type f ! -name '*.test.ts' -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -c1-12)"
}
release=$(name_release)

has_release() { [[ -d $home/versions/$release ]]; }

make_release() {
  local stage=$home/versions/.new bun
  rm -rf "$stage"
  mkdir -p "$stage/bin"
  tar -C "$checkout" --exclude='*.test.ts' -cf - "${released[@]}" | tar -C "$stage" --no-same-owner -xf -
  build_dashboard "$stage"
  bun=$("$stage/mailroom" prepare --production)
  [[ $bun == "$stage/bin/bun" ]] || install -m 755 "$(readlink -f "$bun")" "$stage/bin/bun"
  chmod -R u=rwX,go=rX "$stage"
  sync -f "$stage"
  mv -T "$stage" "$home/versions/$release"
}

# Builds the page at /app with the packages that only building needs, which are not kept.
build_dashboard() {
  local stage=$1 bun
  bun=$("$stage/mailroom" prepare)
  "$bun" --no-env-file "$stage/src/cli/dashboard/build-command.ts" >&2
  rm -rf "$stage/node_modules" "$stage/src/dashboard"
}

current_release() {
  local link
  link=$(readlink "$home/current" 2>/dev/null) && echo "${link#versions/}"
}

has_link() { [[ $(current_release) == "$release" ]]; }

make_link() {
  local before
  before=$(current_release) || true
  if [[ -n $before ]]; then point previous "$before"; fi
  want_start
  point current "$release"
}

# point LINK RELEASE: replaces the link atomically.
point() {
  ln -sfnT "versions/$2" "$home/$1.new"
  mv -fT "$home/$1.new" "$home/$1"
}

# Removes all versions but the one that serves and the one before it.
drop_old_releases() {
  local path version kept
  kept=" $(current_release) $(basename "$(readlink "$home/previous" 2>/dev/null || true)") "
  for path in "$home"/versions/*/; do
    version=$(basename "$path")
    [[ $kept == *" $version "* ]] || rm -rf "${home:?}/versions/$version"
  done
}
