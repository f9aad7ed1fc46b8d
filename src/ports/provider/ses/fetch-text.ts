const timeoutMs = 5000
const maxBytes = 64 * 1024

/**
 * Fetches a text of at most 64 KiB, without following redirects. null: the response is not 2xx, or too large.
 * @throws when there is no response, or a status of 500 or more
 */
export async function fetchText(url: string): Promise<string | null> {
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
  if (response.status >= 500) throw new Error(`${url} responded with status ${response.status}`)
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
