import { strings } from '../strings.ts'

const mostCharacters = 998

interface SafeTextProps {
  /** What somebody else wrote: a name, a subject, a reply of a server. */
  readonly text: string | null | undefined
  /** What stands there when there is no text. */
  readonly none?: string
  readonly className?: string
}

/**
 * Text that others wrote, drawn so that it cannot disguise itself: its direction changes nothing around it, control
 * characters and those that turn the direction are shown as signs, and after 998 characters it is cut (the title has more).
 */
export function SafeText({ text, none = strings.noText, className }: SafeTextProps) {
  if (!text) return <span className="text-faint">{none}</span>
  const shown = showControls(text)
  const isCut = shown.length > mostCharacters
  return (
    <bdi className={className} title={isCut ? shown.slice(0, mostCharacters * 4) : undefined}>
      {isCut ? `${shown.slice(0, mostCharacters)}…` : shown}
    </bdi>
  )
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g
const invisible = /[\u0080-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/** C0 controls become their pictures (U+2400…), other invisible characters their code: `[U+202E]`. Tab and newline stay. */
export function showControls(text: string): string {
  return text
    .replace(controls, character =>
      character === '\u007f' ? '\u2421' : String.fromCharCode(0x2400 + character.charCodeAt(0)),
    )
    .replace(invisible, character => `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`)
}
