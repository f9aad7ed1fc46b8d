import { expect, test } from 'bun:test'
import { followLine } from './curl.ts'

test('the line that follows the feed names the cursor and the types, and is one word of the shell', () => {
  expect(followLine('https://mail.example.com', null, []).split('\n')[0]).toBe(
    'curl -N https://mail.example.com/v1/events \\',
  )
  expect(followLine('https://mail.example.com', 'WyI3Il0', ['email.sent', 'email.bounced']).split('\n')[0]).toBe(
    "curl -N https://mail.example.com/v1/events'?after=WyI3Il0&types=email.sent,email.bounced' \\",
  )
})
