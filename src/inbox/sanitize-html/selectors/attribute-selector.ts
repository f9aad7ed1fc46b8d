import { type AttributeSelector, ident } from 'css-tree'
import type { TreeElement } from '../element-tree.ts'
import type { StyleBudget } from '../style-limits.ts'
import { words } from '../words.ts'

/** Attributes whose values HTML compares without case. */
const caseless = new Set(
  words(
    'align alink bgcolor clear color dir face frame lang link nowrap rel rules scope target text type valign vlink',
  ),
)

/**
 * Whether an element has the attribute and value that the selector says; null for a selector with a namespace. It is asked here,
 * of the message's own source: the style sheet that the reader gets has no such selector.
 */
export function attributeTest(
  selector: AttributeSelector,
): ((element: TreeElement, budget: StyleBudget) => boolean) | null {
  if (selector.name.name.includes('|')) return null
  const name = ident.decode(selector.name.name).toLowerCase()
  const value = valueText(selector)
  if (selector.matcher === null || value === null) return ({ attributes }) => attributes[name] !== undefined
  const ignoresCase = selector.flags?.toLowerCase() === 'i' || (caseless.has(name) && selector.flags === null)
  const fold = (text: string) => (ignoresCase ? text.toLowerCase() : text)
  const wanted = fold(value)
  const { matcher } = selector
  return ({ attributes }, budget) => {
    const found = attributes[name]
    if (found === undefined) return false
    budget.spend(Math.ceil(found.length / 64))
    return matchesValue(matcher, fold(found), wanted)
  }
}

function valueText({ value }: AttributeSelector): string | null {
  if (value === null) return null
  return value.type === 'String' ? value.value : ident.decode(value.name)
}

function matchesValue(matcher: string, found: string, wanted: string): boolean {
  switch (matcher) {
    case '=':
      return found === wanted
    case '~=':
      return wanted !== '' && found.split(/[\t\n\f\r ]+/).includes(wanted)
    case '|=':
      return found === wanted || found.startsWith(`${wanted}-`)
    case '^=':
      return wanted !== '' && found.startsWith(wanted)
    case '$=':
      return wanted !== '' && found.endsWith(wanted)
    case '*=':
      return wanted !== '' && found.includes(wanted)
    default:
      return false
  }
}
