import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { systemClock } from '../../src/base/clock.ts'
import { mergeCertificates } from '../../src/ports/certificates/merge.ts'
import type { InboundPipeline, InboundRecipient, IncomingMessage } from '../../src/receiving/incoming-message.ts'
import { refuseMail } from '../../src/receiving/smtp-refusal.ts'
import { openSmtpServer, type SmtpListener } from '../../src/servers/smtp/server.ts'
import type { SmtpConfig, SmtpTimeouts } from '../../src/servers/smtp/session-limits.ts'
import { openSpoolFolder } from '../../src/servers/smtp/spool.ts'
import { until } from './until.ts'

/** An inbound pipeline that records messages for `*@ours.test`, except for `gone@…`, which is unknown. */
export interface RecordingPipeline extends InboundPipeline {
  /** The received messages, with the bytes that they had then. */
  readonly received: (IncomingMessage & { readonly bytes: Buffer })[]
  /** The forward-paths that were looked up. */
  readonly lookedUp: string[]
  /** Called before a message is accepted; may throw. */
  before: (mail: IncomingMessage) => Promise<void> | void
}

function recordingPipeline(): RecordingPipeline {
  const pipeline: RecordingPipeline = {
    received: [],
    lookedUp: [],
    before: () => undefined,
    async findRecipient(address) {
      pipeline.lookedUp.push(address)
      return recipientOf(address)
    },
    async receive(mail) {
      await pipeline.before(mail)
      mail.signal.throwIfAborted()
      const bytes = mail.content.kind === 'memory' ? mail.content.bytes : readFileSync(mail.content.path)
      pipeline.received.push({ ...mail, bytes: Buffer.from(bytes) })
      return { id: `msg_${pipeline.received.length}` }
    },
  }
  return pipeline
}

function recipientOf(address: string): InboundRecipient {
  const isOurs = address.toLowerCase() === 'postmaster' || /@ours\.test$/i.test(address)
  if (!isOurs) throw refuseMail('relay_denied')
  if (address.startsWith('gone')) throw refuseMail('mailbox_unknown')
  return { address, organizationId: 'org_1', brandId: 'brd_1', domainId: 'dom_1', mailboxId: 'mbx_1' }
}

const config: SmtpConfig = {
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
  /** The log lines, as JSON. */
  readonly logged: string[]
  /** The files in the spool. */
  spoolFiles(): readonly string[]
  /** Waits until the spool is empty. */
  waitForEmptySpool(): Promise<void>
  readonly spoolFolder: string
  close(): Promise<void>
}

/** Starts the SMTP server on a free loopback port with a {@link recordingPipeline}. Closing it removes the spool. */
export async function openTestSmtpServer(
  changes: Partial<SmtpConfig> = {},
  timeouts: Partial<SmtpTimeouts> = {},
  spoolFolder = mkdtempSync(join(tmpdir(), 'spool-')),
  certificates = mergeCertificates([]),
  listener: Partial<SmtpListener> = {},
): Promise<TestSmtpServer> {
  const pipeline = recordingPipeline()
  const logged: string[] = []
  const log = pino({ level: 'debug', base: null }, { write: line => void logged.push(line) })
  const server = await openSmtpServer({
    config: { ...config, ...changes },
    listener: {
      kind: 'mx',
      listen: { host: '127.0.0.1', port: 0 },
      tls: 'starttls',
      requiresCertificate: false,
      allowsLocalLogin: false,
      ...listener,
    },
    openService: () => ({
      acceptedAs: 'Accepted as',
      findRecipient: address => pipeline.findRecipient(address),
      receive: mail => pipeline.receive(mail),
    }),
    certificates,
    log,
    clock: systemClock,
    spoolFolder: openSpoolFolder(spoolFolder),
    timeouts: { unknownDelayMs: 1, drainMs: 2000, ...timeouts },
  })
  return {
    port: server.address.port,
    inbound: pipeline,
    logged,
    spoolFolder,
    spoolFiles: () => readdirSync(spoolFolder),
    waitForEmptySpool: async () => void (await until(() => readdirSync(spoolFolder).length === 0)),
    close: async () => {
      await server.close()
      await certificates.stop()
      rmSync(spoolFolder, { recursive: true, force: true })
    },
  }
}
