import { tokenize, tokenTypes } from 'css-tree'
import { words } from './words.ts'

const maxCharacters = 512

const prefixed = (prefixes: string, features: string) =>
  words(features).flatMap(feature => ['', ...words(prefixes)].map(prefix => `${prefix}${feature}`))

/** Types, features and values that depend on the size and kind of the screen, and on what the reader prefers. */
const allowedWords = new Set([
  ...words('all screen print and or not only'),
  ...prefixed('min- max-', 'width height device-width device-height resolution aspect-ratio device-aspect-ratio'),
  ...words('-webkit-device-pixel-ratio -webkit-min-device-pixel-ratio -webkit-max-device-pixel-ratio'),
  ...words('orientation portrait landscape hover any-hover pointer any-pointer none fine coarse'),
  ...words('prefers-color-scheme light dark prefers-reduced-motion reduce no-preference prefers-contrast more less'),
])

const quantity = /^\d*\.?\d+[a-z]*$/

/**
 * A list of media queries with what is not known left out: '' when it always holds on a screen, null when it never does.
 * Made anew from its tokens.
 */
export function cleanMediaQueries(source: string): string | null {
  if (source.length > maxCharacters) return null
  if (source.trim() === '') return ''
  const queries: (string | null)[] = []
  let query: string | null = ''
  let depth = 0
  tokenize(source, (type, start, end) => {
    if (type === tokenTypes.Comma && depth === 0) {
      queries.push(query)
      query = ''
      return
    }
    if (type === tokenTypes.LeftParenthesis) depth++
    if (type === tokenTypes.RightParenthesis && --depth < 0) query = null
    const text = cleanToken(type, source.slice(start, end).toLowerCase())
    query = query === null || text === null ? null : query + text
  })
  queries.push(depth === 0 ? query : null)
  const known = queries.flatMap(text => text?.trim() || [])
  if (known.some(text => /^(?:only )?(?:all|screen)$/.test(text))) return ''
  return known.length === 0 ? null : known.join(',')
}

function cleanToken(type: number, source: string): string | null {
  switch (type) {
    case tokenTypes.WhiteSpace:
    case tokenTypes.Comment:
      return ' '
    case tokenTypes.Ident:
      return allowedWords.has(source) ? source : null
    case tokenTypes.Number:
    case tokenTypes.Dimension:
      return quantity.test(source) ? source : null
    case tokenTypes.LeftParenthesis:
    case tokenTypes.RightParenthesis:
    case tokenTypes.Colon:
      return source
    case tokenTypes.Delim:
      // No "<" or ">", so that nothing in a style element can look like a tag.
      return source === '/' ? source : null
    default:
      return null
  }
}
