import { createPublicKey, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { readSecretKeys, type Secrets, secretsOf } from './secrets.ts'

/** One `MAILROOM_*` key: how it is read, what it means, and what holds when it is absent. */
interface Setting<Value> {
  readonly key: string
  /** What it means, with its unit, in one sentence. */
  readonly meaning: string
  /** What a right value looks like, for the sentence that refuses a wrong one. */
  readonly expected: string
  /** As it would be written; undefined: there is none. */
  readonly fallback: string | undefined
  /** The value, or undefined when the text is not a right one. */
  readonly read: (text: string) => Value | undefined
  /** Is it never shown? */
  readonly isSecret?: true
}

type Read<Value> = Pick<Setting<Value>, 'expected' | 'read' | 'isSecret'>

function setting<Value>(key: string, kind: Read<Value>, fallback: string, meaning: string): Setting<Value> {
  return { key: `MAILROOM_${key}`, meaning, fallback, ...kind }
}

function optional<Value>(key: string, kind: Read<Value>, meaning: string): Setting<Value | undefined> {
  return { key: `MAILROOM_${key}`, meaning, fallback: undefined, ...kind }
}

const text: Read<string> = { expected: 'some text', read: value => value || undefined }

const matching = (form: RegExp, expected: string): Read<string> => ({
  expected,
  read: value => (form.test(value) ? value : undefined),
})

const flag: Read<boolean> = {
  expected: '`true` or `false`',
  read: value => (value === 'true' ? true : value === 'false' ? false : undefined),
}

const whole = (least: number, most: number): Read<number> => ({
  expected: `a whole number from ${least} to ${most}`,
  read: value => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
    return number >= least && number <= most ? number : undefined
  },
})

const oneOf = <const Choice extends string>(...choices: Choice[]): Read<Choice> => ({
  expected: choices.map(each => `\`${each}\``).join(' or '),
  read: value => choices.find(each => each === value),
})

const severalOf = <const Choice extends string>(...choices: Choice[]): Read<readonly Choice[]> => ({
  expected: `one or more of ${choices.map(each => `\`${each}\``).join(', ')}, with commas between`,
  read: value => {
    const found = value.split(',').map(part => choices.find(each => each === part.trim()))
    return found.every(each => each !== undefined) ? [...new Set(found)] : undefined
  },
})

/** An address to listen on or to reach. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

function readEndpoint(value: string, defaultPort?: number): Endpoint | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(value)
  const host = match?.[1] ?? match?.[2]
  const port = match?.[3] === undefined ? defaultPort : Number(match[3])
  return host === undefined || port === undefined || port > 65_535 ? undefined : { host, port }
}

const endpoint: Read<Endpoint> = {
  expected: '`host:port` (an IPv6 address in brackets; port 0 takes a free one)',
  read: value => readEndpoint(value),
}

const endpoints = (defaultPort: number): Read<readonly Endpoint[]> => ({
  expected: `\`ip:port\` (port ${defaultPort} unless given), several with commas between`,
  read: value => {
    const found = value.split(',').map(part => readEndpoint(part.trim(), defaultPort))
    return found.every(each => each !== undefined) ? found : undefined
  },
})

const networks: Read<readonly string[]> = {
  expected: 'an IP address or a network such as `10.0.0.0/8`, several with commas between',
  read: value => {
    const found = value.split(',').map(part => part.trim())
    return found.every(isNetwork) ? found : undefined
  },
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const mostBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return more.length === 0 && (bits === undefined ? mostBits > 0 : /^\d{1,3}$/.test(bits) && Number(bits) <= mostBits)
}

const url = (...protocols: string[]): Read<string> => ({
  expected: `an address that starts with ${protocols.map(each => `\`${each}//\``).join(' or ')}`,
  read: value => (URL.canParse(value) && protocols.includes(new URL(value).protocol) ? value : undefined),
})

const urls = (...protocols: string[]): Read<readonly string[]> => {
  const one = url(...protocols)
  return {
    expected: `${one.expected}, several with commas between`,
    read: value => {
      const found = value.split(',').map(part => one.read(part.trim()))
      return found.every(each => each !== undefined) ? found : undefined
    },
  }
}

/** A key as base64 of its DER form, as SendGrid shows it. */
const publicKey: Read<KeyObject> = {
  expected: 'a public key in base64 (DER), of an elliptic curve',
  read: value => {
    try {
      const key = createPublicKey({ key: Buffer.from(value, 'base64'), format: 'der', type: 'spki' })
      return key.asymmetricKeyType === 'ec' ? key : undefined
    } catch {
      return undefined
    }
  },
}

const origins: Read<readonly string[]> = {
  expected: 'origins such as `https://app.example.com`, with commas between',
  read: value => {
    const found = value.split(',').map(part => part.trim())
    return found.every(each => URL.parse(each)?.origin === each.toLowerCase()) ? found : undefined
  },
}

/** How clamd is reached. */
export type ClamdAddress = { readonly kind: 'unix'; readonly path: string } | ({ readonly kind: 'tcp' } & Endpoint)

const clamd: Read<ClamdAddress> = {
  expected: '`unix:/path` or `tcp:host:port`',
  read: value => {
    if (value.startsWith('unix:/')) return { kind: 'unix', path: value.slice(5) }
    const tcp = value.startsWith('tcp:') ? readEndpoint(value.slice(4)) : undefined
    return tcp && { kind: 'tcp', ...tcp }
  },
}

const secretKeys: Read<Secrets> = {
  expected: '32 bytes in base64, as `openssl rand -base64 32` gives them, several with commas between',
  isSecret: true,
  read: value => {
    const keys = readSecretKeys(value)
    return keys && secretsOf(keys)
  },
}

const percent: Read<number> = {
  expected: 'a percentage from 0 to 100, such as `0.1`',
  read: value => (/^\d{1,3}(\.\d{1,3})?$/.test(value) && Number(value) <= 100 ? Number(value) : undefined),
}

const seconds = (most: number) => whole(1, most)
const MiB = 1024 * 1024

const settings = {
  databaseUrl: setting(
    'DATABASE_URL',
    url('mysql:'),
    'mysql://mailroom@127.0.0.1:3306/mailroom',
    'The database: `mysql://user:password@host:port/name`, MariaDB 10.11 or MySQL 8.4 or later; `?socketPath=` for a Unix socket.',
  ),
  databaseConnections: setting(
    'DATABASE_CONNECTIONS',
    whole(2, 100),
    '10',
    'Connections to the database that each role may hold.',
  ),
  roles: setting('ROLES', severalOf('smtp', 'http', 'relay'), 'smtp,http,relay', 'What this process does.'),
  hostname: setting(
    'HOSTNAME',
    text,
    hostname(),
    'Our name: in the SMTP greeting, in EHLO, in Received and Authentication-Results. Its address record should lead here: bounces of domains without a return path of their own come to it.',
  ),
  publicUrl: setting(
    'PUBLIC_URL',
    url('http:', 'https:'),
    'http://127.0.0.1:8080',
    'Where clients reach the HTTP API, without a final slash; the links in emails and invitations begin with it. Mail programs unsubscribe with one click only over https (RFC 8058).',
  ),
  varFolder: setting(
    'VAR',
    text,
    'var',
    'The folder for what is spooled. It needs room for the messages being received.',
  ),

  secrets: optional(
    'SECRET_KEY',
    secretKeys,
    'Seals the private DKIM keys in the database: 32 bytes in base64, the same in all processes. Without it `serve` makes one and keeps it in `secret.key` in MAILROOM_VAR. To change it give `new,old` (first `old,new` where several processes run): the first seals, all open; once it serves, the old one may go, with the last bounces of what was sent under it.',
  ),

  httpListen: setting('HTTP_LISTEN', endpoint, '127.0.0.1:8080', 'Where the HTTP API listens.'),
  metricsListen: setting('METRICS_LISTEN', endpoint, '127.0.0.1:9090', 'Where `/metrics` is served; keep it private.'),
  ratePerMinute: setting(
    'RATE_LIMIT_PER_MINUTE',
    whole(1, 1_000_000_000),
    '600',
    'Requests a minute that an organization may make to this process.',
  ),
  authFailuresPerMinute: setting(
    'AUTH_FAILURES_PER_MINUTE',
    whole(1, 1_000_000_000),
    '60',
    'Failed authentications a minute that one address may make.',
  ),
  mcpOrigins: optional(
    'MCP_ORIGINS',
    origins,
    'Origins of web pages, besides our own, that may speak to the Model Context Protocol endpoint.',
  ),
  trustedProxies: optional(
    'TRUSTED_PROXIES',
    networks,
    'The reverse proxies in front of the HTTP API: what they say in X-Forwarded-For is believed, so that clients are told apart by their own addresses.',
  ),
  requestLogDays: setting(
    'REQUEST_LOG_DAYS',
    whole(1, 3650),
    '30',
    'How long the request log (`GET /v1/requests`) keeps a request, in days.',
  ),

  smtpListen: setting('SMTP_LISTEN', endpoint, '0.0.0.0:25', 'Where mail is received.'),
  tlsCert: optional(
    'TLS_CERT',
    text,
    'File with the certificate chain (PEM) for STARTTLS. Without it STARTTLS is not offered.',
  ),
  tlsKey: optional('TLS_KEY', text, 'File with the private key (PEM) of that certificate.'),
  maxMessageBytes: setting(
    'MAX_MESSAGE_BYTES',
    whole(64 * 1024, 512 * MiB),
    String(35 * MiB),
    'The largest message that is received (SIZE), in bytes.',
  ),
  maxRecipients: setting('MAX_RECIPIENTS', whole(1, 1000), '100', 'Recipients of one received message.'),
  maxSessions: setting('MAX_SESSIONS', whole(1, 10_000), '200', 'SMTP sessions at once, in all.'),
  maxSessionsPerAddress: setting(
    'MAX_SESSIONS_PER_ADDRESS',
    whole(1, 10_000),
    '20',
    'SMTP sessions at once from one address (IPv6: from one /64).',
  ),
  sessionSeconds: setting(
    'SESSION_SECONDS',
    seconds(86_400),
    '1800',
    'How long an SMTP session may last, in seconds; a transaction under way is finished.',
  ),
  idleSeconds: setting('IDLE_SECONDS', seconds(3600), '300', 'How long an SMTP client may be silent, in seconds.'),
  minBytesPerSecond: setting(
    'MIN_BYTES_PER_SECOND',
    whole(1, MiB),
    '512',
    'The slowest that a message may come in, in bytes a second over half a minute.',
  ),
  answerSeconds: setting(
    'ANSWER_SECONDS',
    seconds(600),
    '120',
    'The longest from the final dot to our answer, in seconds; then 451 (RFC 1047).',
  ),
  dmarcReject: setting(
    'DMARC_REJECT',
    flag,
    'false',
    'Answer 550 5.7.26 to mail that fails a DMARC policy of p=reject, instead of filing it as spam.',
  ),
  postmaster: optional(
    'POSTMASTER',
    text,
    'The mailbox of ours that takes mail to a bare `postmaster`, and to postmaster@ and abuse@ of domains with neither such a mailbox nor a catch-all.',
  ),

  resolvers: optional('RESOLVERS', endpoints(53), 'DNS servers to ask; without it those of the system.'),
  dnsTimeoutMs: setting(
    'DNS_TIMEOUT_MS',
    whole(50, 30_000),
    '2000',
    'How long one DNS server may take for one question, in milliseconds.',
  ),
  dnsMessageSeconds: setting(
    'DNS_MESSAGE_SECONDS',
    seconds(100),
    '20',
    'How long all DNS questions about one message may take, in seconds.',
  ),
  dnsCanary: optional(
    'DNS_CANARY',
    text,
    'The name that is asked for when a message meets DNS trouble: where no DNS server answers for it either, the trouble is ours and the message is deferred. Without it our own name.',
  ),
  domainRecheckMinutes: setting(
    'DOMAIN_RECHECK_MINUTES',
    whole(1, 7 * 24 * 60),
    '60',
    'How often DNS is asked again about a domain of which nothing changes, in minutes; sooner while something does.',
  ),
  dkimRotateDays: setting(
    'DKIM_ROTATE_DAYS',
    whole(0, 3650),
    '0',
    'The age at which a DKIM key is followed by another, in days; 0: only by `./mailroom domain rotate-dkim`. Where Mailroom does not publish the records of a domain itself, somebody has to.',
  ),
  dnsZone: optional(
    'DNS_ZONE',
    oneOf('cloudflare', 'powerdns', 'local'),
    'Where records are published for domains: the zones of a Cloudflare account or of a PowerDNS server; `local` is a zone in the database for names below `.test`. Without it nowhere.',
  ),
  cloudflareToken: optional(
    'CLOUDFLARE_TOKEN',
    text,
    'The API token for `cloudflare`, with the permissions Zone Read and DNS Edit for the zones that Mailroom may change, and no more.',
  ),
  powerDnsUrl: optional(
    'POWERDNS_URL',
    url('http:', 'https:'),
    'Where the HTTP API of PowerDNS (4.7 or later) is reached, without `/api/v1`. Its storage must keep comments, as the SQL backends do.',
  ),
  powerDnsKey: optional('POWERDNS_KEY', text, 'The API key (`api-key`) of that PowerDNS.'),

  clamd: setting('CLAMD', clamd, 'unix:/run/clamav/clamd.ctl', 'Where clamd listens.'),
  scanTimeoutSeconds: setting(
    'SCAN_TIMEOUT_SECONDS',
    seconds(600),
    '60',
    'How long clamd may take for one message, in seconds.',
  ),
  scanWaitSeconds: setting(
    'SCAN_WAIT_SECONDS',
    whole(0, 100),
    '10',
    'How long a message waits for a scanner that is away, in seconds.',
  ),
  scansAtOnce: setting('SCANS_AT_ONCE', whole(1, 256), '8', 'Scans at once; fewer than MaxThreads of clamd.'),
  unscanned: setting(
    'UNSCANNED',
    oneOf('quarantine', 'defer'),
    'quarantine',
    'What becomes of mail that cannot be scanned: kept in quarantine until a later scan releases it, or answered 451.',
  ),

  provider: setting('PROVIDER', oneOf('smarthost', 'ses', 'sandbox'), 'smarthost', 'Who delivers outbound mail.'),
  smarthostUrls: optional(
    'SMARTHOST_URL',
    urls('smtp:', 'smtps:'),
    'The relay: `smtp://user:password@host:port` (STARTTLS where offered, required with a password) or `smtps://…`. Several with commas between: the first is used, and the next while it is in trouble.',
  ),
  smarthostPreset: setting(
    'SMARTHOST_PRESET',
    oneOf('postfix', 'postmark', 'mailgun', 'sendgrid', 'brevo', 'none'),
    'postfix',
    'Whose relay that is: what it keeps of a message, and how it tells what became of it. `postfix`: any that keeps the envelope sender; `none`: nothing is known of it, and a status ends at `sent`.',
  ),
  smarthostConnections: setting('SMARTHOST_CONNECTIONS', whole(1, 200), '10', 'Connections to the relay at once.'),
  smarthostRatePerSecond: optional(
    'SMARTHOST_RATE_PER_SECOND',
    whole(1, 10_000),
    'Submissions a second to the relay, at most, from this process; without it there is no limit.',
  ),
  smarthostDsnSuccess: setting(
    'SMARTHOST_DSN_SUCCESS',
    flag,
    'false',
    'Ask the relay for notifications of deliveries too (RFC 3461), not of failures and delays alone.',
  ),
  postmarkToken: optional(
    'POSTMARK_TOKEN',
    text,
    'The secret in the URL of Postmark’s webhooks, `https://mailroom:TOKEN@…/provider/postmark/events`.',
  ),
  mailgunSigningKey: optional(
    'MAILGUN_SIGNING_KEY',
    text,
    'Mailgun’s HTTP webhook signing key; its webhooks go to `/provider/mailgun/events`.',
  ),
  sendgridPublicKey: optional(
    'SENDGRID_PUBLIC_KEY',
    publicKey,
    'The verification key of SendGrid’s signed event webhook, which goes to `/provider/sendgrid/events`.',
  ),
  brevoToken: optional(
    'BREVO_TOKEN',
    text,
    'The token that Brevo’s transactional webhooks carry (`Authorization: Bearer`) to `/provider/brevo/events`.',
  ),
  sesRegion: optional(
    'SES_REGION',
    matching(/^[a-z]{2}(-[a-z]+)+-\d$/, 'a region of AWS such as `eu-central-1`'),
    'The region of Amazon SES for `ses`. The credentials are those that AWS’s own tools would find: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, a profile, or the role of the machine.',
  ),
  sesConfigurationSet: optional(
    'SES_CONFIGURATION_SET',
    matching(/^[\w-]{1,64}$/, 'a name of letters, digits, `-` and `_`'),
    'The configuration set of SES that what is sent belongs to: its event destination brings the news.',
  ),
  sesTopicArn: optional(
    'SES_TOPIC_ARN',
    matching(
      /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/,
      'an ARN such as `arn:aws:sns:eu-central-1:123456789012:mail`',
    ),
    'The topic of SNS that the configuration set publishes to, subscribed by HTTPS at `/provider/ses/events` with raw message delivery off; the subscription is confirmed by itself. Only what this topic signs is taken.',
  ),
  sesQueueUrl: optional(
    'SES_QUEUE_URL',
    url('http:', 'https:'),
    'The queue of SQS that such a topic fills, instead of HTTPS: no news is lost while Mailroom is away. The relay reads it.',
  ),
  sesRatePerSecond: optional(
    'SES_RATE_PER_SECOND',
    whole(1, 10_000),
    'Submissions a second to SES, at most, from this process; the maximum send rate of the account, shared among processes.',
  ),
  sesEndpoint: optional(
    'SES_ENDPOINT',
    url('http:', 'https:'),
    'Where SES is reached, for a VPC endpoint or a trial; without it where the region has it.',
  ),
  unconfirmedHours: setting(
    'UNCONFIRMED_HOURS',
    whole(1, 720),
    '24',
    'After how many hours without news an email that is `sent` is shown as unconfirmed.',
  ),
  spfInclude: optional(
    'SPF_INCLUDE',
    text,
    'The name that domains include in their SPF record for the relay, such as `spf.relay.example`.',
  ),
  relayAttemptSeconds: setting(
    'RELAY_ATTEMPT_SECONDS',
    seconds(600),
    '120',
    'The longest for one submission to the relay, in seconds.',
  ),
  pauseBounceRate: setting(
    'PAUSE_BOUNCE_RATE',
    percent,
    '0',
    'Sending of a brand is paused once more of its emails than this, in percent, bounce for good because of their recipients; 0: never. `./mailroom brand resume` ends it.',
  ),
  pauseComplaintRate: setting(
    'PAUSE_COMPLAINT_RATE',
    percent,
    '0',
    'The same for emails that are complained of, in percent; 0: never.',
  ),
  pauseLeastEmails: setting(
    'PAUSE_LEAST_EMAILS',
    whole(1, 1_000_000_000),
    '500',
    'Emails of a brand below which these rates say nothing.',
  ),
  pauseWindowHours: setting(
    'PAUSE_WINDOW_HOURS',
    whole(1, 24 * 30),
    '24',
    'The time over which these rates are counted, in hours.',
  ),
  retryFirstSeconds: setting(
    'RETRY_FIRST_SECONDS',
    seconds(3600),
    '60',
    'The wait before the second attempt, in seconds; it doubles, up to four hours.',
  ),

  logLevel: setting(
    'LOG_LEVEL',
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
    'info',
    'The least that is logged.',
  ),
} as const satisfies Record<string, Setting<unknown>>

/** Everything that an operator sets, read once. */
export type Config = {
  readonly [Name in keyof typeof settings]: (typeof settings)[Name] extends Setting<infer Value> ? Value : never
}

/** The configuration cannot be used; the message says which key, what it holds and what was expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/**
 * The configuration that `env` gives. Keys that do not start with `MAILROOM_` are not looked at.
 * @throws ConfigError at the first key that is unknown or malformed.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const known = new Set<string>(Object.values(settings).map(each => each.key))
  const unknown = Object.keys(env).find(
    key => key.startsWith('MAILROOM_') && !known.has(key) && !key.startsWith('MAILROOM_TEST_'),
  )
  if (unknown) throw new ConfigError(`${unknown} is not a setting of Mailroom; the README lists them.`)
  const values = Object.entries(settings).map(([name, each]: [string, Setting<unknown>]) => {
    const given = env[each.key] || each.fallback
    const value = given === undefined ? undefined : each.read(given)
    if (given !== undefined && value === undefined)
      throw new ConfigError(`${each.key} is "${each.isSecret ? '…' : hidePassword(given)}"; expected ${each.expected}.`)
    return [name, value]
  })
  const config = Object.fromEntries(values) as Config
  if (config.provider === 'smarthost' && config.roles.includes('relay') && !config.smarthostUrls)
    throw new ConfigError('MAILROOM_SMARTHOST_URL is absent; the relay needs it (or set MAILROOM_PROVIDER=sandbox).')
  if (config.provider === 'ses' && config.sesRegion === undefined)
    throw new ConfigError('MAILROOM_SES_REGION is absent; MAILROOM_PROVIDER=ses needs it.')
  if ((config.sesTopicArn ?? config.sesQueueUrl) !== undefined && config.sesConfigurationSet === undefined)
    throw new ConfigError(
      'MAILROOM_SES_CONFIGURATION_SET is absent; MAILROOM_SES_TOPIC_ARN and MAILROOM_SES_QUEUE_URL need it.',
    )
  if (config.sesQueueUrl !== undefined && config.sesRegion === undefined)
    throw new ConfigError('MAILROOM_SES_REGION is absent; MAILROOM_SES_QUEUE_URL needs it.')
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined))
    throw new ConfigError('MAILROOM_TLS_CERT and MAILROOM_TLS_KEY go together; one is absent.')
  if (config.dnsZone === 'cloudflare' && config.cloudflareToken === undefined)
    throw new ConfigError('MAILROOM_CLOUDFLARE_TOKEN is absent; MAILROOM_DNS_ZONE=cloudflare needs it.')
  if (config.dnsZone === 'powerdns' && (config.powerDnsUrl === undefined || config.powerDnsKey === undefined))
    throw new ConfigError(
      'MAILROOM_DNS_ZONE=powerdns needs MAILROOM_POWERDNS_URL and MAILROOM_POWERDNS_KEY; one is absent.',
    )
  return config
}

function hidePassword(value: string): string {
  return value.replace(/:[^:@/]+@/g, ':…@')
}

/** The settings as rows of a Markdown table, for the README. */
export function settingsTable(): string {
  const rows = Object.values(settings).map(
    each =>
      `| \`${each.key}\` | ${each.fallback === undefined ? '' : each.key === 'MAILROOM_HOSTNAME' ? 'the machine’s name' : `\`${each.fallback}\``} | ${each.meaning} |`,
  )
  return ['| Key | Default | Meaning |', '|---|---|---|', ...rows].join('\n')
}
