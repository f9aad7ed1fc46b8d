import { createHash } from 'node:crypto'
import type { SheetStyle } from './cascade.ts'
import { formatDeclarations } from './declarations.ts'
import { StyleLimitError } from './style-limits.ts'

/** Collects the rules of a message's new style sheet. */
export interface StyleSheetWriter {
  /** The class that gives an element this style. */
  addStyle(style: SheetStyle): string
  /** @throws StyleLimitError when it is very long */
  write(): string
}

const maxCharacters = 256 * 1024

/**
 * Every selector of the sheet is a class, so that all have the same specificity, and the order of the rules decides as it does
 * in the message's own style sheets. The classes are of this message alone: the rules reach no element around it, and nobody
 * else's rules for common class names reach the message.
 */
export function openStyleSheetWriter(html: string): StyleSheetWriter {
  const prefix = `m${createHash('sha256').update(html).digest('hex').slice(0, 10)}`
  const styles = new Map<string, SheetStyle & { readonly name: string }>()
  return {
    addStyle(style) {
      const key = `${style.rank} ${style.media} ${formatDeclarations(style.declarations)}`
      const known = styles.get(key)
      if (known) return known.name
      const name = `${prefix}-${styles.size + 1}`
      styles.set(key, { ...style, name })
      return name
    },
    write() {
      const inOrder = [...styles.values()].sort(
        (a, b) => Number(a.isImportant) - Number(b.isImportant) || a.rank - b.rank,
      )
      const sheet = joinByMedia(
        inOrder.map(({ name, media, state, declarations }) => ({
          media,
          text: `.${name}${state}{${formatDeclarations(
            declarations.map(declaration => ({ ...declaration, isImportant: true })),
          )}}`,
        })),
      )
      if (sheet.length > maxCharacters) throw new StyleLimitError('style sheet is too long')
      return sheet
    },
  }
}

/** The rules in order, neighbours with the same media queries together. */
function joinByMedia(rules: readonly { readonly media: readonly string[]; readonly text: string }[]): string {
  const groups: { readonly opening: string; readonly closing: string; readonly texts: string[] }[] = []
  for (const { media, text } of rules) {
    const opening = media.map(queries => `@media ${queries}{`).join('')
    if (groups.at(-1)?.opening !== opening) groups.push({ opening, closing: '}'.repeat(media.length), texts: [] })
    groups.at(-1)?.texts.push(text)
  }
  return groups.map(({ opening, closing, texts }) => `${opening}${texts.join('\n')}${closing}`).join('\n')
}
