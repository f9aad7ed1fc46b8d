import { type Declaration as CssDeclaration, type CssNode, fork } from 'css-tree'
import { contentPolicy, policyOfProperty } from './css-properties.ts'
import { cleanValue } from './css-value.ts'
import type { StyleContext } from './style-context.ts'

/** A declaration of which nothing can harm, wherever it stands. */
export interface Declaration {
  readonly property: string
  readonly value: string
  readonly isImportant: boolean
}

/** What values are made anew, so they are read as text. */
export const parseOptions = {
  parseValue: false,
  parseAtrulePrelude: false,
  parseCustomProperty: false,
  positions: false,
} as const

// A parser's buffers stay as large as the largest text that it has read, and are cleared for each
// (https://github.com/csstree/csstree/issues/379): this one reads no style sheets.
const { parse } = fork({})

const maxCharacters = 8192
const maxDeclarations = 200

/** The declarations of a style attribute that are kept, in order. */
export function readStyleAttribute(source: string, context: StyleContext): readonly Declaration[] {
  if (source.length > maxCharacters) return []
  const list = parse(source, { ...parseOptions, context: 'declarationList' })
  return list.type === 'DeclarationList' ? cleanDeclarations(list.children.toArray(), context, 'element') : []
}

/** Those among the nodes of a block that are declarations and kept. Pseudo-elements may also have a text for `content`. */
export function cleanDeclarations(
  nodes: readonly CssNode[],
  context: StyleContext,
  of: 'element' | 'pseudo-element',
): readonly Declaration[] {
  return nodes
    .slice(0, maxDeclarations)
    .flatMap(node => (node.type === 'Declaration' ? (cleanDeclaration(node, context, of) ?? []) : []))
}

function cleanDeclaration(
  { property: name, value: source, important }: CssDeclaration,
  context: StyleContext,
  of: 'element' | 'pseudo-element',
): Declaration | null {
  const property = name.toLowerCase()
  const policy = property === 'content' && of === 'pseudo-element' ? contentPolicy : policyOfProperty(property)
  // "!ie" and the like hide a declaration from browsers.
  if (policy === null || source.type !== 'Raw' || typeof important === 'string') return null
  const value = cleanValue(property, source.value, policy, context)
  return value === null ? null : { property, value, isImportant: important }
}

/** As in a style attribute or a rule. */
export function formatDeclarations(declarations: readonly Declaration[]): string {
  return declarations
    .map(({ property, value, isImportant }) => `${property}:${value}${isImportant ? ' !important' : ''}`)
    .join(';')
}

/** Whether it moves its element, or letters, perhaps over the page around the message. */
export function movesElement({ property, value }: Declaration): boolean {
  return /^margin|^(?:letter|word)-spacing$/.test(property) && value.includes('-')
}
