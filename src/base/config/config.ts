import { readFileSync } from 'node:fs'
import type { Setting } from './parsers.ts'
import { settings } from './settings.ts'

export type { ClamdAddress, Endpoint } from './parsers.ts'

/** Everything that an operator sets, read once. */
export type Config = {
  readonly [Name in keyof typeof settings]: (typeof settings)[Name] extends Setting<infer Value> ? Value : never
}

/** The configuration cannot be used; the message says which key, what it holds and what was expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

type Env = Readonly<Record<string, string | undefined>>

const fileSuffix = '_FILE'

/** What a key holds, as text: in `env` itself, or in the file that `<key>_FILE` names, without the line ends after it. */
export function readEnvValue(env: Env, key: string): string | undefined {
  const path = env[`${key}${fileSuffix}`]
  if (!path) return env[key] || undefined
  if (env[key]) throw new ConfigError(`${key} and ${key}${fileSuffix} are both set; keep one of them.`)
  try {
    return readFileSync(path, 'utf8').replace(/[\r\n]+$/, '') || undefined
  } catch (error) {
    throw new ConfigError(
      `${key}${fileSuffix} is "${path}"; expected a file that can be read (${(error as Error).message}).`,
    )
  }
}

/**
 * The configuration that `env` gives. Keys that do not start with `MAILROOM_` are not looked at; any key may end in `_FILE`
 * and then names a file that holds the value, as container and service managers hand over secrets.
 * @throws ConfigError at the first key that is unknown or malformed, or whose file cannot be read.
 */
export function readConfig(env: Env): Config {
  const known = new Set<string>(Object.values(settings).map(each => each.key))
  const unknown = Object.keys(env).find(
    key => key.startsWith('MAILROOM_') && !known.has(key.replace(/_FILE$/, '')) && !key.startsWith('MAILROOM_TEST_'),
  )
  if (unknown) throw new ConfigError(`${unknown} is not a setting of Mailroom; docs/settings.md lists them.`)
  const values = Object.entries(settings).map(([name, each]: [string, Setting<unknown>]) => {
    const text = readEnvValue(env, each.key) ?? each.defaultText
    const value = text === undefined ? undefined : each.parse(text)
    if (text !== undefined && value === undefined)
      throw new ConfigError(`${each.key} is "${each.isSecret ? '…' : hidePassword(text)}"; expected ${each.expected}.`)
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
  if (config.acmeDirectory !== undefined && !config.acmeAcceptTerms)
    throw new ConfigError(
      'MAILROOM_ACME_ACCEPT_TERMS is false; MAILROOM_ACME_DIRECTORY needs your word that you agree to the terms of service of that authority.',
    )
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

/** The reference of all settings as a Markdown document: docs/settings.md. */
export function settingsDocument(): string {
  const rows = Object.values(settings).map(
    ({ key, defaultText, description }) =>
      `| \`${key}\` | ${key === 'MAILROOM_HOSTNAME' ? 'the machine’s name' : defaultText === undefined ? '' : `\`${defaultText}\``} | ${description} |`,
  )
  return `${settingsIntroduction}\n| Key | Default | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`
}

const settingsIntroduction = `# Settings

<!-- Generated from src/base/config/settings.ts by \`bun test/harness/write-settings.ts\`. -->

Every setting is an environment variable. An unknown or malformed one stops the start with a message. A variable with \`_FILE\` after its name gives a file that holds the value: \`MAILROOM_DATABASE_URL_FILE=/run/secrets/database_url\`.
`
