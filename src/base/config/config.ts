import { readFileSync } from 'node:fs'
import type { Setting } from './parsers.ts'
import { settings } from './settings.ts'

export type { ClamdAddress, Endpoint } from './parsers.ts'

/** All settings, read once at the start. */
export type Config = {
  readonly [Name in keyof typeof settings]: (typeof settings)[Name] extends Setting<infer Value> ? Value : never
}

/** A setting is invalid; the message names it, its value and what was expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

type Env = Readonly<Record<string, string | undefined>>

const fileSuffix = '_FILE'

/** The text of a setting: from `env`, or from the file that `<key>_FILE` names, without line ends at its end. */
export function readEnvValue(env: Env, key: string): string | undefined {
  const path = env[`${key}${fileSuffix}`]
  if (!path) return env[key] || undefined
  if (env[key]) throw new ConfigError(`${key} and ${key}${fileSuffix} are both set; keep one of them.`)
  try {
    return readFileSync(path, 'utf8').replace(/[\r\n]+$/, '') || undefined
  } catch (error) {
    throw new ConfigError(`${key}${fileSuffix} is "${path}"; expected a readable file (${(error as Error).message}).`)
  }
}

/**
 * Reads the settings from environment variables. Variables that do not start with `MAILROOM_` are ignored; any variable may
 * end in `_FILE` and then names a file that holds the value, as container and service managers pass secrets.
 * @throws ConfigError for the first variable that is unknown or invalid, or whose file cannot be read
 */
export function readConfig(env: Env): Config {
  const keys = new Set<string>(Object.values(settings).map(setting => setting.key))
  const unknown = Object.keys(env).find(
    key => key.startsWith('MAILROOM_') && !keys.has(key.replace(/_FILE$/, '')) && !key.startsWith('MAILROOM_TEST_'),
  )
  if (unknown) throw new ConfigError(`${unknown} is not a setting of Mailroom; docs/settings.md lists them.`)
  const config = Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => [name, readSetting(env, setting)]),
  ) as Config
  const conflict = findConflict(config)
  if (conflict !== undefined) throw new ConfigError(conflict)
  return config
}

function readSetting(env: Env, setting: Setting<unknown>): unknown {
  const text = readEnvValue(env, setting.key) ?? setting.defaultText
  if (text === undefined) return undefined
  const value = setting.parse(text)
  if (value === undefined)
    throw new ConfigError(
      `${setting.key} is "${setting.isSecret ? '…' : hidePassword(text)}"; expected ${setting.expected}.`,
    )
  return value
}

/** What is missing in settings that need one another, as a sentence. */
function findConflict(config: Config): string | undefined {
  if (config.provider === 'smarthost' && config.roles.includes('relay') && !config.smarthostUrls)
    return 'MAILROOM_SMARTHOST_URL is absent; the role `relay` needs it (or set MAILROOM_PROVIDER=sandbox).'
  if (config.roles.every(role => role === 'submission') && !(config.submissionListen ?? config.submissionsListen))
    return 'MAILROOM_SUBMISSION_LISTEN and MAILROOM_SUBMISSIONS_LISTEN are absent; the role `submission` needs one of them.'
  if (config.provider === 'ses' && config.sesRegion === undefined)
    return 'MAILROOM_SES_REGION is absent; MAILROOM_PROVIDER=ses needs it.'
  if ((config.sesTopicArn ?? config.sesQueueUrl) !== undefined && config.sesConfigurationSet === undefined)
    return 'MAILROOM_SES_CONFIGURATION_SET is absent; MAILROOM_SES_TOPIC_ARN and MAILROOM_SES_QUEUE_URL need it.'
  if (config.sesQueueUrl !== undefined && config.sesRegion === undefined)
    return 'MAILROOM_SES_REGION is absent; MAILROOM_SES_QUEUE_URL needs it.'
  if (config.rspamd === undefined && (config.rspamdController ?? config.rspamdPassword) !== undefined)
    return 'MAILROOM_RSPAMD is absent; MAILROOM_RSPAMD_CONTROLLER and MAILROOM_RSPAMD_PASSWORD need it.'
  if (config.rspamdPassword !== undefined && config.rspamdController === undefined)
    return 'MAILROOM_RSPAMD_CONTROLLER is absent; MAILROOM_RSPAMD_PASSWORD needs it.'
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined))
    return 'MAILROOM_TLS_CERT and MAILROOM_TLS_KEY go together; one is absent.'
  if (config.acmeDirectory !== undefined && !config.acmeAcceptTerms)
    return 'MAILROOM_ACME_ACCEPT_TERMS is false; set it to true to accept the terms of service of the authority in MAILROOM_ACME_DIRECTORY.'
  if (config.dnsZone === 'cloudflare' && config.cloudflareToken === undefined)
    return 'MAILROOM_CLOUDFLARE_TOKEN is absent; MAILROOM_DNS_ZONE=cloudflare needs it.'
  if (config.dnsZone === 'powerdns' && (config.powerDnsUrl === undefined || config.powerDnsKey === undefined))
    return 'MAILROOM_DNS_ZONE=powerdns needs MAILROOM_POWERDNS_URL and MAILROOM_POWERDNS_KEY; one is absent.'
  return undefined
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

Every setting is an environment variable. An unknown or invalid one stops the start with an error message. A variable whose name ends in \`_FILE\` names a file that holds the value: \`MAILROOM_DATABASE_URL_FILE=/run/secrets/database_url\`.
`
