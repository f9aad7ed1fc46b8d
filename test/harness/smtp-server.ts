import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { systemClock } from '../../src/base/clock.ts'
import { mergeCertificates } from '../../src/ports/certificates/merge.ts'
import type { InboundPipeline, InboundRecipient, IncomingMessage } from '../../src/receiving/incoming-message.ts'
import { refuseMail } from '../../src/receiving/smtp-refusal.ts'
import { openSmtpServer, type SmtpServerDeps } from '../../src/servers/smtp/server.ts'

/** A way in that keeps what it is given: mail for `*@ours.test`, `full@` refused, `gone@` unknown. */
export interface RecordingPipeline extends InboundPipeline {
  /** What was received, with its bytes read at that time. */
  readonly received: (IncomingMessage & { readonly bytes: Buffer })[]
  /** The forward-paths that were asked for. */
  readonly lookedUp: string[]
  /** What happens before a message is taken; may throw. */
  before: (mail: IncomingMessage) => Promise<void> | void
}

function recordingPipeline(): RecordingPipeline {
  const wayIn: RecordingPipeline = {
    received: [],
    lookedUp: [],
    before: () => undefined,
    async findRecipient(address) {
      wayIn.lookedUp.push(address)
      return recipientOf(address)
    },
    async receive(mail) {
      await wayIn.before(mail)
      mail.signal.throwIfAborted()
      const bytes = mail.content.kind === 'memory' ? mail.content.bytes : readFileSync(mail.content.path)
      wayIn.received.push({ ...mail, bytes: Buffer.from(bytes) })
      return { id: `msg_${wayIn.received.length}` }
    },
  }
  return wayIn
}

function recipientOf(address: string): InboundRecipient {
  const isOurs = address.toLowerCase() === 'postmaster' || /@ours\.test$/i.test(address)
  if (!isOurs) throw refuseMail('relay_denied')
  if (address.startsWith('gone')) throw refuseMail('mailbox_unknown')
  return { address, organizationId: 'org_1', brandId: 'brd_1', domainId: 'dom_1', mailboxId: 'mbx_1' }
}

const config: SmtpServerDeps['config'] = {
  smtpListen: { host: '127.0.0.1', port: 0 },
  smtpProxies: undefined,
  smtpBanner: undefined,
  hostname: 'mx.ours.test',
  maxMessageBytes: 2 * 1024 * 1024,
  maxRecipients: 100,
  maxSessions: 200,
  maxSessionsPerAddress: 20,
  sessionSeconds: 600,
  idleSeconds: 60,
  minBytesPerSecond: 512,
  answerSeconds: 60,
}

export interface TestSmtpServer {
  readonly port: number
  readonly inbound: RecordingPipeline
  /** What was logged, as lines of JSON. */
  readonly logged: string[]
  /** The files in the spool now. */
  spoolFiles(): readonly string[]
  /** The same, once it is empty, or after a second. */
  waitForEmptySpool(): Promise<readonly string[]>
  readonly spoolFolder: string
  close(): Promise<void>
}

/** A door on a free loopback port, in front of a {@link recordingPipeline}, that removes its folder when it is closed. */
export async function openTestSmtpServer(
  changes: Partial<SmtpServerDeps['config']> = {},
  pace: SmtpServerDeps['timeouts'] = {},
  spoolFolder = mkdtempSync(join(tmpdir(), 'spool-')),
  certificates = mergeCertificates([]),
): Promise<TestSmtpServer> {
  const wayIn = recordingPipeline()
  const logged: string[] = []
  const log = pino({ level: 'debug', base: null }, { write: line => void logged.push(line) })
  const door = await openSmtpServer({
    config: { ...config, ...changes },
    inbound: wayIn,
    certificates,
    log,
    clock: systemClock,
    spoolFolder,
    timeouts: { unknownDelayMs: 1, drainMs: 2000, ...pace },
  })
  return {
    port: door.address.port,
    inbound: wayIn,
    logged,
    spoolFolder,
    spoolFiles: () => readdirSync(spoolFolder),
    waitForEmptySpool: async () => {
      for (let i = 0; i < 100 && readdirSync(spoolFolder).length > 0; i++) await Bun.sleep(10)
      return readdirSync(spoolFolder)
    },
    close: async () => {
      await door.close()
      await certificates.stop()
      rmSync(spoolFolder, { recursive: true, force: true })
    },
  }
}
