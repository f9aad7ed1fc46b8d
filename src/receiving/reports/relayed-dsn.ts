import type { Report, ReportedRecipient } from '../../mail/reports/report.ts'
import type { Resolver } from '../../ports/resolver/port.ts'
import { findExchanger } from '../../sending/reports/mail-exchangers.ts'

/** The server that a report says a message was relayed to. */
export interface RelayTarget {
  /** The recipient's domain. */
  readonly domain: string
  /** Its name, if DNS lists it as a mail exchanger of that domain; else null. */
  readonly exchanger: string | null
}

/** The time for all DNS lookups about one report, in milliseconds. */
const lookupTimeoutMs = 5000
const maxLookups = 10

/**
 * Looks up which servers accepted relayed messages: `delivered` is only what the recipient's own mail exchanger accepted. What
 * DNS does not tell in time, or in ten lookups, stays unknown. Not to be called in a transaction.
 */
export async function findRelayTargets(
  resolver: Resolver,
  relayed: readonly { readonly recipient: string; readonly reported: ReportedRecipient }[],
  { reportingMta }: Pick<Report, 'reportingMta'>,
  signal: AbortSignal,
): Promise<readonly RelayTarget[]> {
  const giveUp = AbortSignal.any([signal, AbortSignal.timeout(lookupTimeoutMs)])
  const lookups = new Map<string, Promise<string | null>>()
  return await Promise.all(
    relayed.map(async ({ recipient, reported }) => {
      const domain = domainOf(recipient)
      const servers = [reported.remoteMta, reportingMta].filter(server => server !== null)
      const key = [domain, ...servers].join(' ')
      if (!lookups.has(key) && lookups.size < maxLookups)
        lookups.set(key, findExchanger(resolver, domain, servers, giveUp))
      return { domain, exchanger: (await lookups.get(key)) ?? null }
    }),
  )
}

/** The domain of an address, lower case. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}

/** The detail of the event: which server accepted the message, and whether it is a mail exchanger of the recipient. */
export function relayedDetail(
  { domain, exchanger }: RelayTarget,
  { remoteMta, diagnostic }: ReportedRecipient,
  reportingMta: string | null,
): string {
  const relayed =
    remoteMta === null ? `Relayed by ${reportingMta ?? 'a server without a name'}` : `Relayed to ${remoteMta}`
  const statement =
    exchanger === null
      ? `${relayed}, which is not known as a mail exchanger of ${domain}`
      : `Accepted by ${exchanger}, a mail exchanger of ${domain}`
  return diagnostic === null ? `${statement}.` : `${statement}: ${diagnostic}`
}
