import { cascade, type ElementStyles } from './cascade.ts'
import { formatDeclarations, movesElement, readStyleAttribute } from './declarations.ts'
import { parseElements, type TreeElement } from './element-tree.ts'
import { openRuleMatcher } from './matched-rules.ts'
import { presentationalHints } from './presentational-hints.ts'
import type { StyleContext } from './style-context.ts'
import { StyleBudget, StyleLimitError } from './style-limits.ts'
import { readStyleSheets } from './style-sheet.ts'
import { openStyleSheetWriter } from './style-sheet-writer.ts'

/** What an element has in place of its own `style` and `class`; each may be empty. */
export interface ElementAttributes {
  readonly style: string
  readonly classes: string
}

/** An element that stands for the message's `html` or `body`. */
export interface ContainerAttributes extends ElementAttributes {
  readonly dir: string
  readonly lang: string
}

/** The styles of a message, out of its style elements and attributes. */
export interface MessageStyles {
  /** For each start tag, in their order. */
  readonly elements: readonly (ElementAttributes & { readonly tag: string })[]
  /** To be put around the message, the outermost first. */
  readonly containers: readonly ContainerAttributes[]
  /** Rules for what the size of the screen and the reader decide. Their only selectors are classes of these elements. */
  readonly sheet: string
  /** Whether some element may be moved over what is around the message. */
  readonly movesElements: boolean
}

const maxSteps = 500_000
const maxStyleCharacters = 2 * 1024 * 1024

/**
 * Computes what each element of a message looks like: what holds on every screen for its style attribute, the rest in a style
 * sheet of which nothing is the sender's but checked declarations and media queries.
 * @throws StyleLimitError when that takes more than a bounded number of steps, or becomes very long
 */
export function computeMessageStyles(html: string, context: StyleContext): MessageStyles {
  const tree = parseElements(html)
  const budget = new StyleBudget(Math.min(maxSteps, 10_000 + 3 * html.length))
  const matchRules = openRuleMatcher(readStyleSheets(tree.styles, context), budget)
  const writer = openStyleSheetWriter(html)
  const computed = new Map<string, ElementAttributes>()
  let characters = 0
  let movesElements = false

  const attributesOf = (element: TreeElement): ElementAttributes => {
    const matched = matchRules(element)
    const hints = presentationalHints(element, tree.body, context)
    const style = element.attributes['style'] ?? ''
    const key = JSON.stringify([matched.map(({ rank }) => rank), hints, style])
    const known = computed.get(key)
    const attributes =
      known ?? format(cascade({ hints, matched, attribute: readStyleAttribute(style, context) }, budget))
    computed.set(key, attributes)
    characters += attributes.style.length + attributes.classes.length
    if (characters > maxStyleCharacters) throw new StyleLimitError('style attributes are too long')
    return attributes
  }

  const format = ({ inline, sheet }: ElementStyles): ElementAttributes => {
    movesElements ||= [...inline, ...sheet.flatMap(({ declarations }) => declarations)].some(movesElement)
    return { style: formatDeclarations(inline), classes: sheet.map(writer.addStyle).join(' ') }
  }

  const none: ElementAttributes = { style: '', classes: '' }
  const elements = tree.opened.map(element => ({
    tag: element.tag,
    ...(element === tree.html || element === tree.body ? none : attributesOf(element)),
  }))
  const containers = [tree.html, tree.body]
    .map(element => ({ ...asContainer(attributesOf(element)), ...languageOf(element) }))
    .filter(({ style, classes, dir, lang }) => style !== '' || classes !== '' || dir !== '' || lang !== '')
  return { elements, containers, sheet: writer.write(), movesElements }
}

/** Without a margin its background is also behind the margins of what it contains, as that of a page is. */
function asContainer({ style, classes }: ElementAttributes): ElementAttributes {
  return {
    style: /(?:^|;)margin:0(?:px)?(?: !important)?(?:;|$)/.test(style) ? `display:flow-root;${style}` : style,
    classes,
  }
}

function languageOf({ attributes: { dir = '', lang = '' } }: TreeElement) {
  return {
    dir: /^(?:ltr|rtl|auto)$/i.test(dir) ? dir.toLowerCase() : '',
    lang: /^[a-z\d-]{1,35}$/i.test(lang) ? lang : '',
  }
}
