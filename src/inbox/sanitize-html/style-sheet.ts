import { type Atrule, type CssNode, parse, type Rule, tokenize, tokenTypes } from 'css-tree'
import { cleanDeclarations, type Declaration, parseOptions } from './declarations.ts'
import type { StyleSource } from './element-tree.ts'
import { cleanMediaQueries } from './media-query.ts'
import { type CompiledSelector, compileSelector } from './selectors/selector.ts'
import type { StyleContext } from './style-context.ts'
import { StyleLimitError } from './style-limits.ts'

/** A rule of which everything is kept; with a selector for each place in the cascade. */
export interface StyleRule {
  readonly selectors: readonly CompiledSelector[]
  readonly declarations: readonly Declaration[]
  /** Lists of media queries of which each has to hold. */
  readonly media: readonly string[]
}

const maxCharacters = 256 * 1024
const maxNesting = 24
const maxRules = 4000
const maxSelectors = 8000
const maxMediaDepth = 3

/**
 * The rules of a message's style elements that are kept, in order: those of `@media` and those outside of any at-rule.
 * @throws StyleLimitError when they are longer, deeper or more than those of any real message
 */
export function readStyleSheets(sources: readonly StyleSource[], context: StyleContext): readonly StyleRule[] {
  if (sources.reduce((sum, { css }) => sum + css.length, 0) > maxCharacters)
    throw new StyleLimitError('too many characters')
  const rules: StyleRule[] = []
  for (const { css, media: mediaAttribute } of sources) {
    requireShallow(css)
    const media = cleanMediaQueries(mediaAttribute)
    const sheet = parse(css, parseOptions)
    if (media !== null && sheet.type === 'StyleSheet') collectRules(sheet.children.toArray(), join([], media), rules)
  }
  if (rules.reduce((sum, rule) => sum + rule.selectors.length, 0) > maxSelectors)
    throw new StyleLimitError('too many selectors')
  return rules

  function collectRules(nodes: readonly CssNode[], media: readonly string[], rules: StyleRule[]): void {
    for (const node of nodes) {
      if (node.type === 'Rule') collectRule(node, media, rules)
      if (node.type === 'Atrule' && node.name.toLowerCase() === 'media') collectMedia(node, media, rules)
    }
  }

  function collectMedia({ prelude, block }: Atrule, media: readonly string[], rules: StyleRule[]): void {
    if (media.length >= maxMediaDepth || !block) return
    const queries = prelude === null ? '' : prelude.type === 'Raw' ? cleanMediaQueries(prelude.value) : null
    if (queries !== null) collectRules(block.children.toArray(), join(media, queries), rules)
  }

  function collectRule({ prelude, block }: Rule, media: readonly string[], rules: StyleRule[]): void {
    if (rules.length >= maxRules) throw new StyleLimitError('too many rules')
    const selectors = prelude.type === 'SelectorList' ? compileSelectors(prelude.children.toArray()) : []
    // Those of pseudo-elements apart, as only they have a content.
    for (const of of ['element', 'pseudo-element'] as const) {
      const fitting = selectors.filter(({ state }) => state.includes('::') === (of === 'pseudo-element'))
      if (fitting.length === 0) continue
      const declarations = cleanDeclarations(block.children.toArray(), context, of)
      if (declarations.length > 0) rules.push({ selectors: fitting, declarations, media })
    }
  }
}

function join(media: readonly string[], queries: string): readonly string[] {
  return queries === '' || media.includes(queries) ? media : [...media, queries]
}

/** Empty where one of them is unknown to browsers: then they ignore the rule. */
function compileSelectors(nodes: readonly CssNode[]): readonly CompiledSelector[] {
  const selectors: CompiledSelector[] = []
  for (const node of nodes) {
    const selector = node.type === 'Selector' ? compileSelector(node) : 'unknown'
    if (selector === 'unknown') return []
    if (selector !== 'never') selectors.push(selector)
  }
  return selectors
}

/** The parser calls itself for each level. A closing bracket ends a level only where it fits, as in the parser. */
function requireShallow(css: string): void {
  const open: number[] = []
  tokenize(css, type => {
    const closing = closingOf(type)
    if (closing !== null && open.push(closing) > maxNesting) throw new StyleLimitError('too many levels')
    if (type === open.at(-1)) open.pop()
  })
}

function closingOf(type: number): number | null {
  switch (type) {
    case tokenTypes.Function:
    case tokenTypes.LeftParenthesis:
      return tokenTypes.RightParenthesis
    case tokenTypes.LeftSquareBracket:
      return tokenTypes.RightSquareBracket
    case tokenTypes.LeftCurlyBracket:
      return tokenTypes.RightCurlyBracket
    default:
      return null
  }
}
