/** A command that shows events as they happen, from a cursor on; without one: from now. */
export function followLine(origin: string, after: string | null, types: readonly string[]): string {
  const query = [
    ...(after === null ? [] : [`after=${encodeURIComponent(after)}`]),
    ...(types.length === 0 ? [] : [`types=${types.join(',')}`]),
  ].join('&')
  return `curl -N ${origin}/v1/events${query && `'?${query}'`} \\
  -H "Authorization: Bearer $MAILROOM_KEY" \\
  -H 'Accept: text/event-stream'`
}
