import { htmlToText } from './html-to-text/html-to-text.ts'
import { oneLine, truncate } from './text.ts'

const maxPreview = 200
/** How much is looked at, in characters: of the HTML, and of the text. */
const maxHtml = 64 * 1024
const maxText = 1500

/** Control and format characters, and fillers that are shown as nothing. */
const invisible = /(?:[\p{Cc}\p{Cf}\u115f\u1160\u3164]|\u034f|\u17b4|\u17b5)+/gu

const printableAscii = /^[ -~]*$/

/** The beginning of what a reader sees, on one line: at most 200 characters, of the text part, else of the HTML part. */
export function previewOf(text: string | null, html: string | null): string {
  return begin(text ?? '') || begin(htmlToText((html ?? '').slice(0, maxHtml), { maxCharacters: maxText }))
}

function begin(text: string): string {
  const beginning = text
    .slice(0, 2 * maxPreview)
    .replace(/\s+/g, ' ')
    .trim()
  // Whatever comes after it, it is not seen.
  if (beginning.length > maxPreview && printableAscii.test(beginning)) return beginning.slice(0, maxPreview)
  const line = text.slice(0, maxText).replace(/\s+/g, ' ')
  return truncate(printableAscii.test(line) ? line.trim() : oneLine(line.replace(invisible, '')), maxPreview)
}
