import { createPublicKey, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import { readSecretKeys, type Secrets, secretsOf } from '../secrets/secrets.ts'

/** One `MAILROOM_*` key: how it is read, what it means, and what holds when it is absent. */
export interface Setting<Value> {
  readonly key: string
  /** What it means, with its unit, in one sentence. */
  readonly description: string
  /** What a right value looks like, for the sentence that refuses a wrong one. */
  readonly expected: string
  /** As it would be written; undefined: there is none. */
  readonly defaultText: string | undefined
  /** The value, or undefined when the text is not a right one. */
  readonly parse: (text: string) => Value | undefined
  /** Is it never shown? */
  readonly isSecret?: true
}

type SettingParser<Value> = Pick<Setting<Value>, 'expected' | 'parse' | 'isSecret'>

export function setting<Value>(
  key: string,
  kind: SettingParser<Value>,
  fallback: string,
  meaning: string,
): Setting<Value> {
  return { key: `MAILROOM_${key}`, description: meaning, defaultText: fallback, ...kind }
}

export function optional<Value>(key: string, kind: SettingParser<Value>, meaning: string): Setting<Value | undefined> {
  return { key: `MAILROOM_${key}`, description: meaning, defaultText: undefined, ...kind }
}

export const text: SettingParser<string> = { expected: 'some text', parse: value => value || undefined }

export const matching = (form: RegExp, expected: string): SettingParser<string> => ({
  expected,
  parse: value => (form.test(value) ? value : undefined),
})

export const flag: SettingParser<boolean> = {
  expected: '`true` or `false`',
  parse: value => (value === 'true' ? true : value === 'false' ? false : undefined),
}

export const integer = (least: number, most: number): SettingParser<number> => ({
  expected: `a whole number from ${least} to ${most}`,
  parse: value => {
    const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
    return number >= least && number <= most ? number : undefined
  },
})

export const oneOf = <const Choice extends string>(...choices: Choice[]): SettingParser<Choice> => ({
  expected: choices.map(choice => `\`${choice}\``).join(' or '),
  parse: value => choices.find(choice => choice === value),
})

export const severalOf = <const Choice extends string>(...choices: Choice[]): SettingParser<readonly Choice[]> => ({
  expected: `one or more of ${choices.map(choice => `\`${choice}\``).join(', ')}, with commas between`,
  parse: value => {
    const found = value.split(',').map(part => choices.find(choice => choice === part.trim()))
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

export const endpoint: SettingParser<Endpoint> = {
  expected: '`host:port` (an IPv6 address in brackets; port 0 takes a free one)',
  parse: value => readEndpoint(value),
}

export const endpoints = (defaultPort: number): SettingParser<readonly Endpoint[]> => ({
  expected: `\`ip:port\` (port ${defaultPort} unless given), several with commas between`,
  parse: value => {
    const found = value.split(',').map(part => readEndpoint(part.trim(), defaultPort))
    return found.every(each => each !== undefined) ? found : undefined
  },
})

export const networks: SettingParser<readonly string[]> = {
  expected: 'an IP address or a network such as `10.0.0.0/8`, several with commas between',
  parse: value => {
    const found = value.split(',').map(part => part.trim())
    return found.every(isNetwork) ? found : undefined
  },
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const mostBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return more.length === 0 && (bits === undefined ? mostBits > 0 : /^\d{1,3}$/.test(bits) && Number(bits) <= mostBits)
}

export const url = (...protocols: string[]): SettingParser<string> => ({
  expected: `an address that starts with ${protocols.map(protocol => `\`${protocol}//\``).join(' or ')}`,
  parse: value => (URL.canParse(value) && protocols.includes(new URL(value).protocol) ? value : undefined),
})

export const urls = (...protocols: string[]): SettingParser<readonly string[]> => {
  const one = url(...protocols)
  return {
    expected: `${one.expected}, several with commas between`,
    parse: value => {
      const found = value.split(',').map(part => one.parse(part.trim()))
      return found.every(each => each !== undefined) ? found : undefined
    },
  }
}

/** A key as base64 of its DER form, as SendGrid shows it. */
export const publicKey: SettingParser<KeyObject> = {
  expected: 'a public key in base64 (DER), of an elliptic curve',
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
  expected: 'origins such as `https://app.example.com`, with commas between',
  parse: value => {
    const found = value.split(',').map(part => part.trim())
    return found.every(value => URL.parse(value)?.origin === value.toLowerCase()) ? found : undefined
  },
}

/** How clamd is reached. */
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
  expected: '32 bytes in base64, as `openssl rand -base64 32` gives them, several with commas between',
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

export const seconds = (most: number) => integer(1, most)
export const MiB = 1024 * 1024
