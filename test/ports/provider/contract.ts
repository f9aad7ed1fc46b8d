import { expect, test } from 'bun:test'
import type { Provider, Submission } from '../../../src/ports/provider/port.ts'

/** A provider to test, and what it submitted. */
export interface ProviderUnderTest {
  readonly provider: Provider
  /** Envelope and bytes of each message that arrived, in order. */
  received(): Promise<readonly { readonly from: string; readonly to: readonly string[]; readonly message: Buffer }[]>
  close(): Promise<void>
}

export function submission(given: Partial<Submission> = {}): Submission {
  return {
    emailId: 'eml_01jzz0000000000000000000ab',
    mailFrom: 'hello@shop.test',
    recipients: ['a@x.test'],
    message: Buffer.from('From: hello@shop.test\r\nSubject: x\r\n\r\n.\r\n..b\r\nc\r\n'),
    signal: AbortSignal.timeout(5000),
    mayBeAccepted: () => true,
    ...given,
  }
}

/** Tests what src/ports/provider/port.ts asks of every adapter. */
export function providerContract(name: string, make: () => Promise<ProviderUnderTest>): void {
  async function withProvider(work: (tested: ProviderUnderTest) => Promise<void>) {
    const tested = await make()
    try {
      await work(tested)
    } finally {
      await tested.provider.close()
      await tested.close()
    }
  }

  test(`${name}: submits a message with its envelope, byte for byte`, () =>
    withProvider(async ({ provider, received }) => {
      const given = submission()
      expect(await provider.submit(given)).toEqual([
        expect.objectContaining({
          kind: 'accepted',
          reply: expect.objectContaining({ phase: 'final-dot', code: 250 }),
        }),
      ])
      expect(await received()).toEqual([{ from: given.mailFrom, to: given.recipients, message: given.message }])
    }))

  test(`${name}: submits with the null reverse-path`, () =>
    withProvider(async ({ provider, received }) => {
      await provider.submit(submission({ mailFrom: '' }))
      expect((await received())[0]?.from).toBe('')
    }))

  test(`${name}: submits nothing that may not be accepted any more, and takes the next message`, () =>
    withProvider(async ({ provider, received }) => {
      expect(await provider.submit(submission({ mayBeAccepted: () => false }))).toMatchObject([{ kind: 'withdrawn' }])
      expect(await received()).toEqual([])
      expect((await provider.submit(submission()))[0]?.kind).toBe('accepted')
      expect(await received()).toHaveLength(1)
    }))

  test(`${name}: submits a whole message of half a megabyte`, () =>
    withProvider(async ({ provider, received }) => {
      const message = Buffer.concat([submission().message, Buffer.from('.x\r\n'.repeat(130_000))])
      expect((await provider.submit(submission({ message })))[0]?.kind).toBe('accepted')
      expect((await received())[0]?.message.equals(message)).toBe(true)
    }))

  test(`${name}: returns one outcome for each of as many submissions as may be in flight`, () =>
    withProvider(async ({ provider, received }) => {
      const count = provider.traits.maxConcurrentSubmissions
      const all = Array.from({ length: count }, (_, i) => provider.submit(submission({ recipients: [`u${i}@x.test`] })))
      expect((await Promise.all(all)).map(outcomes => outcomes.map(outcome => outcome.kind))).toEqual(
        Array.from({ length: count }, () => ['accepted']),
      )
      expect((await received()).flatMap(({ to }) => to).sort()).toEqual(
        Array.from({ length: count }, (_, i) => `u${i}@x.test`).sort(),
      )
    }))

  test(`${name}: is healthy`, () =>
    withProvider(async ({ provider }) => expect(await provider.checkHealth()).toBeNull()))

  test(`${name}: has traits that do not contradict each other`, () =>
    withProvider(async ({ provider }) => {
      const { returnPath, reports, messageId, unsignedHeaders } = provider.traits
      // Delivery status notifications go to the reverse-path, so they need ours.
      if (reports === 'dsn') expect(returnPath).toBe('ours')
      if (messageId === 'replaced') expect(unsignedHeaders).toContain('message-id')
      for (const field of unsignedHeaders) expect(field).toBe(field.toLowerCase())
    }))
}
