import { ident, string, tokenize, tokenTypes, url } from 'css-tree'
import type { PropertyPolicy } from './css-properties.ts'
import type { StyleContext } from './style-context.ts'
import { words } from './words.ts'

const maxCharacters = 512
const maxNesting = 6
/** The lexer's work grows with both. */
const maxTokens = 64
const maxLayers = 5
const maxFonts = 24

const colorFunctions = words('rgb rgba hsl hsla hwb lab lch oklab oklch')
const sizeFunctions = new Set(words('calc min max clamp'))
const gradientFunctions = new Set(
  words('linear-gradient radial-gradient repeating-linear-gradient repeating-radial-gradient'),
)
const functionsOf = {
  colors: new Set(colorFunctions),
  sizes: new Set([...colorFunctions, ...sizeFunctions]),
  gradients: new Set([...colorFunctions, ...gradientFunctions]),
}

const keyword = /^-?[a-z_\u00a1-\uffff][\w\u00a1-\uffff-]*$/i
/** Word's old names for the colours of the system, which the lexer no longer knows. */
const renamedColors = new Map([
  ['window', 'canvas'],
  ['windowtext', 'canvastext'],
])

const quantity = /^([+-]?(?:\d+\.?\d*|\.\d+))(%|[a-z]+)?$/i

/**
 * The value of a property in a safe form, made anew from its tokens: without comments, escapes, and whatever else its policy
 * does not list, such as `url()`, `var()`, `attr()`, `env()`, `image-set()` and `expression()`. Null when it contains such a
 * thing, or is not a value of that property (which a browser would ignore).
 */
export function cleanValue(
  property: string,
  source: string,
  policy: PropertyPolicy,
  context: StyleContext,
): string | null {
  if (source.length > maxCharacters) return null
  const parts: string[] = []
  /** The functions and parentheses around the current token. */
  const open: string[] = []
  let isBad = false
  let layers = 1
  tokenize(source, (type, start, end) => {
    if (isBad) return
    if (type === tokenTypes.Comma && open.length === 0) layers++
    const part = cleanToken(type, source.slice(start, end), policy, context, open)
    if (part === null || open.length > maxNesting) isBad = true
    else if (part !== ' ' || parts.at(-1) !== ' ') parts.push(part)
  })
  const maxItems = policy.strings === 'names' ? maxFonts : maxLayers
  if (isBad || open.length > 0 || layers > maxItems || parts.length > 2 * maxTokens) return null
  const value = parts.join('').trim()
  return value !== '' && context.isValid(property, value) ? value : null
}

/** The token in a safe form; null when it may not stand there. */
function cleanToken(
  type: number,
  source: string,
  policy: PropertyPolicy,
  context: StyleContext,
  open: string[],
): string | null {
  const within = open.at(-1)
  if (within === 'url' && type !== tokenTypes.String && type !== tokenTypes.RightParenthesis)
    return type === tokenTypes.WhiteSpace ? '' : null
  switch (type) {
    case tokenTypes.WhiteSpace:
    case tokenTypes.Comment:
      return ' '
    case tokenTypes.Comma:
      return source
    case tokenTypes.Ident: {
      const name = ident.decode(source)
      return keyword.test(name) ? (renamedColors.get(name.toLowerCase()) ?? name) : null
    }
    case tokenTypes.Hash:
      return /^#[\da-f]{3,8}$/i.test(source) ? source : null
    case tokenTypes.Number:
    case tokenTypes.Percentage:
    case tokenTypes.Dimension:
      return isAllowedQuantity(source, policy, within) ? source : null
    case tokenTypes.String:
      return within === 'url' ? urlString(string.decode(source)) : textString(string.decode(source), policy)
    case tokenTypes.Url: {
      const address = policy.images && context.remote === 'allow' ? urlString(url.decode(source)) : null
      return address === null ? null : `url(${address})`
    }
    case tokenTypes.Function: {
      const name = ident.decode(source.slice(0, -1)).toLowerCase()
      const isRemoteImage = name === 'url' && policy.images === true && context.remote === 'allow'
      if (!isRemoteImage && !functionsOf[policy.functions ?? 'colors'].has(name)) return null
      open.push(name)
      return `${name}(`
    }
    case tokenTypes.LeftParenthesis:
      if (!isCalculation(within)) return null
      open.push('(')
      return source
    case tokenTypes.RightParenthesis:
      return open.pop() === undefined ? null : source
    case tokenTypes.Delim:
      return source === '/' || (isCalculation(within) && /^[+*-]$/.test(source)) ? source : null
    default:
      return null
  }
}

function isCalculation(within: string | undefined): boolean {
  return within === '(' || sizeFunctions.has(within ?? '')
}

function isAllowedQuantity(source: string, policy: PropertyPolicy, within: string | undefined): boolean {
  const [, number = '', unit = ''] = quantity.exec(source) ?? []
  if (number === '') return false
  const value = Number(number)
  // Within a function they are angles, parts of colours, or terms of a size, which is never below zero.
  if (within !== undefined) return true
  const isSmall = isSmallLength(Math.abs(value), unit.toLowerCase())
  if (policy.short && !isSmall) return false
  return value >= 0 || policy.negative === 'any' || (policy.negative === 'small' && isSmall)
}

function isSmallLength(value: number, unit: string): boolean {
  switch (unit) {
    case '':
      return value === 0
    case 'px':
    case 'pt':
      return value <= 50
    case 'em':
    case 'rem':
    case 'ex':
    case 'ch':
      return value <= 4
    default:
      return false
  }
}

/** The string with all but letters, digits and plain marks as escapes, so that it ends neither itself nor a style element. */
function textString(text: string, { strings }: PropertyPolicy): string | null {
  if (strings === undefined || /\p{Cc}/u.test(text)) return null
  if (strings === 'names') return /^[\w .,+\u00a1-\uffff-]*$/.test(text) ? `'${text}'` : null
  const escaped = text.replace(/[^\w .,\u00a1-\uffff-]/g, mark => `\\${mark.charCodeAt(0).toString(16)} `)
  return `'${escaped}'`
}

/** An absolute `http:` or `https:` URL as a string; null for any other. */
function urlString(text: string): string | null {
  const address = /^\s*https?:\/\//i.test(text) ? URL.parse(text.trim()) : null
  if (!address) return null
  const unsafe = /[^\w!$%&*+,./:;=?@~#[\]-]/g
  return `'${address.href.replace(unsafe, mark => `%${mark.charCodeAt(0).toString(16).padStart(2, '0')}`)}'`
}
