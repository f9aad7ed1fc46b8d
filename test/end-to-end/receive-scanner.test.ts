import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PrivateClamd, startClamd } from '../../src/cli/private/clamd.ts'
import { startDns, type TestDns } from '../harness/dns.ts'
import { infectedBytes, messageOf, multipart } from '../harness/inbox.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { acceptedMessageId, deliverMessage, readMessage, sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'
import { encryptedZip, nestedZip } from '../harness/zip.ts'

/** The verdicts of the scanner, and what is then shown and can be downloaded. */
let dns: TestDns
let mailroom: Mailroom
/** Its scanner is down until {@link clamd} starts. */
let waiting: Mailroom
let clamd: PrivateClamd | undefined

const folder = mkdtempSync(join(tmpdir(), 'mailroom-scanner-'))

beforeAll(async () => {
  dns = await startDns({
    'quarantined.example': { TXT: ['v=spf1 -all'] },
    '_dmarc.quarantined.example': { TXT: ['v=DMARC1;p=QUARANTINE'] },
  })
  const settings = { MAILROOM_RESOLVERS: `127.0.0.1:${dns.endpoint.port}`, MAILROOM_DNS_TIMEOUT_MS: '500' }
  ;[mailroom, waiting] = await Promise.all([startMailroom(settings), startMailroom({ ...settings, ...away })])
}, 60_000)

afterAll(async () => {
  await Promise.all([mailroom?.stop(), waiting?.stop()])
  await Promise.all([clamd?.stop(), dns?.close()])
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

const away = { MAILROOM_CLAMD: `unix:${join(folder, 'clamd.sock')}`, MAILROOM_SCAN_WAIT_SECONDS: '0' }

const notes = { disposition: 'attachment; filename=notes.txt', bytes: 'nothing to see' }
const evil = { disposition: 'attachment; filename=evil.com', bytes: infectedBytes }
const archive = (bytes: Buffer) => multipart([{ disposition: 'attachment; filename=a.zip', bytes }])
// clamd looks into 17 levels unless told otherwise.
const bomb = archive(nestedZip(30, infectedBytes))

interface Shown {
  readonly id: string
  readonly attachments: readonly { readonly id: string }[]
}

const attachmentOf = (shown: Shown, by = mailroom, position = 0) =>
  by.api('GET', `/v1/inbox/${shown.id}/attachments/${shown.attachments[position]?.id}`)

/** What asking for its first attachment, and for the whole of it, is answered. */
async function refusals(shown: Shown, by = mailroom) {
  const answers = [await attachmentOf(shown, by), await by.api('GET', `/v1/inbox/${shown.id}/raw`)]
  return answers.map(({ status, json }) => [status, json.error.code])
}

test('a virus in a forwarded message goes to quarantine and cannot be downloaded', async () => {
  const inner = multipart([evil], ['Subject: Invoice'])
  const shown = await deliverMessage(
    mailroom,
    multipart([{ contentType: 'application/octet-stream', bytes: inner }, notes]),
  )
  expect(shown).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected' })
  expect(shown.attachments.map((attachment: { scan: string }) => attachment.scan)).toEqual(['infected', 'clean'])
  expect(shown.attachments[0].scan_signature).toContain('Eicar')
  expect(await refusals(shown)).toEqual(Array(2).fill([403, 'attachment_infected']))
  expect((await attachmentOf(shown, mailroom, 1)).text).toBe('nothing to see')
})

describe('an archive', () => {
  test('is scanned level by level', async () => {
    const harmless = archive(nestedZip(3, Buffer.from('harmless')))
    expect(await deliverMessage(mailroom, harmless)).toMatchObject({ folder: 'inbox', scan: 'clean' })
    const flat = archive(nestedZip(3, infectedBytes))
    expect(await deliverMessage(mailroom, flat)).toMatchObject({ folder: 'quarantine', scan: 'infected' })
  })

  test('beyond the limits of the scanner does not count as clean', async () => {
    const shown = await deliverMessage(mailroom, bomb)
    expect(shown).toMatchObject({ folder: 'quarantine', folder_reason: 'unscanned', scan: 'error' })
    expect(await refusals(shown)).toEqual(Array(2).fill([403, 'attachment_unscanned']))
  })

  // People send them to each other; who wants them stopped tells clamd so (docs/operations.md says how).
  test('that is encrypted counts as clean', async () => {
    const shown = await deliverMessage(mailroom, archive(encryptedZip(infectedBytes)))
    expect(shown).toMatchObject({ folder: 'inbox', scan: 'clean' })
  })

  test('that is encrypted counts as infected where clamd alerts on it', async () => {
    const strictFolder = join(folder, 'strict')
    const strict = await startClamd({ folder: strictFolder, settings: { AlertEncryptedArchive: 'yes' } })
    try {
      const beside = await mailroom.startSecondProcess({ MAILROOM_CLAMD: strict.address, MAILROOM_ROLES: 'smtp' })
      const id = acceptedMessageId(await sendMail(beside.smtp, archive(encryptedZip(infectedBytes))))
      const shown = await readMessage(mailroom, id)
      expect(shown).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected' })
      expect(shown.attachments[0].scan_signature).toBe('Heuristics.Encrypted.Zip')
    } finally {
      await strict.stop()
    }
  })
})

describe('while the scanner is down', () => {
  const spoofed = Buffer.from(multipart([notes]).toString('latin1').replace('ann@sender', 'ann@quarantined'), 'latin1')
  const held = new Map<string, string>()
  const deferred = messageOf()
  const deferring = { ...away, MAILROOM_UNSCANNED: 'defer', MAILROOM_ROLES: 'smtp' }
  let deferringPort: number

  test('mail waits in quarantine and cannot be downloaded', async () => {
    const messages = { clean: multipart([notes]), infected: multipart([notes, evil]), spoofed, bomb }
    for (const [name, message] of Object.entries(messages)) {
      const shown = await deliverMessage(waiting, message)
      held.set(name, shown.id)
      expect(shown).toMatchObject({ folder: 'quarantine', folder_reason: 'unscanned', scan: 'error' })
      expect(shown.attachments[0]).toMatchObject({ scan: 'error' })
      expect(await refusals(shown, waiting)).toEqual(Array(2).fill([403, 'attachment_unscanned']))
    }
    expect((await waiting.api('GET', '/v1/inbox')).json.data).toEqual([])
  })

  test('mail is deferred if so configured', async () => {
    deferringPort = (await waiting.startSecondProcess(deferring)).smtp
    expect(await sendMail(deferringPort, deferred)).toStartWith('451 4.3.2 ')
  })

  test('when it is back, each message moves to its folder, and what cannot be scanned stays', async () => {
    clamd = await startClamd({ folder })
    expect(clamd.address).toBe(away.MAILROOM_CLAMD)
    // As if the minute before the first rescan had passed.
    await waiting.database.db
      .updateTable('messages')
      .set(({ ref }) => ({ rescan_at: ref('received_at') }))
      .where('rescan_at', 'is not', null)
      .execute()
    const now = (name: string) => readMessage(waiting, held.get(name) ?? '')
    await until(async () => {
      const scans = await Promise.all(['clean', 'infected', 'spoofed'].map(async name => (await now(name)).scan))
      return !scans.includes('error')
    })
    const clean = await now('clean')
    expect(clean).toMatchObject({ folder: 'inbox', folder_reason: 'accepted', scan: 'clean' })
    expect((await attachmentOf(clean, waiting)).text).toBe('nothing to see')
    expect(await now('spoofed')).toMatchObject({ folder: 'spam', folder_reason: 'dmarc_fail', scan: 'clean' })
    const infected = await now('infected')
    expect(infected).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected' })
    expect(infected.attachments.map((attachment: { scan: string }) => attachment.scan)).toEqual(['clean', 'infected'])
    expect((await attachmentOf(infected, waiting)).text).toBe('nothing to see')
    expect(await now('bomb')).toMatchObject({ folder: 'quarantine', folder_reason: 'unscanned', scan: 'error' })
    expect(await sendMail(deferringPort, deferred)).toStartWith('250 ')
  }, 40_000)
})
