import sanitize from 'sanitize-html'

/** HTML past this is not shown, in characters: the text or the message as it came still is. */
const maxCharacters = 2 * 1024 * 1024
/** Escaping and closing what was left open lets it grow. */
const maxShownCharacters = 2 * maxCharacters
const maxDepth = 128
/** For each, the sanitizer looks through all that follows. */
const maxNoscripts = 100

const words = (list: string): string[] => list.split(' ')

/** Properties that place, size and colour; the values hold no address, so nothing is fetched. */
const styleProperties = words(
  'background-color border border-bottom border-collapse border-color border-left border-radius border-right border-spacing ' +
    'border-style border-top border-width clear color direction display float font font-family font-size font-style font-weight ' +
    'height letter-spacing line-height list-style-type margin margin-bottom margin-left margin-right margin-top max-height ' +
    'max-width min-height min-width overflow padding padding-bottom padding-left padding-right padding-top table-layout ' +
    'text-align text-decoration text-indent text-transform vertical-align white-space width word-break word-spacing word-wrap',
)

// Words, numbers, colours and names of fonts: no other function, escape, comment or address. Nothing below zero, which would
// place a part over what is around the message.
const valueParts = ['[\\w\\s.,%#!/\'"\u00a1-\uffff]', '-(?=[a-z])', '\\b(?:rgb|hsl)a?\\([\\w\\s.,%/]*\\)']
const plainValue = [new RegExp(`^(?:${valueParts.join('|')}){1,256}$`, 'i')]

const tags = words(
  'a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd del details dfn div dl dt em ' +
    'figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark nav ol p pre q rp rt ruby s samp section ' +
    'small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr',
)

/** A link opens elsewhere and tells nothing of where it was. */
const outside = { rel: 'noopener noreferrer nofollow', target: '_blank' }

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
        ...(href !== undefined && isLink(href) ? { href, ...outside } : {}),
      },
    }),
  },
  exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !isImage(attribs['src'] ?? ''),
}

// What is relative would be taken as relative to the page that shows the message: to us.

function isLink(href: string): boolean {
  return /^\s*(?:https?:\/\/|mailto:|tel:)/i.test(href)
}

function isImage(src: string): boolean {
  return /^\s*(?:https?:\/\/|cid:|data:image\/(?:gif|jpeg|png|webp)[;,])/i.test(src)
}

/**
 * The HTML of a message made safe to show: only what is on a list of harmless tags, attributes and styles. Nothing in it
 * fetches anything from elsewhere, unless `remote` allows images to; inline images keep their `cid:` address (RFC 2392),
 * which is the `content_id` of an attachment. Null when it is too large.
 */
export function sanitizeHtml(html: string, remote: 'block' | 'allow'): string | null {
  const schemes = remote === 'allow' ? words('cid data http https') : words('cid data')
  return sanitizeWith(html, { allowedSchemesByTag: { img: schemes } })
}

/**
 * As {@link sanitizeHtml}, to be sent on: of the inline images only those of the content ids, which have spaces between.
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
  const shown = sanitize(html.replaceAll('\0', ''), { ...options, ...more })
  return shown.length > maxShownCharacters ? null : shown
}
