/** What JSON costs to read. */
export interface JsonComplexity {
  readonly depth: number
  /** Texts, lists, objects and what is between commas, roughly. */
  readonly values: number
}

const quote = 0x22
const comma = 0x2c
const openList = 0x5b
const backslash = 0x5c
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/**
 * Looks over bytes that claim to be JSON, without reading them: the parser takes 700 MB and seconds for 16 MiB of
 * brackets. It ends as soon as either limit is passed, and says nothing of whether it is JSON.
 */
export function measureJson(bytes: Uint8Array, most: JsonComplexity): JsonComplexity {
  let depth = 0
  let deepest = 0
  let values = 0
  let isInText = false
  for (let i = 0; i < bytes.length && deepest <= most.depth && values <= most.values; i++) {
    const byte = bytes[i]
    if (isInText) {
      if (byte === backslash) i++
      else if (byte === quote) isInText = false
      continue
    }
    if (byte === quote) isInText = true
    if (byte === quote || byte === comma) values++
    else if (byte === openList || byte === openObject) {
      values++
      depth++
      if (depth > deepest) deepest = depth
    } else if (byte === closeList || byte === closeObject) depth--
  }
  return { depth: deepest, values }
}
