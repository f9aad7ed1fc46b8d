import { covers } from './css-properties.ts'
import type { Declaration } from './declarations.ts'
import type { RankedRule } from './matched-rules.ts'
import type { StyleBudget } from './style-limits.ts'

/** What an element gets from a rule under a condition (a media query, or a state such as `:hover`). */
export interface ConditionalStyle {
  readonly source: RankedRule
  readonly isImportant: boolean
  readonly declarations: readonly Declaration[]
}

export interface ElementStyles {
  /** For its style attribute: what holds without a condition. */
  readonly inline: readonly Declaration[]
  readonly conditional: readonly ConditionalStyle[]
}

/** Where an element's declarations come from. */
export interface StyleOrigins {
  /** Its presentational attributes, such as `bgcolor`. */
  readonly hints: readonly Declaration[]
  /** The rules that match it, in the order of their ranks. */
  readonly matched: readonly RankedRule[]
  /** Its style attribute. */
  readonly attribute: readonly Declaration[]
}

interface PlacedDeclaration {
  readonly declaration: Declaration
  /** The higher wins (CSS Cascading and Inheritance §6.1). */
  readonly precedence: number
}

const importantPrecedence = 2 ** 40
const attributePrecedence = 2 ** 30
const hintPrecedence = -1

/**
 * The cascade of one element, divided into a style attribute, and rules of a style sheet in which all is important and so wins
 * over the attribute: what should lose to the attribute is left out of them.
 */
export function cascade({ hints, matched, attribute }: StyleOrigins, budget: StyleBudget): ElementStyles {
  const conditional = matched.filter(isConditional)
  const winners = withoutCovered(
    [
      ...placed(hints, hintPrecedence),
      ...matched.filter(entry => !isConditional(entry)).flatMap(({ rule, rank }) => placed(rule.declarations, rank)),
      ...placed(attribute, attributePrecedence),
    ],
    budget,
  )
  budget.spend(winners.length * conditional.length)
  const competing = conditional
    .filter(entry => !isPseudoElement(entry))
    .flatMap(({ rule, rank }) => placed(rule.declarations, rank))
  return {
    inline: winners.map(winner => ({ ...winner.declaration, isImportant: isPinned(winner, competing) })),
    conditional: conditional.filter(isStrongestOfRule).flatMap(entry => survivors(entry, winners)),
  }
}

function isConditional({ rule, selector }: RankedRule): boolean {
  return rule.media.length > 0 || selector.state !== ''
}

function isPseudoElement({ selector }: RankedRule): boolean {
  return selector.state.includes('::')
}

/** Whether no other selector of the same rule matches more strongly. */
function isStrongestOfRule(entry: RankedRule, at: number, all: readonly RankedRule[]): boolean {
  return !all.slice(at + 1).some(other => other.rule === entry.rule && other.selector.state === entry.selector.state)
}

function placed(declarations: readonly Declaration[], base: number): PlacedDeclaration[] {
  return declarations.map(declaration => ({
    declaration,
    precedence: base + (declaration.isImportant ? importantPrecedence : 0),
  }))
}

/** The declarations in the order of their precedence, without those of which a later one leaves nothing. */
function withoutCovered(declarations: readonly PlacedDeclaration[], budget: StyleBudget): readonly PlacedDeclaration[] {
  const kept = new Map<string, PlacedDeclaration>()
  for (const placement of declarations.toSorted((a, b) => a.precedence - b.precedence)) {
    budget.spend(1 + kept.size)
    const { property } = placement.declaration
    for (const earlier of kept.keys()) if (covers(property, earlier)) kept.delete(earlier)
    kept.set(property, placement)
  }
  return [...kept.values()]
}

/**
 * Whether it has to be important in the style attribute: where it is so in the message; or where a rule under a condition sets
 * more than it (`padding` and `padding-left`), should lose to it, and nothing else should win over it.
 */
function isPinned(winner: PlacedDeclaration, competing: readonly PlacedDeclaration[]): boolean {
  if (winner.precedence >= importantPrecedence + attributePrecedence) return true
  const { property } = winner.declaration
  const overlapping = competing.filter(({ declaration }) => covers(declaration.property, property))
  return (
    overlapping.length > 0 &&
    overlapping.every(({ precedence }) => precedence < winner.precedence) &&
    overlapping.some(({ declaration }) => declaration.property !== property)
  )
}

/** What remains of a rule under a condition, its important declarations apart. */
function survivors(source: RankedRule, winners: readonly PlacedDeclaration[]): ConditionalStyle[] {
  const remaining = placed(source.rule.declarations, source.rank).filter(
    ({ declaration, precedence }) =>
      isPseudoElement(source) ||
      !winners.some(
        winner => winner.precedence > precedence && covers(winner.declaration.property, declaration.property),
      ),
  )
  return [false, true].flatMap(isImportant => {
    const declarations = remaining
      .map(({ declaration }) => declaration)
      .filter(each => each.isImportant === isImportant)
    return declarations.length > 0 ? [{ source, isImportant, declarations }] : []
  })
}
