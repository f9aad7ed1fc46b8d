import type { AnPlusB, CssNode, Identifier } from 'css-tree'
import type { TreeElement } from '../element-tree.ts'
import type { StyleBudget } from '../style-limits.ts'

type PositionTest = (element: TreeElement, budget: StyleBudget) => boolean

/** `:first-child`, `:nth-last-of-type(2n+1)` and the like; null for another pseudo-class. */
export function positionTest(name: string, argument: CssNode | undefined): PositionTest | null {
  const [, which, last, of] = /^(first|last|only|nth)(-last)?-(child|of-type)$/.exec(name) ?? []
  if (which === undefined || (last !== undefined && which !== 'nth')) return null
  const ofType = of === 'of-type'
  const isFirst: PositionTest = (element, budget) => !sibling(element, 'previous', ofType, budget)
  const isLast: PositionTest = (element, budget) => !sibling(element, 'next', ofType, budget)
  if (which === 'first') return isFirst
  if (which === 'last') return isLast
  if (which === 'only') return (element, budget) => isFirst(element, budget) && isLast(element, budget)
  if (argument?.type !== 'Nth' || argument.selector !== null) return null
  const { a, b } = coefficients(argument.nth)
  return (element, budget) => {
    const position = positionOf(element, last === undefined ? 'previous' : 'next', ofType, budget)
    return a === 0 ? position === b : (position - b) % a === 0 && (position - b) / a >= 0
  }
}

function coefficients(nth: AnPlusB | Identifier): { readonly a: number; readonly b: number } {
  if (nth.type === 'Identifier') return { a: 2, b: nth.name.toLowerCase() === 'odd' ? 1 : 0 }
  return { a: Number(nth.a ?? 0), b: Number(nth.b ?? 0) }
}

/** Counted from 1. */
function positionOf(
  element: TreeElement,
  direction: 'previous' | 'next',
  ofType: boolean,
  budget: StyleBudget,
): number {
  let position = 1
  let other = sibling(element, direction, ofType, budget)
  while (other) {
    position++
    other = sibling(other, direction, ofType, budget)
  }
  return position
}

function sibling(
  element: TreeElement,
  direction: 'previous' | 'next',
  ofType: boolean,
  budget: StyleBudget,
): TreeElement | null {
  let other = element[direction]
  budget.spend()
  while (ofType && other && other.tag !== element.tag) {
    budget.spend()
    other = other[direction]
  }
  return other
}
