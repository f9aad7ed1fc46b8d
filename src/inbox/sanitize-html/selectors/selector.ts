import { type CssNode, ident, type PseudoClassSelector, type Selector } from 'css-tree'
import type { TreeElement } from '../element-tree.ts'
import type { StyleBudget } from '../style-limits.ts'
import { words } from '../words.ts'
import { attributeTest } from './attribute-selector.ts'
import { positionTest } from './position-selector.ts'

/** Whether an element is what a simple selector says. */
type ElementTest = (element: TreeElement, budget: StyleBudget) => boolean

type Combinator = ' ' | '>' | '+' | '~'

/** Simple selectors for one element, and how it is related to that of the compound to the left. */
interface Compound {
  readonly tests: readonly ElementTest[]
  readonly combinator: Combinator | null
}

export interface CompiledSelector {
  /** From right to left. */
  readonly compounds: readonly Compound[]
  /** The counts of ids, classes and tags in one number. */
  readonly specificity: number
  /** What does not follow from the message: an action of the reader such as `:hover`; and a pseudo-element. */
  readonly state: string
  /** Which elements can match at all. */
  readonly key: SelectorKey
}

export type SelectorKey = { readonly kind: 'id' | 'class' | 'tag'; readonly name: string } | { readonly kind: 'any' }

/** A selector that browsers do not know makes the whole rule void; one that never matches here only itself. */
type Void = 'unknown' | 'never'

type SimpleSelector =
  | { readonly kind: 'test'; readonly test: ElementTest; readonly specificity: number; readonly key?: SelectorKey }
  | { readonly kind: 'state'; readonly text: string; readonly specificity: number }

const idWeight = 2 ** 20
const classWeight = 2 ** 10
const tagWeight = 1
const maxSimpleSelectors = 32

/** A selector in a form to match elements with. */
export function compileSelector(selector: Selector): CompiledSelector | Void {
  const nodes = selector.children.toArray()
  if (nodes.length > maxSimpleSelectors) return 'never'
  const compounds: Compound[] = []
  let tests: ElementTest[] = []
  let combinator: Combinator | null = null
  let key: SelectorKey = { kind: 'any' }
  let state = ''
  let specificity = 0
  for (const node of nodes) {
    if (node.type === 'Combinator') {
      if (!isCombinator(node.name) || state !== '') return 'never'
      compounds.push({ tests, combinator })
      combinator = node.name
      tests = []
      key = { kind: 'any' }
      continue
    }
    const simple = compileSimple(node)
    if (typeof simple === 'string') return simple
    specificity += simple.specificity
    if (simple.kind === 'state') state += simple.text
    else tests.push(simple.test)
    if (simple.kind === 'test' && simple.key) key = narrowerKey(key, simple.key)
  }
  compounds.push({ tests, combinator })
  return { compounds: compounds.reverse(), specificity, state, key }
}

export function matchesSelector({ compounds }: CompiledSelector, element: TreeElement, budget: StyleBudget): boolean {
  return matchesFrom(compounds, 0, element, budget)
}

function matchesFrom(compounds: readonly Compound[], at: number, element: TreeElement, budget: StyleBudget): boolean {
  budget.spend()
  const compound = compounds[at]
  if (!compound?.tests.every(test => test(element, budget))) return false
  const rest = (other: TreeElement | null) => other !== null && matchesFrom(compounds, at + 1, other, budget)
  switch (compound.combinator) {
    case null:
      return true
    case '>':
      return rest(element.parent)
    case '+':
      return rest(element.previous)
    case ' ':
      return some(element.parent, other => other.parent, rest)
    case '~':
      return some(element.previous, other => other.previous, rest)
  }
}

function some(
  first: TreeElement | null,
  next: (element: TreeElement) => TreeElement | null,
  test: (element: TreeElement) => boolean,
): boolean {
  for (let element = first; element !== null; element = next(element)) if (test(element)) return true
  return false
}

function isCombinator(name: string): name is Combinator {
  return name === ' ' || name === '>' || name === '+' || name === '~'
}

function narrowerKey(a: SelectorKey, b: SelectorKey): SelectorKey {
  const order = ['any', 'tag', 'class', 'id']
  return order.indexOf(b.kind) > order.indexOf(a.kind) ? b : a
}

function compileSimple(node: CssNode): SimpleSelector | Void {
  switch (node.type) {
    case 'TypeSelector':
      return node.name.includes('|') ? 'never' : tagSelector(ident.decode(node.name).toLowerCase())
    case 'ClassSelector': {
      const name = ident.decode(node.name)
      const test = (element: TreeElement) => element.classes.has(name)
      return { kind: 'test', test, specificity: classWeight, key: { kind: 'class', name } }
    }
    case 'IdSelector': {
      const name = ident.decode(node.name)
      const test = (element: TreeElement) => element.attributes['id'] === name
      return { kind: 'test', test, specificity: idWeight, key: { kind: 'id', name } }
    }
    case 'AttributeSelector': {
      const test = attributeTest(node)
      return test === null ? 'never' : { kind: 'test', test, specificity: classWeight }
    }
    case 'PseudoClassSelector':
      return compilePseudoClass(node)
    case 'PseudoElementSelector':
      return pseudoElement(node.name.toLowerCase())
    default:
      return 'unknown'
  }
}

function tagSelector(name: string): SimpleSelector {
  if (name === '*') return { kind: 'test', test: () => true, specificity: 0 }
  return { kind: 'test', test: ({ tag }) => tag === name, specificity: tagWeight, key: { kind: 'tag', name } }
}

const shownPseudoElements = new Set(words('before after first-letter first-line marker'))
const readerActions = new Set(words('hover active focus focus-visible focus-within'))
/** Those of a visited link would tell where the reader was; form fields, media and the like are not kept. */
const neverMatching = new Set(
  words(
    'visited target checked disabled enabled indeterminate required optional valid invalid in-range out-of-range ' +
      'read-only read-write placeholder-shown default autofill empty has dir lang scope fullscreen modal open host defined',
  ),
)

function pseudoElement(name: string): SimpleSelector | Void {
  if (shownPseudoElements.has(name)) return { kind: 'state', text: `::${name}`, specificity: tagWeight }
  // Browsers take any that begins so as known.
  return name.startsWith('-webkit-') || name === 'selection' || name === 'placeholder' ? 'never' : 'unknown'
}

function compilePseudoClass(node: PseudoClassSelector): SimpleSelector | Void {
  const name = node.name.toLowerCase()
  const [argument] = node.children?.toArray() ?? []
  const position = positionTest(name, argument)
  if (position !== null) return { kind: 'test', test: position, specificity: classWeight }
  if (name === 'root') return { kind: 'test', test: ({ parent }) => parent === null, specificity: classWeight }
  if (name === 'link' || name === 'any-link')
    return {
      kind: 'test',
      test: ({ tag, attributes }) => tag === 'a' && attributes['href'] !== undefined,
      specificity: classWeight,
    }
  // With no specificity, as all in the resulting style sheet have the same and their order decides.
  if (readerActions.has(name)) return { kind: 'state', text: `:where(:${name})`, specificity: classWeight }
  if (name === 'before' || name === 'after' || name === 'first-line' || name === 'first-letter')
    return pseudoElement(name)
  if (name === 'is' || name === 'not' || name === 'where') return compileLogical(name, argument)
  return neverMatching.has(name) ? 'never' : 'unknown'
}

function compileLogical(name: 'is' | 'not' | 'where', argument: CssNode | undefined): SimpleSelector | Void {
  if (argument?.type !== 'SelectorList') return 'unknown'
  const selectors: CompiledSelector[] = []
  for (const node of argument.children.toArray()) {
    const selector = node.type === 'Selector' ? compileSelector(node) : 'unknown'
    if (selector === 'unknown' || (typeof selector !== 'string' && selector.state !== '')) return 'never'
    if (selector !== 'never') selectors.push(selector)
  }
  const isAny: ElementTest = (element, budget) => selectors.some(selector => matchesSelector(selector, element, budget))
  return {
    kind: 'test',
    test: name === 'not' ? (element, budget) => !isAny(element, budget) : isAny,
    specificity: name === 'where' ? 0 : Math.max(0, ...selectors.map(selector => selector.specificity)),
  }
}
