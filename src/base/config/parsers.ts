import { createPublicKey, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import { readSecretKeys, type Secrets, secretsOf } from '../secrets/secrets.ts'

/** One `MAILROOM_*` environment variable: its meaning, its parser and its default. */
export interface Setting<Value> {
  readonly key: string
  /** Its meaning, with its unit, for docs/settings.md. */
  readonly description: string
  /** Describes a valid value, for the error message of an invalid one. */
  readonly expected: string
  /** The default, as an operator would write it; undefined: there is none. */
  readonly defaultText: string | undefined
  /** The value, or undefined when the text is invalid. */
  readonly parse: (text: string) => Value | undefined
  /** Its value is never shown. */
  readonly isSecret?: true
}

type SettingParser<Value> = Pick<Setting<Value>, 'expected' | 'parse' | 'isSecret'>

export function setting<Value>(
  key: string,
  parser: SettingParser<Value>,
  defaultText: string,
  description: string,
): Setting<Value> {
  return { key: `MAILROOM_${key}`, description, defaultText, ...parser }
}

export function optional<Value>(
  key: string,
  parser: SettingParser<Value>,
  description: string,
): Setting<Value | undefined> {
  return { key: `MAILROOM_${key}`, description, defaultText: undefined, ...parser }
}

export const text: SettingParser<string> = { expected: 'some text', parse: value => value || undefined }

/** Text that is never shown. */
export const secretText: SettingParser<string> = { ...text, isSecret: true }

export const matching = (pattern: RegExp, expected: string): SettingParser<string> => ({
  expected,
  parse: value => (pattern.test(value) ? value : undefined),
})

export const flag: SettingParser<boolean> = {
  expected: '`true` or `false`',
  parse: value => (value === 'true' ? true : value === 'false' ? false : undefined),
}

export const integer = (min: number, max: number): SettingParser<number> => ({
  expected: `a whole number from ${min} to ${max}`,
  parse: value => {
    const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
    return number >= min && number <= max ? number : undefined
  },
})

export const oneOf = <const Choice extends string>(...choices: Choice[]): SettingParser<Choice> => ({
  expected: choices.map(choice => `\`${choice}\``).join(' or '),
  parse: value => choices.find(choice => choice === value),
})

export const severalOf = <const Choice extends string>(...choices: Choice[]): SettingParser<readonly Choice[]> => ({
  expected: `one or more of ${choices.map(choice => `\`${choice}\``).join(', ')}, separated by commas`,
  parse: value => {
    const found = value.split(',').map(part => choices.find(choice => choice === part.trim()))
    return found.every(each => each !== undefined) ? [...new Set(found)] : undefined
  },
})

/** A host and port to listen on or to connect to. */
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

export const endpoint: SettingParser<Endpoint> = {
  expected: '`host:port` (an IPv6 address in brackets; port 0 picks a free one)',
  parse: value => readEndpoint(value),
}

export const endpoints = (defaultPort: number): SettingParser<readonly Endpoint[]> => ({
  expected: `\`ip:port\` (port ${defaultPort} unless given), several separated by commas`,
  parse: value => {
    const found = value.split(',').map(part => readEndpoint(part.trim(), defaultPort))
    return found.every(each => each !== undefined) ? found : undefined
  },
})

export const networks: SettingParser<readonly string[]> = {
  expected: 'an IP address or a network such as `10.0.0.0/8`, several separated by commas',
  parse: value => {
    const found = value.split(',').map(part => part.trim())
    return found.every(isNetwork) ? found : undefined
  },
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return more.length === 0 && (bits === undefined ? maxBits > 0 : /^\d{1,3}$/.test(bits) && Number(bits) <= maxBits)
}

export const url = (...protocols: string[]): SettingParser<string> => ({
  expected: `a URL that starts with ${protocols.map(protocol => `\`${protocol}//\``).join(' or ')}`,
  parse: value => (URL.canParse(value) && protocols.includes(new URL(value).protocol) ? value : undefined),
})

export const urls = (...protocols: string[]): SettingParser<readonly string[]> => {
  const one = url(...protocols)
  return {
    expected: `${one.expected}, several separated by commas`,
    parse: value => {
      const found = value.split(',').map(part => one.parse(part.trim()))
      return found.every(each => each !== undefined) ? found : undefined
    },
  }
}

/** A public key as SendGrid shows it: base64 of its DER encoding. */
export const publicKey: SettingParser<KeyObject> = {
  expected: 'an elliptic curve public key in base64 (DER)',
  parse: value => {
    try {
      const key = createPublicKey({ key: Buffer.from(value, 'base64'), format: 'der', type: 'spki' })
      return key.asymmetricKeyType === 'ec' ? key : undefined
    } catch {
      return undefined
    }
  },
}

export const origins: SettingParser<readonly string[]> = {
  expected: 'origins such as `https://app.example.com`, separated by commas',
  parse: value => {
    const found = value.split(',').map(part => part.trim())
    return found.every(value => URL.parse(value)?.origin === value.toLowerCase()) ? found : undefined
  },
}

/** Where clamd listens. */
export type ClamdAddress = { readonly kind: 'unix'; readonly path: string } | ({ readonly kind: 'tcp' } & Endpoint)

export const clamd: SettingParser<ClamdAddress> = {
  expected: '`unix:/path` or `tcp:host:port`',
  parse: value => {
    if (value.startsWith('unix:/')) return { kind: 'unix', path: value.slice(5) }
    const tcp = value.startsWith('tcp:') ? readEndpoint(value.slice(4)) : undefined
    return tcp && { kind: 'tcp', ...tcp }
  },
}

export const secretKeys: SettingParser<Secrets> = {
  expected: '32 bytes in base64, as from `openssl rand -base64 32`, several separated by commas',
  isSecret: true,
  parse: value => {
    const keys = readSecretKeys(value)
    return keys && secretsOf(keys)
  },
}

export const percent: SettingParser<number> = {
  expected: 'a percentage from 0 to 100, such as `0.1`',
  parse: value => (/^\d{1,3}(\.\d{1,3})?$/.test(value) && Number(value) <= 100 ? Number(value) : undefined),
}

export const seconds = (max: number) => integer(1, max)
export const MiB = 1024 * 1024
