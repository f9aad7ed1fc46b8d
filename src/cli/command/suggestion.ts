/** What to add to a complaint about an unknown name: the name that was probably meant, else all there are. */
export function suggest(typed: string, names: readonly string[]): string {
  const [closest] = names
    .map(name => ({ name, distance: editDistance(typed, name) }))
    .toSorted((one, other) => one.distance - other.distance)
  if (!closest) return ''
  const isClose = closest.distance <= Math.max(1, Math.floor(closest.name.length / 2))
  return isClose ? `; did you mean ${closest.name}?` : `; there are ${names.join(', ')}`
}

/** Levenshtein's: how many letters have to be inserted, deleted or replaced. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
