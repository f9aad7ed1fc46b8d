import sanitize from 'sanitize-html'

/** Longer HTML is not shown, in characters: the text and the raw message still are. */
const maxCharacters = 2 * 1024 * 1024
/** Escaping, and closing of open tags, make it longer. */
const maxOutputCharacters = 2 * maxCharacters
const maxDepth = 128
/** For each, the sanitizer scans all that follows. */
const maxNoscripts = 100

const words = (list: string): string[] => list.split(' ')

/** Properties for layout, size and colour. Their values hold no URL, so nothing is fetched. */
const styleProperties = words(
  'background-color border border-bottom border-collapse border-color border-left border-radius border-right border-spacing ' +
    'border-style border-top border-width clear color direction display float font font-family font-size font-style font-weight ' +
    'height letter-spacing line-height list-style-type margin margin-bottom margin-left margin-right margin-top max-height ' +
    'max-width min-height min-width overflow padding padding-bottom padding-left padding-right padding-top table-layout ' +
    'text-align text-decoration text-indent text-transform vertical-align white-space width word-break word-spacing word-wrap',
)

// Words, numbers, colours and names of fonts: no other function, escape, comment or URL. No negative numbers, with which a
// part of the message could cover the page around it.
const valueParts = ['[\\w\\s.,%#!/\'"\u00a1-\uffff]', '-(?=[a-z])', '\\b(?:rgb|hsl)a?\\([\\w\\s.,%/]*\\)']
const plainValue = [new RegExp(`^(?:${valueParts.join('|')}){1,256}$`, 'i')]

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
    '*': words('align bgcolor border color dir height lang style title valign width'),
    a: words('href target rel'),
    col: ['span'],
    colgroup: ['span'],
    font: words('face size'),
    img: words('src alt'),
    li: ['value'],
    ol: words('start type'),
    table: words('cellpadding cellspacing'),
    td: words('colspan rowspan'),
    th: words('colspan rowspan scope'),
    time: ['datetime'],
  },
  allowedStyles: { '*': Object.fromEntries(styleProperties.map(property => [property, plainValue])) },
  allowedSchemes: words('http https mailto tel'),
  allowedSchemesByTag: { img: words('cid data') },
  allowProtocolRelative: false,
  disallowedTagsMode: 'discard',
  nonTextTags: words(
    'applet audio canvas datalist embed frameset head iframe math noembed noframes noscript object option plaintext portal script ' +
      'select style svg template textarea title video xmp',
  ),
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
 * The HTML of a message made safe to show: only tags, attributes and styles on an allow list. Nothing in it is fetched from
 * elsewhere, except images where `remote` allows them; inline images keep their `cid:` URL (RFC 2392), which is the
 * `content_id` of an attachment. Null when it is too large.
 */
export function sanitizeHtml(html: string, remote: 'block' | 'allow'): string | null {
  const schemes = remote === 'allow' ? words('cid data http https') : words('cid data')
  return sanitizeWith(html, { allowedSchemesByTag: { img: schemes } })
}

/**
 * As {@link sanitizeHtml}, for HTML that is sent on: inline images only where their content id is in `contentIds`, which
 * spaces separate.
 * Null when it is too large.
 */
export function sanitizeQuotedHtml(html: string, contentIds: string): string | null {
  const attached = new Set(words(contentIds).map(id => `cid:${id}`))
  return sanitizeWith(html, {
    exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !isQuotable(attribs['src'] ?? '', attached),
  })
}

function isQuotable(src: string, attached: ReadonlySet<string>): boolean {
  return isImage(src) && (!/^\s*cid:/i.test(src) || attached.has(src.trim()))
}

function sanitizeWith(html: string, more: sanitize.IOptions): string | null {
  if (html.length > maxCharacters || (html.match(/<noscript/gi)?.length ?? 0) > maxNoscripts) return null
  const output = sanitize(html.replaceAll('\0', ''), { ...options, ...more })
  return output.length > maxOutputCharacters ? null : output
}
