import { expect, test } from 'bun:test'
import type { Provider, Submission } from '../../../src/ports/provider/port.ts'

/** A provider, and what it was seen to take. */
export interface Contracted {
  readonly provider: Provider
  /** Envelope and bytes of each message it took, in order. */
  taken(): Promise<readonly { readonly from: string; readonly to: readonly string[]; readonly message: Buffer }[]>
  close(): Promise<void>
}

export function submission(given: Partial<Submission> = {}): Submission {
  return {
    emailId: 'eml_01jzz0000000000000000000ab',
    mailFrom: 'hello@shop.test',
    recipients: ['a@x.test'],
    message: Buffer.from('From: hello@shop.test\r\nSubject: x\r\n\r\n.\r\n..b\r\nc\r\n'),
    signal: AbortSignal.timeout(5000),
    ...given,
  }
}

/** What every provider does: ports/provider/port.ts. */
export function providerContract(name: string, make: () => Promise<Contracted>): void {
  async function withProvider(work: (contracted: Contracted) => Promise<void>) {
    const contracted = await make()
    try {
      await work(contracted)
    } finally {
      await contracted.provider.close()
      await contracted.close()
    }
  }

  test(`${name}: takes a message with its envelope, byte for byte`, () =>
    withProvider(async ({ provider, taken }) => {
      const given = submission()
      expect(await provider.submit(given)).toEqual([
        expect.objectContaining({
          kind: 'accepted',
          reply: expect.objectContaining({ phase: 'final-dot', code: 250 }),
        }),
      ])
      expect(await taken()).toEqual([{ from: given.mailFrom, to: given.recipients, message: given.message }])
    }))

  test(`${name}: takes the null reverse-path`, () =>
    withProvider(async ({ provider, taken }) => {
      await provider.submit(submission({ mailFrom: '' }))
      expect((await taken())[0]?.from).toBe('')
    }))

  test(`${name}: takes a message of half a megabyte whole`, () =>
    withProvider(async ({ provider, taken }) => {
      const message = Buffer.concat([submission().message, Buffer.from('.x\r\n'.repeat(130_000))])
      expect((await provider.submit(submission({ message })))[0]?.kind).toBe('accepted')
      expect((await taken())[0]?.message.equals(message)).toBe(true)
    }))

  test(`${name}: gives one outcome a submission when as many come as it takes at once`, () =>
    withProvider(async ({ provider, taken }) => {
      const count = provider.traits.maxConcurrentSubmissions
      const all = Array.from({ length: count }, (_, i) => provider.submit(submission({ recipients: [`u${i}@x.test`] })))
      expect((await Promise.all(all)).map(outcomes => outcomes.map(outcome => outcome.kind))).toEqual(
        Array.from({ length: count }, () => ['accepted']),
      )
      expect((await taken()).flatMap(each => each.to).sort()).toEqual(
        Array.from({ length: count }, (_, i) => `u${i}@x.test`).sort(),
      )
    }))

  test(`${name}: says that it can be reached`, () =>
    withProvider(async ({ provider }) => expect(await provider.checkHealth()).toBeNull()))

  test(`${name}: claims nothing that does not go together`, () =>
    withProvider(async ({ provider }) => {
      const { returnPath, reports, messageId, unsignedHeaders } = provider.traits
      // Notifications go to the reverse-path: without ours none of them comes.
      if (reports === 'dsn') expect(returnPath).toBe('ours')
      if (messageId === 'replaced') expect(unsignedHeaders).toContain('message-id')
      for (const field of unsignedHeaders) expect(field).toBe(field.toLowerCase())
    }))
}
