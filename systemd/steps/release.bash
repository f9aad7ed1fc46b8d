# shellcheck shell=bash
# The program: each version in a folder of its own, and a link `current` to the one that serves.

released=(mailroom package.json bun.lock tsconfig.json README.md docs src systemd)
for each in CHANGELOG.md LICENSE docker; do [[ ! -e $checkout/$each ]] || released+=("$each"); done

# The version and what it is made of: the same files have the same name.
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
  bun=$("$stage/mailroom" prepare --production)
  [[ $bun == "$stage/bin/bun" ]] || install -m 755 "$(readlink -f "$bun")" "$stage/bin/bun"
  chmod -R u=rwX,go=rX "$stage"
  sync -f "$stage"
  mv -T "$stage" "$home/versions/$release"
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

# point LINK RELEASE: there is no moment without the link.
point() {
  ln -sfnT "versions/$2" "$home/$1.new"
  mv -fT "$home/$1.new" "$home/$1"
}

# Keeps the version that serves and the one before it.
drop_old_releases() {
  local each kept
  kept=" $(current_release) $(basename "$(readlink "$home/previous" 2>/dev/null || true)") "
  for each in "$home"/versions/*/; do
    each=$(basename "$each")
    [[ $kept == *" $each "* ]] || rm -rf "${home:?}/versions/$each"
  done
}
