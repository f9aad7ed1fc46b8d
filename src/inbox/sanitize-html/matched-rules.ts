import type { TreeElement } from './element-tree.ts'
import { type CompiledSelector, matchesSelector, type SelectorKey } from './selectors/selector.ts'
import type { StyleBudget } from './style-limits.ts'
import type { StyleRule } from './style-sheet.ts'

/** A rule by one of its selectors. */
export interface RankedRule {
  readonly rule: StyleRule
  readonly selector: CompiledSelector
  /** Its place in the cascade: of two of the same importance, that with the higher rank wins. */
  readonly rank: number
}

/** The rules that match an element, in the order of their ranks. */
export type RuleMatcher = (element: TreeElement) => readonly RankedRule[]

/** Matches elements with `rules`, which are in the order of the style sheets. */
export function openRuleMatcher(rules: readonly StyleRule[], budget: StyleBudget): RuleMatcher {
  const ranked = rules
    .flatMap(rule => rule.selectors.map(selector => ({ rule, selector })))
    // Stable: of the same specificity, the later one is stronger.
    .sort((a, b) => a.selector.specificity - b.selector.specificity)
    .map((entry, rank) => ({ ...entry, rank }))
  const byKey = Map.groupBy(ranked, ({ selector }) => indexKey(selector.key))
  return element => {
    const candidates = indexKeysOf(element).flatMap(key => byKey.get(key) ?? [])
    return candidates
      .filter(({ selector }) => matchesSelector(selector, element, budget))
      .sort((a, b) => a.rank - b.rank)
  }
}

function indexKey(key: SelectorKey): string {
  return key.kind === 'any' ? '*' : `${key.kind} ${key.name}`
}

function indexKeysOf({ tag, classes, attributes }: TreeElement): readonly string[] {
  const id = attributes['id']
  return ['*', `tag ${tag}`, ...[...classes].map(name => `class ${name}`), ...(id ? [`id ${id}`] : [])]
}
