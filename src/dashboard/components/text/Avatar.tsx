import { classes } from '../classes.ts'

const grounds = [
  'bg-[#e5e7ff] text-[#3730a3] dark:bg-[#26255a] dark:text-[#c3c2ff]',
  'bg-[#dff3e7] text-[#14532d] dark:bg-[#15361f] dark:text-[#a5e8bd]',
  'bg-[#fdeccd] text-[#713f05] dark:bg-[#3d2a0a] dark:text-[#f3cf8b]',
  'bg-[#fbe1e6] text-[#881337] dark:bg-[#471522] dark:text-[#ffb3c1]',
  'bg-[#dcf0f7] text-[#0b4a5e] dark:bg-[#0f3542] dark:text-[#9cdcf0]',
]

interface AvatarProps {
  /** Of the person, organization or brand; it only decorates: the name stands beside it. */
  readonly name: string
  readonly shape?: 'person' | 'organization'
  readonly className?: string
}

/** The initials of a name on a colour that the name decides. They are drawn by the style: no text of the page. */
export function Avatar({ name, shape = 'person', className = 'size-6' }: AvatarProps) {
  const sum = [...name].reduce((total, character) => total + (character.codePointAt(0) ?? 0), 0)
  return (
    <span
      aria-hidden="true"
      data-initials={initials(name)}
      className={classes(
        'inline-flex shrink-0 items-center justify-center text-2xs font-semibold select-none before:content-[attr(data-initials)]',
        shape === 'person' ? 'rounded-full' : 'rounded-sm',
        grounds[sum % grounds.length],
        className,
      )}
    />
  )
}

function initials(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? []
  const [first = '', last = ''] = [words[0], words.length > 1 ? words.at(-1) : '']
  return `${[...first][0] ?? '?'}${[...last][0] ?? ''}`.toUpperCase()
}
