import type { Declaration } from './declarations.ts'
import type { RankedRule } from './matched-rules.ts'
import { covers, overlap } from './shorthands.ts'
import type { StyleBudget } from './style-limits.ts'

/** What an element gets by a rule of the style sheet. */
export interface SheetStyle {
  /** Lists of media queries of which each has to hold. */
  readonly media: readonly string[]
  /** Such as `:hover`, or a pseudo-element. */
  readonly state: string
  readonly isImportant: boolean
  /** Of two of the same importance, that with the higher rank wins. */
  readonly rank: number
  readonly declarations: readonly Declaration[]
}

export interface ElementStyles {
  /** For its style attribute: what holds without a condition. */
  readonly inline: readonly Declaration[]
  readonly sheet: readonly SheetStyle[]
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
 * The cascade of one element, divided into a style attribute and rules of a style sheet in which everything is important and so
 * wins over the attribute. What loses to the attribute is left out of the sheet; and what in the attribute has to win over a
 * part of the sheet (`padding-left` over a `padding`) stands in both.
 */
export function cascade({ hints, matched, attribute }: StyleOrigins, budget: StyleBudget): ElementStyles {
  const winners = withoutCovered(
    [
      ...placed(hints, hintPrecedence),
      ...matched.filter(entry => !isConditional(entry)).flatMap(({ rule, rank }) => placed(rule.declarations, rank)),
      ...placed(attribute, attributePrecedence),
    ],
    budget,
  )
  const conditional = matched.filter(isConditional).filter(isStrongestOfRule)
  budget.spend(winners.length * conditional.length)
  const sheet = conditional.flatMap(entry => survivors(entry, winners))
  return {
    inline: winners.map(({ declaration, precedence }) => ({
      ...declaration,
      isImportant: precedence >= importantPrecedence + attributePrecedence,
    })),
    sheet: [...sheet, ...winnersOverSheet(winners, sheet, budget)],
  }
}

function isConditional({ rule, selector }: RankedRule): boolean {
  return rule.media.length > 0 || selector.state !== ''
}

/** Whether no other selector of the same rule matches more strongly. */
function isStrongestOfRule(entry: RankedRule, at: number, all: readonly RankedRule[]): boolean {
  return !all.slice(at + 1).some(other => other.rule === entry.rule && other.selector.state === entry.selector.state)
}

function placed(declarations: readonly Declaration[], rank: number): PlacedDeclaration[] {
  return declarations.map(declaration => ({ declaration, precedence: precedenceOf(declaration.isImportant, rank) }))
}

function precedenceOf(isImportant: boolean, rank: number): number {
  return rank + (isImportant ? importantPrecedence : 0)
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

/** What remains of a rule under a condition, its important declarations apart. */
function survivors({ rule, selector, rank }: RankedRule, winners: readonly PlacedDeclaration[]): SheetStyle[] {
  const remaining = placed(rule.declarations, rank).filter(
    ({ declaration, precedence }) =>
      isOfPseudoElement(selector) ||
      !winners.some(
        winner => winner.precedence > precedence && covers(winner.declaration.property, declaration.property),
      ),
  )
  return [false, true].flatMap(isImportant => {
    const declarations = remaining
      .map(({ declaration }) => declaration)
      .filter(declaration => declaration.isImportant === isImportant)
    return declarations.length > 0
      ? [{ media: rule.media, state: selector.state, isImportant, rank, declarations }]
      : []
  })
}

function isOfPseudoElement({ state }: { readonly state: string }): boolean {
  return state.includes('::')
}

/** Those that a rule of the sheet with a lower precedence would take something from. */
function winnersOverSheet(
  winners: readonly PlacedDeclaration[],
  sheet: readonly SheetStyle[],
  budget: StyleBudget,
): SheetStyle[] {
  const inSheet = sheet
    .filter(style => !isOfPseudoElement(style))
    .flatMap(({ declarations, rank }) => placed(declarations, rank))
  const added: SheetStyle[] = []
  for (const winner of winners) {
    budget.spend(inSheet.length)
    const { declaration, precedence } = winner
    const isTakenFrom = inSheet.some(
      other => other.precedence < precedence && overlap(other.declaration.property, declaration.property),
    )
    if (!isTakenFrom) continue
    inSheet.push(winner)
    const { isImportant } = declaration
    const rank = precedence - precedenceOf(isImportant, 0)
    added.push({ media: [], state: '', isImportant, rank, declarations: [declaration] })
  }
  return added
}
