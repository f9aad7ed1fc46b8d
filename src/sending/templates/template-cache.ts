/**
 * Keeps what was made of texts of late, so that it is not made again: the longest unused goes first once the texts have
 * more than `maxCharacters` together. What throws is not kept.
 */
export function newTemplateCache<Made>(maxCharacters: number): (text: string, make: () => Made) => Made {
  const kept = new Map<string, Made>()
  let characters = 0

  const drop = (text: string) => {
    if (kept.delete(text)) characters -= text.length
  }

  return (text, make) => {
    const made = kept.get(text) ?? make()
    drop(text)
    kept.set(text, made)
    characters += text.length
    for (const [oldest] of kept) {
      if (characters <= maxCharacters) break
      drop(oldest)
    }
    return made
  }
}
