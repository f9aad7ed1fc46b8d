import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { newPlainTextWriter } from './plain-text-writer.ts'

export interface HtmlToTextOptions {
  /** The conversion stops soon after so many characters of text; absent: all of the HTML is converted. */
  readonly maxCharacters?: number
  /** Writes the target of a link after its text, as `our page <https://a.example>`; absent: only its text. */
  readonly withLinks?: boolean
}

/** Elements whose content nobody sees. */
const hiddenElements = new Set([
  'head',
  'iframe',
  'noembed',
  'noframes',
  'noscript',
  'script',
  'style',
  'template',
  'title',
])

const lines = 'address article aside body caption center dd details dir div dt fieldset figcaption figure footer form'
const moreLines = 'header html legend li main menu nav option section summary tr'
const paragraphs = 'blockquote dl h1 h2 h3 h4 h5 h6 hr ol p pre table ul'

/** The line ends around each element that is a block. */
const blocks: ReadonlyMap<string, 1 | 2> = new Map([
  ...`${lines} ${moreLines}`.split(' ').map(name => [name, 1] as const),
  ...paragraphs.split(' ').map(name => [name, 2] as const),
])

/** What begins each line inside an element. */
const prefixes: ReadonlyMap<string, string> = new Map([
  ['blockquote', '> '],
  ['ol', '    '],
  ['ul', '   '],
])

const rule = '-'.repeat(40)
const maxHiddenLevels = 16
/** How much the tokenizer is given at a time, in characters. */
const pieceLength = 16 * 1024

/**
 * What a reader of the HTML sees, as plain text with LF line ends: entities decoded (HTML Living Standard §13.5), blocks on
 * lines of their own, list items marked, quotations behind `> `; without images, head, scripts and styles. The cost is
 * linear in the length of the HTML, whatever it holds: it is tokenized, and no tree of elements is built.
 */
export function htmlToText(html: string, options: HtmlToTextOptions = {}): string {
  const steps = htmlToTextInSteps(html, options)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** The same in steps of a millisecond or two. */
export function* htmlToTextInSteps(html: string, options: HtmlToTextOptions = {}): Generator<void, string> {
  const { maxCharacters = Number.POSITIVE_INFINITY, withLinks = false } = options
  const converter = newConverter(html, withLinks)
  const tokenizer = new Tokenizer({ decodeEntities: true }, converter.callbacks)
  for (let at = 0; at < html.length && converter.length() < maxCharacters; at += pieceLength) {
    tokenizer.write(html.slice(at, at + pieceLength))
    yield
  }
  tokenizer.end()
  return converter.finish()
}

function newConverter(html: string, withLinks: boolean) {
  const writer = newPlainTextWriter()
  /** The hidden elements and the indented blocks that are open, outermost first. */
  const hidden: string[] = []
  const indented: { readonly name: string; items: number }[] = []
  let openPre = 0
  let link: { readonly href: string; text: string } | undefined
  /** The start tag that is being read. */
  let tag = ''
  let href = ''
  let isHref = false

  function addText(text: string): void {
    if (hidden.length > 0) return
    if (link && link.text.length <= link.href.length) link.text += text
    if (openPre > 0) writer.writePreformatted(text)
    else writer.write(text)
  }

  function endLink(): void {
    const ended = link
    link = undefined
    if (!ended || ended.text.trim() === ended.href) return
    writer.space()
    writer.write(`<${ended.href}>`)
  }

  function beginLink(): void {
    endLink()
    const target = href.trim().replace(/^mailto:/i, '')
    if (target !== '' && !target.startsWith('#')) link = { href: target, text: '' }
  }

  function isInList(): boolean {
    return indented.length > 0 && indented.at(-1)?.name !== 'blockquote'
  }

  function endBlock(name: string): void {
    const lineEnds = blocks.get(name)
    const isInnerList = (name === 'ol' || name === 'ul') && isInList()
    if (lineEnds !== undefined) writer.endBlock(isInnerList ? 1 : lineEnds)
  }

  function markItem(): void {
    const list = isInList() ? indented.at(-1) : undefined
    if (list) writer.markItem(list.name === 'ol' ? `${++list.items}. `.padStart(4) : ' * ')
  }

  function writeRule(): void {
    writer.write(rule)
    writer.endBlock(2)
  }

  function openElement(name: string): void {
    // The end tag of <head> may be left out.
    if (hidden.at(-1) === 'head' && blocks.has(name)) hidden.pop()
    if (hiddenElements.has(name) && hidden.length < maxHiddenLevels) hidden.push(name)
    if (hidden.length > 0) return
    endBlock(name)
    const prefix = prefixes.get(name)
    if (prefix !== undefined) {
      indented.push({ name, items: 0 })
      writer.indent(prefix)
    }
    if (name === 'a' && withLinks) beginLink()
    if (name === 'br') writer.newLine()
    if (name === 'hr') writeRule()
    if (name === 'li') markItem()
    if (name === 'pre') openPre++
    if (name === 'td' || name === 'th') writer.space()
  }

  function closeElement(name: string): void {
    if (hidden.length > 0) {
      const at = hidden.lastIndexOf(name)
      if (at >= 0) hidden.length = at
      return
    }
    if (name === 'a') endLink()
    if (name === 'pre' && openPre > 0) openPre--
    if (prefixes.has(name) && indented.at(-1)?.name === name) {
      indented.pop()
      writer.outdent()
    }
    endBlock(name)
  }

  const ignore = () => undefined
  const callbacks: TokenizerCallbacks = {
    ontext: (start, end) => addText(html.slice(start, end)),
    ontextentity: codePoint => addText(String.fromCodePoint(codePoint)),
    onopentagname(start, end) {
      tag = html.slice(start, end).toLowerCase()
      href = ''
    },
    onattribname(start, end) {
      isHref = withLinks && tag === 'a' && href === '' && html.slice(start, end).toLowerCase() === 'href'
    },
    onattribdata(start, end) {
      if (isHref) href += html.slice(start, end)
    },
    onattribentity(codePoint) {
      if (isHref) href += String.fromCodePoint(codePoint)
    },
    onattribend: ignore,
    onopentagend: () => openElement(tag),
    onselfclosingtag: () => openElement(tag),
    onclosetag: (start, end) => closeElement(html.slice(start, end).toLowerCase()),
    oncdata: ignore,
    oncomment: ignore,
    ondeclaration: ignore,
    onprocessinginstruction: ignore,
    onend: ignore,
  }
  return {
    callbacks,
    length: () => writer.length,
    finish() {
      endLink()
      return writer.toString()
    },
  }
}
