import sanitize from 'sanitize-html'

/** HTML past this is not shown, in characters: the text or the message as it came still is. */
const maxCharacters = 2 * 1024 * 1024
const maxDepth = 128

const words = (list: string): string[] => list.split(' ')

/** Properties that place, size and colour; the values hold no address, so nothing is fetched. */
const styleProperties = words(
  'background-color border border-bottom border-collapse border-color border-left border-radius border-right border-spacing ' +
    'border-style border-top border-width clear color direction display float font font-family font-size font-style font-weight ' +
    'height letter-spacing line-height list-style-type margin margin-bottom margin-left margin-right margin-top max-height ' +
    'max-width min-height min-width overflow padding padding-bottom padding-left padding-right padding-top table-layout ' +
    'text-align text-decoration text-indent text-transform vertical-align white-space width word-break word-spacing word-wrap',
)
const plainValue = [/^(?!.*(?:url|expression|image|\\|@|\/\*)).{1,256}$/i]

const tags = words(
  'a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd del details dfn div dl dt em ' +
    'figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark nav ol p pre q rp rt ruby s samp section ' +
    'small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr',
)

const options: sanitize.IOptions = {
  allowedTags: tags,
  allowedAttributes: {
    '*': words('align bgcolor border color dir height lang style title valign width'),
    a: words('href name target rel'),
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
  nonTextTags: words('script style textarea option noscript title template iframe object svg math'),
  nestingLimit: maxDepth,
  transformTags: {
    a: (tagName, { href, ...attribs }) => ({
      tagName,
      attribs: {
        ...attribs,
        ...(href !== undefined && isLink(href) ? { href } : {}),
        rel: 'noopener noreferrer nofollow',
        target: '_blank',
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
 * fetches anything from elsewhere, unless `remote` allows images to. Null when it is too large to be looked at.
 */
export function sanitizeHtml(html: string, remote: 'block' | 'allow'): string | null {
  if (html.length > maxCharacters) return null
  const schemes = remote === 'allow' ? words('cid data http https') : words('cid data')
  return sanitize(html, { ...options, allowedSchemesByTag: { img: schemes } })
}
