import type { Report, ReportedRecipient } from '../../mail/reports/report.ts'
import type { Resolver } from '../../ports/resolver/port.ts'
import { findExchanger } from '../../sending/reports/mail-exchangers.ts'

/** To whom a report says that a message was relayed, as far as DNS knows them. */
export interface RelayTarget {
  /** The recipient's domain. */
  readonly domain: string
  /** What took the message and is a mail exchanger of that domain; null: nothing that is known as one. */
  readonly exchanger: string | null
}

/** How long DNS is asked about one report, in milliseconds. */
const lookupTimeoutMs = 5000
const maxQuestions = 10

/**
 * Finds out who took a message that was relayed on: `delivered` is only what the recipient's own mail exchanger took. What
 * DNS does not say in time, or beyond ten questions, stays unknown. Not to be called in a transaction.
 */
export async function findRelayTargets(
  resolver: Resolver,
  relayed: readonly { readonly recipient: string; readonly said: ReportedRecipient }[],
  { reportingMta }: Pick<Report, 'reportingMta'>,
  signal: AbortSignal,
): Promise<readonly RelayTarget[]> {
  const isOver = AbortSignal.any([signal, AbortSignal.timeout(lookupTimeoutMs)])
  const asked = new Map<string, Promise<string | null>>()
  return await Promise.all(
    relayed.map(async ({ recipient, said }) => {
      const domain = domainOf(recipient)
      const servers = [said.remoteMta, reportingMta].filter(each => each !== null)
      const question = [domain, ...servers].join(' ')
      if (!asked.has(question) && asked.size < maxQuestions)
        asked.set(question, findExchanger(resolver, domain, servers, isOver))
      return { domain, exchanger: (await asked.get(question)) ?? null }
    }),
  )
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}

/** What a report of a relayed message comes to, in words: who took it, and what they are. */
export function relayedDetail(
  { domain, exchanger }: RelayTarget,
  { remoteMta, diagnostic }: ReportedRecipient,
  reportingMta: string | null,
): string {
  const by = remoteMta === null ? `Relayed by ${reportingMta ?? 'a server without a name'}` : `Relayed to ${remoteMta}`
  const who =
    exchanger === null
      ? `${by}, which is not known as a mail exchanger of ${domain}`
      : `Taken by ${exchanger}, a mail exchanger of ${domain}`
  return diagnostic === null ? `${who}.` : `${who}: ${diagnostic}`
}
