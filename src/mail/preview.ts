const maxPreview = 200
const maxRead = 64 * 1024

const invisible = /(?:[\p{Cc}\p{Cf}\u115f\u1160\u3164]|\u034f|\u17b4|\u17b5)+/gu
const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  zwnj: '',
  zwj: '',
  shy: '',
  copy: '©',
  reg: '®',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  euro: '€',
}
const unseen = new Set(['head', 'style', 'script', 'title', 'template', 'noscript'])

/** The beginning of what a reader sees, on one line: at most 200 characters, from the text, else from the HTML. */
export function previewOf(text: string | null, html: string | null): string {
  return oneLine(text ?? '') || oneLine(visibleText((html ?? '').slice(0, maxRead), 4 * maxPreview))
}

function oneLine(text: string): string {
  const line = text.slice(0, 1500).replace(/\s+/g, ' ').replace(invisible, '').replace(/ {2,}/g, ' ').trim()
  return truncate(line, maxPreview)
}

/** At most `max` characters (UTF-16 units), well formed, never half a surrogate pair. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed()
  const isPairCut = (text.charCodeAt(max - 1) & 0xfc00) === 0xd800
  return text.slice(0, isPairCut ? max - 1 : max).toWellFormed()
}

/** The text between tags, in one pass, until there is enough of it: some more than `maxCharacters`. */
export function visibleText(html: string, maxCharacters: number): string {
  let text = ''
  let at = 0
  while (at < html.length && text.length < maxCharacters) {
    const open = html.indexOf('<', at)
    text += decode(html.slice(at, open < 0 ? html.length : open))
    if (open < 0) break
    at = afterTag(html, open)
    text += ' '
  }
  return text
}

function afterTag(source: string, open: number): number {
  if (source.startsWith('<!--', open)) return after(source, '-->', open + 4)
  const name = /^[a-z]+/i.exec(source.slice(open + 1, open + 12))?.[0].toLowerCase()
  const end = after(source, '>', open)
  if (name === undefined || !unseen.has(name)) return end
  const close = source.slice(end).search(closing(name))
  return close < 0 ? source.length : after(source, '>', end + close)
}

function closing(name: string): RegExp {
  return new RegExp(`</${name}`, 'i')
}

function after(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from)
  return at < 0 ? source.length : at + mark.length
}

function decode(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name) return named[String(name).toLowerCase()] ?? whole
    const code = decimal ? Number(decimal) : Number.parseInt(String(hex), 16)
    return code > 0 && code <= 0x10ffff && (code & 0x1ff800) !== 0xd800 ? String.fromCodePoint(code) : ''
  })
}
