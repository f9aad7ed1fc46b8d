/** A command that sends an email from this address. */
export function curlSnippet(origin: string, from: string): string {
  return `curl ${origin}/v1/emails \\
  -H "Authorization: Bearer $MAILROOM_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
    "from": "${from}",
    "to": "you@example.com",
    "subject": "Hello",
    "text": "It works."
  }'`
}
