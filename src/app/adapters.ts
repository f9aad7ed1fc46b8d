import { join } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Config } from '../base/config/config.ts'
import type { Database, Db } from '../base/database/database.ts'
import { cloudflareZones } from '../ports/dns-zone/cloudflare/cloudflare.ts'
import { localZone } from '../ports/dns-zone/local/local.ts'
import type { DnsProvider } from '../ports/dns-zone/port.ts'
import { powerDnsZones } from '../ports/dns-zone/powerdns/powerdns.ts'
import { databaseZoneLock } from '../ports/dns-zone/powerdns/zone-lock.ts'
import type { Provider } from '../ports/provider/port.ts'
import { sandboxProvider, storeInFolder } from '../ports/provider/sandbox.ts'
import { fetchText } from '../ports/provider/ses/fetch-text.ts'
import { sesProvider } from '../ports/provider/ses/ses.ts'
import { snsWebhook } from '../ports/provider/ses/sns-webhook.ts'
import { presetOf } from '../ports/provider/smarthost/presets.ts'
import { smarthostProvider } from '../ports/provider/smarthost/smarthost.ts'
import { brevoWebhook } from '../ports/provider/webhooks/brevo.ts'
import { mailgunWebhook } from '../ports/provider/webhooks/mailgun.ts'
import { postmarkWebhook } from '../ports/provider/webhooks/postmark.ts'
import { sendgridWebhook } from '../ports/provider/webhooks/sendgrid.ts'
import type { ProviderWebhook } from '../ports/provider/webhooks/webhook.ts'
import { localResolver } from '../ports/resolver/local/local.ts'
import { networkResolver } from '../ports/resolver/network/network.ts'
import { systemServers } from '../ports/resolver/network/system-servers.ts'
import type { Resolver } from '../ports/resolver/port.ts'
import { clamdScanner } from '../ports/scanner/clamd.ts'
import type { Scanner } from '../ports/scanner/port.ts'
import type { SpamFilter } from '../ports/spam-filter/port.ts'
import { rspamdFilter } from '../ports/spam-filter/rspamd/rspamd.ts'

/** The adapters of the ports that all roles use. Tests start the app with others. */
export interface Adapters {
  readonly clock: Clock
  readonly resolver: (deps: { readonly database: Database }) => Resolver
  readonly scanner: Scanner
  /** null: received mail is checked by none. */
  readonly spamFilter: SpamFilter | null
  readonly provider: Provider
}

const maxSandboxFiles = 1000

/** The adapters that the configuration names. */
export function createAdapters(config: Config): Adapters {
  return {
    clock: systemClock,
    resolver: ({ database }) => {
      const servers = config.resolvers ?? systemServers()
      const network = networkResolver({ servers, timeoutMs: config.dnsTimeoutMs })
      return config.dnsZone === 'local' ? localResolver(database.db, network) : network
    },
    scanner: clamdScanner({
      address: config.clamd,
      timeoutMs: config.scanTimeoutSeconds * 1000,
      maxConcurrentScans: config.scansAtOnce,
    }),
    spamFilter: createSpamFilter(config),
    provider: createProvider(config),
  }
}

function createSpamFilter(config: Config): SpamFilter | null {
  const { rspamd: url, rspamdController: controller, rspamdPassword: password = null } = config
  if (url === undefined) return null
  return rspamdFilter({
    url,
    controller: controller === undefined ? null : { url: controller, password },
    timeoutMs: config.rspamdTimeoutSeconds * 1000,
    maxConcurrentChecks: config.rspamdChecksAtOnce,
    maxBytes: config.rspamdMaxBytes,
    hostname: config.hostname,
  })
}

function createProvider(config: Config): Provider {
  switch (config.provider) {
    case 'sandbox':
      return sandboxProvider({ store: storeInFolder(join(config.varFolder, 'sandbox'), maxSandboxFiles) })
    case 'smarthost':
      return smarthostProvider({
        // Only a process without the role relay starts without one, and that submits nothing.
        urls: config.smarthostUrls ?? ['smtp://127.0.0.1:25'],
        connections: config.smarthostConnections,
        perSecond: config.smarthostRatePerSecond ?? null,
        attemptTimeoutMs: config.relayAttemptSeconds * 1000,
        hostname: config.hostname,
        preset: presetOf(
          config.smarthostPreset,
          providerWebhooks(config).some(webhook => webhook.name === config.smarthostPreset),
        ),
        dsnSuccess: config.smarthostDsnSuccess,
      })
    case 'ses':
      return sesProvider({
        // readConfig requires one.
        region: config.sesRegion ?? '',
        configurationSet: config.sesConfigurationSet ?? null,
        perSecond: config.sesRatePerSecond ?? null,
        receivesEvents: (config.sesTopicArn ?? config.sesQueueUrl) !== undefined,
        endpoint: config.sesEndpoint,
      })
    default:
      return config.provider satisfies never
  }
}

/** The webhooks of all providers whose secret is configured, so that late events of a former provider are accepted too. */
export function providerWebhooks(config: Config): readonly ProviderWebhook[] {
  const { postmarkToken, mailgunSigningKey, sendgridPublicKey, brevoToken, sesTopicArn } = config
  return [
    ...(postmarkToken ? [postmarkWebhook(postmarkToken)] : []),
    ...(mailgunSigningKey ? [mailgunWebhook(mailgunSigningKey)] : []),
    ...(sendgridPublicKey ? [sendgridWebhook(sendgridPublicKey)] : []),
    ...(brevoToken ? [brevoWebhook(brevoToken)] : []),
    ...(sesTopicArn ? [snsWebhook({ topicArn: sesTopicArn, fetchText })] : []),
  ]
}

/** The DNS provider at which records are published; null: none is configured. */
export function createDnsProvider(config: Config, db: Db, clock: Clock): DnsProvider | null {
  const { dnsZone, cloudflareToken = '', powerDnsUrl = '', powerDnsKey = '' } = config
  switch (dnsZone) {
    case 'local':
      return localZone(db, clock)
    case 'cloudflare':
      return cloudflareZones({ token: cloudflareToken })
    case 'powerdns':
      return powerDnsZones({ url: powerDnsUrl, key: powerDnsKey, clock, zoneLock: databaseZoneLock(db, clock) })
    case undefined:
      return null
    default:
      return dnsZone satisfies never
  }
}
