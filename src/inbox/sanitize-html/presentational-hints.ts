import { policyOfProperty } from './css-properties.ts'
import { cleanValue } from './css-value.ts'
import type { Declaration } from './declarations.ts'
import type { TreeElement } from './element-tree.ts'
import type { StyleContext } from './style-context.ts'

/**
 * Declarations for attributes that are not kept as such (HTML §15.3). They count less than any rule.
 */
export function presentationalHints(
  element: TreeElement,
  body: TreeElement,
  context: StyleContext,
): readonly Declaration[] {
  const { tag, attributes } = element
  const hints: Declaration[] = []
  const add = (property: string, value: string | undefined) => {
    const policy = value === undefined ? null : policyOfProperty(property)
    const clean = policy && value !== undefined ? cleanValue(property, value, policy, context) : null
    if (clean !== null) hints.push({ property, value: clean, isImportant: false })
  }
  if (element === body) {
    add('background-color', legacyColor(attributes['bgcolor']))
    add('color', legacyColor(attributes['text']))
    for (const [side, names] of Object.entries(marginAttributes))
      add(`margin-${side}`, pixels(names.map(name => attributes[name]).find(value => value !== undefined)))
  }
  if (tag === 'a' && attributes['href'] !== undefined) add('color', legacyColor(body.attributes['link']))
  if (tag === 'table') add('border-color', legacyColor(attributes['bordercolor']))
  const background = attributes['background']
  if (background !== undefined && /^(?:body|table|tbody|thead|tfoot|tr|td|th)$/.test(tag) && context.remote === 'allow')
    add('background-image', `url('${encodeURI(background.trim()).replace(/'/g, '%27')}')`)
  return hints
}

const marginAttributes = {
  top: ['marginheight', 'topmargin'],
  right: ['marginwidth', 'rightmargin'],
  bottom: ['marginheight', 'bottommargin'],
  left: ['marginwidth', 'leftmargin'],
}

/** Hexadecimal digits may lack their "#". */
function legacyColor(value: string | undefined): string | undefined {
  return value !== undefined && /^[\da-f]{6}$/i.test(value) ? `#${value}` : value
}

function pixels(value: string | undefined): string | undefined {
  const digits = value === undefined ? undefined : /^\s*(\d{1,4})/.exec(value)?.[1]
  return digits === undefined ? undefined : `${digits}px`
}
