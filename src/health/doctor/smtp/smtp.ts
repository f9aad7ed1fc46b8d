import { isIP } from 'node:net'
import { dayMs, plusMs } from '../../../base/clock.ts'
import { reverseName } from '../../../ports/resolver/client-name.ts'
import { isPrivateAddress, resolveAddresses } from '../addresses.ts'
import type { DoctorCheck, DoctorDeps } from '../check.ts'
import { clientAddressesCheck } from '../client-addresses.ts'
import { maxRecentMessages, type RecentClient, selectRecentClients } from '../client-addresses-table.ts'
import { combineFindings, error, type Finding, note, ok, skipped, warning } from '../finding.ts'
import { fetchGreeting } from './greeting.ts'

const greetMs = 7000
const weekMs = 7 * dayMs

const hostnameCheck: DoctorCheck = {
  name: 'hostname',
  area: 'smtp',
  async run({ config, resolver }) {
    const { hostname } = config
    if (isIP(hostname) !== 0 || !hostname.includes('.') || hostname.endsWith('.localdomain'))
      return error(
        `MAILROOM_HOSTNAME is ${hostname}, which is not a public host name`,
        'Set it to the DNS name of this machine, such as mail.example.com: other servers see it, and bounces come to it.',
      )
    const { addresses, failed } = await resolveAddresses(resolver, hostname)
    if (addresses.length === 0 && failed !== null)
      return warning(`${hostname} could not be looked up: ${failed}`, 'Fix the resolver first.')
    if (addresses.length === 0)
      return error(
        `${hostname} has no address in DNS`,
        `Publish an A record (and AAAA, where there is IPv6) for ${hostname} with the address of this machine.`,
      )
    if (addresses.every(isPrivateAddress))
      return error(
        `${hostname} resolves to ${addresses.join(', ')}, which cannot be reached from the Internet`,
        `Publish the public address of this machine for ${hostname}. If only the local resolver gives a private address (split DNS), set MAILROOM_RESOLVERS to public resolvers.`,
      )
    return ok(`${hostname} resolves to ${addresses.join(', ')}`)
  },
}

const reverseNameCheck: DoctorCheck = {
  name: 'reverse_name',
  area: 'smtp',
  async run({ config, resolver }) {
    const { addresses } = await resolveAddresses(resolver, config.hostname)
    const findings = addresses.map(async address => {
      const answer = await resolver.resolve(reverseName(address), 'PTR', { bypassCache: true })
      if (answer.kind === 'failed') return skipped(`the PTR record of ${address} could not be looked up: ${answer.why}`)
      const names = answer.kind === 'found' ? answer.records : []
      if (names.includes(config.hostname.toLowerCase()))
        return ok(`the PTR record of ${address} is ${config.hostname}, the name in EHLO`)
      return warning(
        names.length === 0
          ? `${address} has no PTR record`
          : `the PTR record of ${address} is ${names.join(', ')}, and EHLO says ${config.hostname}`,
        `Ask your hosting provider to set the PTR record of ${address} to ${config.hostname}, or set MAILROOM_HOSTNAME to a name with matching forward and reverse DNS (FCrDNS): many servers distrust others.`,
      )
    })
    return addresses.length === 0
      ? skipped(`${config.hostname} has no address`)
      : combineFindings(await Promise.all(findings))
  },
}

const port25Check: DoctorCheck = {
  name: 'port_25',
  area: 'smtp',
  async run(deps) {
    const { config, resolver } = deps
    if (!config.roles.includes('smtp')) return skipped('this process does not receive mail (MAILROOM_ROLES)')
    const { addresses } = await resolveAddresses(resolver, config.hostname)
    if (addresses.length === 0) return skipped(`${config.hostname} has no address`)
    return combineFindings(await Promise.all(addresses.map(address => checkReachable(deps, address))))
  },
}

async function checkReachable(deps: DoctorDeps, address: string): Promise<Finding> {
  const { publicSmtpPort } = deps
  const { hostname } = deps.config
  const at = `${address} port ${publicSmtpPort}`
  const greeting = await fetchGreeting(address, publicSmtpPort, hostname, greetMs).catch((thrown: Error) => thrown)
  if (greeting instanceof Error) {
    const seen = `${at} cannot be reached from here: ${greeting.message}`
    if (await hasRecentPublicMail(deps))
      return note(
        seen,
        'Nothing, most likely: mail came from other networks within a week, so only this machine cannot reach its own public address (hairpin NAT).',
      )
    return warning(
      seen,
      `Open TCP port 25 in the firewall and at your hosting provider, forward it to MAILROOM_SMTP_LISTEN, and check that Mailroom is running. Behind NAT a machine may not reach its own public address: then try from elsewhere with nc ${hostname} 25.`,
    )
  }
  if (greeting.banner.slice(4).toLowerCase().split(' ')[0] === hostname.toLowerCase())
    return ok(`${at} greets as ${hostname}`)
  return error(
    `another server answers at ${at}: ${greeting.banner.slice(0, 120)}`,
    'That server gets your mail. Stop it (postfix or exim on this machine?), or forward port 25 to Mailroom.',
  )
}

/** Has mail come from a public address within a week? */
async function hasRecentPublicMail({ db, clock }: DoctorDeps): Promise<boolean> {
  const since = plusMs(clock.now(), -weekMs)
  const clients = await selectRecentClients(db, maxRecentMessages).catch((): readonly RecentClient[] => [])
  return clients.some(client => client.received_at > since && !isPrivateAddress(client.remote_ip))
}

export const smtpChecks: readonly DoctorCheck[] = [hostnameCheck, reverseNameCheck, port25Check, clientAddressesCheck]
