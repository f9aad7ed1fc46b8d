import { lexer } from 'css-tree'

/** Which images may be loaded: none that are elsewhere, or those too. */
export type RemoteImages = 'block' | 'allow'

/** How the styles of one message are read. */
export interface StyleContext {
  readonly remote: RemoteImages
  /** Whether this is a value of that property; where it is not, a browser ignores it. */
  isValid(property: string, value: string): boolean
}

/** Each takes up to half a millisecond; newsletters have a few hundred. */
const maxValidations = 3000

/** Values that were checked: those of newsletters recur, in one and in the next. */
const validity = new Map<string, boolean>()
const maxRemembered = 5000

export function openStyleContext(remote: RemoteImages): StyleContext {
  let validationsLeft = maxValidations
  return {
    remote,
    isValid(property, value) {
      const key = `${property}:${value}`
      const known = validity.get(key)
      if (known !== undefined) return known
      // Beyond that it is taken as valid: it is safe without, and at worst hides another value that is.
      if (validationsLeft-- <= 0) return true
      const valid = lexer.matchProperty(property, value).error === null
      if (validity.size >= maxRemembered) validity.clear()
      validity.set(key, valid)
      return valid
    },
  }
}
