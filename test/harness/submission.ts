import { expect } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfSigned } from './certificates.ts'
import { SmtpClient } from './smtp-client.ts'

/** Settings for mail submission on free ports with a certificate of its own, which is in a temporary folder. */
export interface SubmissionSettings {
  readonly settings: Readonly<Record<string, string>>
  /** The file of the certificate, which is its own authority. */
  readonly certificateFile: string
  remove(): void
}

export function submissionWithTls(name: string): SubmissionSettings {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-submission-'))
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const pair = selfSigned([name, 'localhost'])
  writeFileSync(cert, pair.chain)
  writeFileSync(key, pair.key)
  return {
    settings: {
      MAILROOM_TLS_CERT: cert,
      MAILROOM_TLS_KEY: key,
      MAILROOM_SUBMISSION_LISTEN: '127.0.0.1:0',
      MAILROOM_SUBMISSIONS_LISTEN: '127.0.0.1:0',
    },
    certificateFile: cert,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export const base64 = (text: string) => Buffer.from(text).toString('base64')
/** The response of AUTH PLAIN. RFC 4616. */
export const plain = (password: string, user = 'app') => base64(`\0${user}\0${password}`)

/** A client after STARTTLS and EHLO. */
export async function secureClient(port: number): Promise<SmtpClient> {
  const client = await SmtpClient.ready(port)
  expect(await client.command('STARTTLS')).toBe('220 2.0.0 Ready to start TLS')
  await client.upgrade()
  await client.command('EHLO app.test')
  return client
}

/** A client that is logged in: with STARTTLS, or without where `tls` is false. */
export async function loggedIn(port: number, key: string, tls = true): Promise<SmtpClient> {
  const client = tls ? await secureClient(port) : await SmtpClient.ready(port)
  expect(await client.command(`AUTH PLAIN ${plain(key)}`)).toBe('235 2.7.0 Authentication successful')
  return client
}

export interface Transaction {
  readonly from?: string
  readonly to?: readonly string[]
  /** With its line ends as they are to be sent; dots at the start of a line are stuffed. */
  readonly message: string | Buffer
}

/** Sends a message; the reply to the final dot, or the first refusal before it. */
export async function submitMessage(
  client: SmtpClient,
  { from = 'hello@demo.test', to = ['bob@friend.test'], message }: Transaction,
): Promise<string> {
  for (const command of [`MAIL FROM:<${from}>`, ...to.map(address => `RCPT TO:<${address}>`), 'DATA']) {
    const reply = await client.command(command)
    if (!/^[23]/.test(reply)) {
      await client.command('RSET')
      return reply
    }
  }
  const text = Buffer.from(message)
    .toString('latin1')
    .replace(/(?<=^|\r\n)\./g, '..')
  client.send(Buffer.from(`${text}${text.endsWith('\r\n') ? '' : '\r\n'}.\r\n`, 'latin1'))
  return client.reply(30_000)
}

/** The id in `250 2.0.0 queued as eml_…`; fails on any other reply. */
export function queuedId(reply: string): string {
  const [, id = ''] = /^250 2\.0\.0 queued as (eml_[0-9a-z]{26})$/.exec(reply) ?? []
  expect({ reply, id }).toEqual({ reply, id: expect.stringMatching(/^eml_/) })
  return id
}

/** A message of these header lines and this text. */
export function mime(header: readonly string[], text = 'Hello\r\n'): string {
  return `${header.join('\r\n')}\r\n\r\n${text}`
}
