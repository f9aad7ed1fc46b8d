const answerMs = 5000
const maxBytes = 64 * 1024

/** Gets a small text, without following anyone elsewhere; null: the answer is not a good one, or too large. */
export async function fetchText(url: string): Promise<string | null> {
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(answerMs) })
  if (response.status >= 500) throw new Error(`${url} answered ${response.status}`)
  if (!response.ok || !response.body) return null
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body) {
    size += part.byteLength
    if (size > maxBytes) return null
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}
