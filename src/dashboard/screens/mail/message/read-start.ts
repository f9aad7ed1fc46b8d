import { send } from '../../../api/send.ts'

/** The first bytes of a file as text. @throws ApiError, ServerAwayError */
export async function readStart(
  url: string,
  mostBytes: number,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const response = await send(new Request(new URL(url, location.origin), { signal }))
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const chunk = await reader?.read()
    if (!chunk || chunk.done) return { text: text + decoder.decode(), isCut: false }
    const left = mostBytes - bytes
    text += decoder.decode(chunk.value.subarray(0, left), { stream: true })
    bytes += chunk.value.length
    if (bytes > mostBytes) {
      await reader?.cancel()
      return { text, isCut: true }
    }
  }
}
