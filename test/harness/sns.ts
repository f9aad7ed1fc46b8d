import { sign } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const topicArn = 'arn:aws:sns:eu-west-1:123456789012:mail'
const host = 'https://sns.eu-west-1.amazonaws.com'

/** A signer of SNS messages: its key, its certificate, and the URL of the certificate. */
export interface SnsSigner {
  readonly url: string
  readonly key: string
  readonly certificate: string
}

export function newSnsSigner(name = 'SimpleNotificationService-0123456789abcdef', days = 30): SnsSigner {
  const folder = mkdtempSync(join(tmpdir(), 'sns-'))
  try {
    const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const generated = Bun.spawnSync([
      ...['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=sns.amazonaws.com'],
      ...['-days', String(days), '-keyout', keyFile, '-out', certificateFile],
    ])
    if (!generated.success) throw new Error(generated.stderr.toString())
    const [key, certificate] = [readFileSync(keyFile, 'utf8'), readFileSync(certificateFile, 'utf8')]
    return { url: `${host}/${name}.pem`, key, certificate }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const signedNames = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
}

export type SnsMessage = Record<string, string>

export interface SnsOptions {
  readonly at: Date
  readonly version?: '1' | '2'
  /** Further signed fields of the message. */
  readonly fields?: SnsMessage
}

/** A notification as SNS posts it: https://docs.aws.amazon.com/sns/latest/dg/http-notification-json.html */
export function notification(signer: SnsSigner, event: object | string, options: SnsOptions): SnsMessage {
  const Message = typeof event === 'string' ? event : JSON.stringify(event)
  return signedBy(signer, 'Notification', { Message }, options)
}

export function confirmation(signer: SnsSigner, options: SnsOptions): SnsMessage {
  const more = {
    Message: `You have chosen to subscribe to the topic ${topicArn}.`,
    SubscribeURL: `${host}/?Action=ConfirmSubscription&TopicArn=${topicArn}&Token=2336412f37f`,
    Token: '2336412f37f',
  }
  return signedBy(signer, 'SubscriptionConfirmation', more, options)
}

function signedBy(
  signer: SnsSigner,
  type: keyof typeof signedNames,
  more: SnsMessage,
  options: SnsOptions,
): SnsMessage {
  const { at, version = '2', fields } = options
  const message: SnsMessage = {
    Type: type,
    MessageId: crypto.randomUUID(),
    TopicArn: topicArn,
    Timestamp: at.toISOString(),
    ...more,
    ...fields,
  }
  const text = signedNames[type]
    .filter(name => message[name] !== undefined)
    .map(name => `${name}\n${message[name]}\n`)
    .join('')
  const signature = sign(version === '1' ? 'sha1' : 'sha256', Buffer.from(text), signer.key)
  return {
    ...message,
    SignatureVersion: version,
    SigningCertURL: signer.url,
    ...(type === 'Notification' && { UnsubscribeURL: `${host}/?Action=Unsubscribe` }),
    Signature: signature.toString('base64'),
    ...(fields?.['SigningCertURL'] && { SigningCertURL: fields['SigningCertURL'] }),
  }
}
