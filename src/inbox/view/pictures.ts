/** A picture that a message brings with it. */
export interface InlinePicture {
  /** Without brackets, as `cid:` URLs name it. */
  readonly contentId: string
  readonly contentType: string
  readonly size: number
}

/** Shown in one message: pictures, and their bytes in all. */
const maxPictures = 30
const maxPictureBytes = 4 * 1024 * 1024

/** Formats that browsers show and that cannot hold scripts. */
const shownTypes: ReadonlySet<string> = new Set(['image/avif', 'image/gif', 'image/jpeg', 'image/png', 'image/webp'])

const cidSource = /(<img\s[^>]*?\bsrc=")\s*cid:([^"]*)"/gi

/** Of these attachments, the pictures that sanitized HTML shows, as far as the limits go; `left`: how many it does not. */
export function choosePictures<Attachment extends InlinePicture>(
  html: string,
  attachments: readonly Attachment[],
): { readonly chosen: readonly Attachment[]; readonly left: number } {
  const contentIds = new Set(Array.from(html.matchAll(cidSource), ([, , id = '']) => contentIdOf(id)))
  const chosen: Attachment[] = []
  let bytes = 0
  let left = 0
  for (const id of contentIds) {
    const picture = attachments.find(({ contentId, contentType }) => contentId === id && shownTypes.has(contentType))
    if (!picture || chosen.length === maxPictures || bytes + picture.size > maxPictureBytes) left++
    else {
      chosen.push(picture)
      bytes += picture.size
    }
  }
  return { chosen, left }
}

/** Sanitized HTML with these pictures in it, as `data:` URLs; others lose their address, and show their description. */
export function withPictures(
  html: string,
  pictures: ReadonlyMap<string, { contentType: string; bytes: Buffer }>,
): string {
  return html.replace(cidSource, (_, before: string, id: string) => {
    const picture = pictures.get(contentIdOf(id))
    return `${before}${picture ? `data:${picture.contentType};base64,${picture.bytes.toString('base64')}` : ''}"`
  })
}

/** The content id in a `cid:` URL (RFC 2392), as sanitized HTML writes it. */
function contentIdOf(written: string): string {
  const id = written.replaceAll('&amp;', '&').replaceAll('&lt;', '<').replaceAll('&gt;', '>').trim()
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}
