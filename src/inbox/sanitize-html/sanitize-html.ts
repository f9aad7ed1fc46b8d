import sanitize from 'sanitize-html'
import { formatDeclarations, movesElement, readStyleAttribute } from './declarations.ts'
import { unshownTags } from './element-tree.ts'
import { type ContainerAttributes, computeMessageStyles, type MessageStyles } from './message-styles.ts'
import { openStyleContext, type RemoteImages } from './style-context.ts'
import { words } from './words.ts'

/** Longer HTML is not shown, in characters: the text and the raw message still are. */
const maxCharacters = 2 * 1024 * 1024
/** Escaping, and closing of open tags, make it longer. */
const maxOutputCharacters = 2 * maxCharacters
/** What is quoted is sent, perhaps more than once; style attributes in each cell of a long newsletter are not worth that. */
const maxStyledQuotation = 256 * 1024
const maxDepth = 128
/** For each, the sanitizer scans all that follows. */
const maxNoscripts = 100

/** Different ones; real messages have a few hundred. */
const maxStyleAttributes = 10_000

const tags = words(
  'a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd del details dfn div dl dt em ' +
    'figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark nav ol p pre q rp rt ruby s samp section ' +
    'small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr',
)

/** A link opens in a new tab and sends no referrer. */
const externalLink = { rel: 'noopener noreferrer nofollow', target: '_blank' }

const options: sanitize.IOptions = {
  allowedTags: tags,
  allowedAttributes: {
    // `class` and `style` are ours: openTagHandler sets or removes them.
    '*': words('align bgcolor border class color dir height lang style title valign width'),
    a: words('href target rel'),
    br: ['clear'],
    col: ['span'],
    colgroup: ['span'],
    font: words('face size'),
    hr: words('noshade size'),
    img: words('src alt hspace vspace'),
    li: words('type value'),
    ol: words('start reversed type'),
    table: words('cellpadding cellspacing frame rules role'),
    td: words('colspan rowspan nowrap'),
    th: words('colspan rowspan nowrap scope'),
    time: ['datetime'],
    ul: ['type'],
  },
  // All of them were made by us.
  parseStyleAttributes: false,
  allowedSchemes: words('http https mailto tel'),
  allowedSchemesByTag: { img: words('cid data') },
  allowProtocolRelative: false,
  disallowedTagsMode: 'discard',
  nonTextTags: [...unshownTags, 'head', 'style'],
  nestingLimit: maxDepth,
  transformTags: {
    a: (tagName, { href, ...attribs }) => ({
      tagName,
      attribs: {
        ...attribs,
        ...(href !== undefined && isLink(href) ? { href, ...externalLink } : {}),
      },
    }),
  },
  exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !isImage(attribs['src'] ?? ''),
}

// A relative URL would be resolved against the page that shows the message, which is ours.

function isLink(href: string): boolean {
  return /^\s*(?:https?:\/\/|mailto:|tel:)/i.test(href)
}

function isImage(src: string): boolean {
  return /^\s*(?:https?:\/\/|cid:|data:image\/(?:gif|jpeg|png|webp)[;,])/i.test(src)
}

/**
 * The HTML of a message made safe to show: only tags, attributes and styles on an allow list. What its style sheets say is in
 * style attributes; what depends on the screen, in a style element at the beginning whose rules reach only this message.
 * Nothing in it is fetched from elsewhere, except images where `remote` allows them; inline images keep their `cid:` URL
 * (RFC 2392), which is the `content_id` of an attachment. Null when it is too large.
 */
export function sanitizeHtml(html: string, remote: RemoteImages): string | null {
  const schemes = remote === 'allow' ? words('cid data http https') : words('cid data')
  return sanitizeWith(
    html,
    { remote, styleElement: true, maxStyledCharacters: maxOutputCharacters },
    { allowedSchemesByTag: { img: schemes } },
  )
}

/**
 * As {@link sanitizeHtml}, for HTML that is sent on: without a style element, and inline images only where their content id is
 * in `contentIds`, which spaces separate.
 * Null when it is too large.
 */
export function sanitizeQuotedHtml(html: string, contentIds: string): string | null {
  const attached = new Set(words(contentIds).map(id => `cid:${id}`))
  return sanitizeWith(
    html,
    { remote: 'block', styleElement: false, maxStyledCharacters: maxStyledQuotation },
    { exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !isQuotable(attribs['src'] ?? '', attached) },
  )
}

function isQuotable(src: string, attached: ReadonlySet<string>): boolean {
  return isImage(src) && (!/^\s*cid:/i.test(src) || attached.has(src.trim()))
}

interface StyleOptions {
  readonly remote: RemoteImages
  /** Whether rules under a condition are kept, in a style element. */
  readonly styleElement: boolean
  /** When it becomes longer, it is made without its style sheets. */
  readonly maxStyledCharacters: number
}

function sanitizeWith(html: string, how: StyleOptions, more: sanitize.IOptions): string | null {
  if (html.length > maxCharacters || (html.match(/<noscript/gi)?.length ?? 0) > maxNoscripts) return null
  const source = html.replaceAll('\0', '')
  const styles = /<(?:style|body|html)\b/i.test(source) ? messageStylesOrNull(source, how.remote) : null
  const styled = styles && renderStyled(source, styles, how, more)
  if (styled !== null && styled.length <= how.maxStyledCharacters) return styled
  const plain = renderPlain(source, how.remote, more)
  return plain.length > maxOutputCharacters ? null : plain
}

function messageStylesOrNull(source: string, remote: RemoteImages): MessageStyles | null {
  try {
    return computeMessageStyles(source, openStyleContext(remote))
  } catch {
    // Beyond the limits, or beyond what the CSS parser can read: the message is shown without its style sheet.
    return null
  }
}

/** Null when the two parsers' start tags differ. */
function renderStyled(
  source: string,
  { elements, containers, sheet, movesElements }: MessageStyles,
  { styleElement }: StyleOptions,
  more: sanitize.IOptions,
): string | null {
  let at = 0
  let agree = true
  const onOpenTag = (tag: string, attribs: sanitize.Attributes) => {
    const element = elements[at++]
    agree &&= element?.tag === tag
    setAttribute(attribs, 'style', element?.style ?? '')
    setAttribute(attribs, 'class', styleElement ? (element?.classes ?? '') : '')
  }
  const message = sanitize(source, { ...options, ...more, onOpenTag })
  if (!agree) return null
  const inContainers = containers.reduceRight((inner, container) => contain(inner, container, styleElement), message)
  const contained = movesElements ? clip(inContainers) : inContainers
  return styleElement && sheet !== '' ? `<style>${sheet}</style>${contained}` : contained
}

function contain(html: string, { style, classes, dir, lang }: ContainerAttributes, withClasses: boolean): string {
  const attributes = Object.entries({ style, class: withClasses ? classes : '', dir, lang })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => ` ${name}="${value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`)
  return attributes.length === 0 ? html : `<div${attributes.join('')}>${html}</div>`
}

/** Nothing in it shows outside of it. */
function clip(html: string): string {
  return `<div style="overflow:auto">${html}</div>`
}

/** Leaves of each style attribute what is kept, and no class. */
function renderPlain(source: string, remote: RemoteImages, more: sanitize.IOptions): string {
  const context = openStyleContext(remote)
  const known = new Map<string, string>()
  let movesElements = false
  const clean = (style: string): string => {
    const declarations = readStyleAttribute(style, context)
    movesElements ||= declarations.some(movesElement)
    return formatDeclarations(declarations)
  }
  const onOpenTag = (_: string, attribs: sanitize.Attributes) => {
    const style = attribs['style'] ?? ''
    const kept = known.get(style) ?? (known.size < maxStyleAttributes ? clean(style) : '')
    known.set(style, kept)
    setAttribute(attribs, 'style', kept)
    setAttribute(attribs, 'class', '')
  }
  const message = sanitize(source, { ...options, ...more, onOpenTag })
  return movesElements ? clip(message) : message
}

function setAttribute(attribs: sanitize.Attributes, name: string, value: string): void {
  if (value === '') delete attribs[name]
  else attribs[name] = value
}
