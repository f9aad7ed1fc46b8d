/** A program in TypeScript that sends an email from this address. */
export function typescriptSnippet(origin: string, from: string): string {
  return `const response = await fetch('${origin}/v1/emails', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.MAILROOM_KEY}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({
    from: '${from}',
    to: 'you@example.com',
    subject: 'Hello',
    text: 'It works.',
  }),
})
const { id } = await response.json()`
}
