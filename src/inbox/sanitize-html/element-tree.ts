import { Parser } from 'htmlparser2'
import { StyleLimitError } from './style-limits.ts'
import { words } from './words.ts'

/** An element as selectors see it. */
export interface TreeElement {
  readonly tag: string
  /** Names in lower case; of those that occur twice the first. */
  readonly attributes: Readonly<Record<string, string>>
  readonly classes: ReadonlySet<string>
  readonly parent: TreeElement | null
  /** The element before it with the same parent. */
  readonly previous: TreeElement | null
  next: TreeElement | null
}

/** A style element's text, and the value of its `media` attribute. */
export interface StyleSource {
  readonly css: string
  readonly media: string
}

export interface ElementTree {
  readonly html: TreeElement
  readonly body: TreeElement
  /** The element of each start tag, in their order: `html` or `body` again where such a tag is repeated. */
  readonly opened: readonly TreeElement[]
  readonly styles: readonly StyleSource[]
}

/** Elements of which nothing is shown, nor are styles in them applied. */
export const unshownTags = words(
  'applet audio canvas datalist embed frameset iframe math noembed noframes noscript object option plaintext portal script ' +
    'select svg template textarea title video xmp',
)
const unshown = new Set(unshownTags)
const metadata = new Set(words('base link meta noscript script style template title'))
const maxElements = 30_000
/** Of one element; further ones are not looked at. */
const maxClasses = 100

interface OpenElement extends TreeElement {
  lastChild: OpenElement | null
  attributes: Readonly<Record<string, string>>
  classes: ReadonlySet<string>
}

/**
 * The elements of a document, in the tree that a browser makes of it where it is ordinary: `html`, `body` and `tbody` are there
 * also when their tags are not.
 * @throws StyleLimitError when there are very many
 */
export function parseElements(html: string): ElementTree {
  const root = createElement('html', {}, null)
  const head = appendElement(root, 'head', {})
  const body = appendElement(root, 'body', {})
  const opened: TreeElement[] = []
  const styles: StyleSource[] = []
  const stack: OpenElement[] = []
  let unshownDepth = 0
  let css: string[] | null = null

  const parentFor = (tag: string): OpenElement => {
    const parent = stack.at(-1) ?? root
    if (parent === root) return metadata.has(tag) && body.lastChild === null ? head : body
    if (parent === head) return metadata.has(tag) ? head : body
    if (tag !== 'tr' || parent.tag !== 'table') return parent
    return parent.lastChild?.tag === 'tbody' && parent.lastChild.attributes === implied
      ? parent.lastChild
      : appendElement(parent, 'tbody', implied)
  }
  const enter = (tag: string, attributes: Record<string, string>): OpenElement => {
    const singleton = tag === 'html' ? root : tag === 'body' ? body : tag === 'head' ? head : null
    if (singleton === null) return appendElement(parentFor(tag), tag, attributes)
    setAttributes(singleton, { ...attributes, ...singleton.attributes })
    return singleton
  }

  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        if (opened.length >= maxElements) throw new StyleLimitError('too many elements')
        const element = enter(tag, attributes)
        opened.push(element)
        stack.push(element)
        if (unshown.has(tag)) unshownDepth++
        if (tag === 'style' && unshownDepth === 0 && isCss(element.attributes['type'])) css = []
      },
      ontext(text) {
        css?.push(text)
      },
      onclosetag() {
        const element = stack.pop()
        if (element && unshown.has(element.tag)) unshownDepth--
        if (element?.tag !== 'style' || css === null) return
        styles.push({ css: css.join(''), media: element.attributes['media'] ?? '' })
        css = null
      },
    },
    { decodeEntities: true },
  )
  parser.write(html)
  parser.end()
  return { html: root, body, opened, styles }
}

/** The attributes of an element that has no tag. */
const implied: Readonly<Record<string, string>> = {}

function isCss(type: string | undefined): boolean {
  return type === undefined || /^\s*(?:text\/css\s*(?:;.*)?)?$/i.test(type)
}

function createElement(tag: string, attributes: Readonly<Record<string, string>>, parent: OpenElement | null) {
  const previous = parent?.lastChild ?? null
  const element: OpenElement = { tag, attributes, classes: new Set(), parent, previous, next: null, lastChild: null }
  setAttributes(element, attributes)
  return element
}

function appendElement(parent: OpenElement, tag: string, attributes: Readonly<Record<string, string>>): OpenElement {
  const element = createElement(tag, attributes, parent)
  if (parent.lastChild) parent.lastChild.next = element
  parent.lastChild = element
  return element
}

function setAttributes(element: OpenElement, attributes: Readonly<Record<string, string>>): void {
  element.attributes = attributes
  const names = attributes['class']?.split(/[\t\n\f\r ]+/, maxClasses) ?? []
  element.classes = new Set(names.filter(name => name !== ''))
}
