/** Positions in a row at which no event was found, although there are events after them. */
export interface PositionGap {
  readonly first: number
  readonly last: number
  /** When it was found, or when it was last looked at for transactions. */
  readonly sinceMs: number
  /** By then no transaction had a row in it, so that nothing can come. */
  readonly isUnlocked: boolean
  /** It stands for several, and for the numbered events between them. */
  readonly isMerged: boolean
}

/** Which positions need not be looked at any more: all up to `through` but for the gaps, which are in order. */
export interface SeenPositions {
  readonly through: number
  readonly gaps: readonly PositionGap[]
}

/** More gaps than this are merged: a statement names each of them. */
export const maxGaps = 200
/** Gaps that were found within so long are merged first, in milliseconds. */
const mergedMs = 2500

/**
 * Adds events that have numbers.
 * @param positions ascending; all events after `seen.through` up to the last of them, and some in gaps
 */
export function addPositions(seen: SeenPositions, positions: readonly number[], nowMs: number): SeenPositions {
  const gaps = fillGaps(
    seen.gaps,
    positions.filter(position => position <= seen.through),
  )
  let { through } = seen
  for (const position of positions) {
    if (position <= through) continue
    const [first, last] = [through + 1, position - 1]
    if (first <= last) gaps.push({ first, last, sinceMs: nowMs, isUnlocked: false, isMerged: false })
    through = position
  }
  return { through, gaps: mergeGaps(gaps) }
}

/** The position up to which every event has a number, and none can come. */
export function watermarkOf({ through, gaps }: SeenPositions): number {
  const [oldest] = gaps
  return oldest ? oldest.first - 1 : through
}

function fillGaps(gaps: readonly PositionGap[], positions: readonly number[]): PositionGap[] {
  if (positions.length === 0) return [...gaps]
  return gaps.flatMap(gap => {
    const inside = positions.filter(position => position >= gap.first && position <= gap.last)
    if (gap.isMerged || inside.length === 0) return [gap]
    const starts = [gap.first, ...inside.map(position => position + 1)]
    const ends = [...inside.map(position => position - 1), gap.last]
    return starts
      .map((first, i) => ({ ...gap, first, last: ends[i] ?? gap.last }))
      .filter(({ first, last }) => first <= last)
  })
}

function mergeGaps(gaps: readonly PositionGap[]): readonly PositionGap[] {
  let merged = gaps
  for (let withinMs = mergedMs; merged.length > maxGaps; withinMs *= 2) merged = mergeWithin(merged, withinMs)
  return merged
}

function mergeWithin(gaps: readonly PositionGap[], withinMs: number): readonly PositionGap[] {
  const merged: PositionGap[] = []
  for (const gap of gaps) {
    const before = merged.at(-1)
    if (before && Math.floor(before.sinceMs / withinMs) === Math.floor(gap.sinceMs / withinMs))
      merged[merged.length - 1] = {
        first: before.first,
        last: gap.last,
        sinceMs: Math.max(before.sinceMs, gap.sinceMs),
        isUnlocked: before.isUnlocked && gap.isUnlocked,
        isMerged: true,
      }
    else merged.push(gap)
  }
  return merged
}
