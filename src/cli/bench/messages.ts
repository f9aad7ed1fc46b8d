import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { createTransport } from 'nodemailer'

/** The domain that the messages are from, with SPF, DKIM and DMARC records. */
export interface BenchSender {
  readonly domain: string
  readonly selector: string
  readonly privateKey: KeyObject
  /** The values of its TXT records by name. */
  readonly records: Readonly<Record<string, string>>
}

export function newBenchSender(domain: string): BenchSender {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const published = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  return {
    domain,
    selector: 's1',
    privateKey,
    records: {
      [domain]: 'v=spf1 ip4:127.0.0.1 -all',
      [`s1._domainkey.${domain}`]: `v=DKIM1; k=rsa; p=${published}`,
      [`_dmarc.${domain}`]: 'v=DMARC1; p=reject',
    },
  }
}

const text = 'Hello there, this is text.\n'.repeat(40)

/** `count` different messages of about 5 KB, signed with DKIM; larger by an attachment of `attachmentBytes`. */
export async function signedMessages(
  sender: BenchSender,
  to: string,
  count: number,
  attachmentBytes: number,
): Promise<Buffer[]> {
  const transport = createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
    dkim: {
      domainName: sender.domain,
      keySelector: sender.selector,
      privateKey: sender.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    },
  })
  const messages: Buffer[] = []
  for (let i = 0; i < count; i++) {
    const sent = await transport.sendMail({
      from: `Alice <alice@${sender.domain}>`,
      to,
      subject: `Message ${i}`,
      text: `${randomBytes(8).toString('hex')}\n${text}`,
      html: `<p>Hello <b>there</b> <a href="https://${sender.domain}/x">${i}</a></p>\n`.repeat(38),
      attachments: attachmentBytes > 0 ? [{ filename: 'a.bin', content: randomBytes(attachmentBytes) }] : [],
    })
    messages.push(sent.message as Buffer)
  }
  return messages
}
