import { isIP } from 'node:net'
import { dayMs, plusMs } from '../../base/clock.ts'
import { isPrivateAddress, resolveAddresses, reverseName } from './addresses.ts'
import type { DoctorCheck, DoctorDeps } from './check.ts'
import { clientAddressesCheck } from './client-addresses.ts'
import { maxRecentMessages, type RecentClient, selectRecentClients } from './client-addresses-table.ts'
import { combineFindings, error, type Finding, note, ok, skipped, warning } from './finding.ts'
import { fetchGreeting } from './smtp-greeting.ts'

const greetMs = 7000
const weekMs = 7 * dayMs

const hostnameCheck: DoctorCheck = {
  name: 'hostname',
  area: 'smtp',
  async run({ config, resolver }) {
    const { hostname } = config
    if (isIP(hostname) !== 0 || !hostname.includes('.') || hostname.endsWith('.localdomain'))
      return error(
        `MAILROOM_HOSTNAME is ${hostname}, which is no name that the world knows`,
        'Set it to the name of this machine in DNS, such as mail.example.com: it is what other servers see, and where bounces come to.',
      )
    const { addresses, failed } = await resolveAddresses(resolver, hostname)
    if (addresses.length === 0 && failed !== null)
      return warning(`${hostname} cannot be asked for: ${failed}`, 'Mend the resolver first.')
    if (addresses.length === 0)
      return error(
        `${hostname} has no address in DNS`,
        `Publish an A record (and AAAA, where there is IPv6) for ${hostname} that leads here.`,
      )
    if (addresses.every(isPrivateAddress))
      return error(
        `${hostname} leads to ${addresses.join(', ')}, where the world cannot reach it`,
        `Publish the public address of this machine for ${hostname}; where only this resolver sees another one, MAILROOM_RESOLVERS names what the world asks.`,
      )
    return ok(`${hostname} leads to ${addresses.join(', ')}`)
  },
}

const reverseNameCheck: DoctorCheck = {
  name: 'reverse_name',
  area: 'smtp',
  async run({ config, resolver }) {
    const { addresses } = await resolveAddresses(resolver, config.hostname)
    const findings = addresses.map(async address => {
      const answer = await resolver.resolve(reverseName(address), 'PTR', { bypassCache: true })
      if (answer.kind === 'failed') return skipped(`the name of ${address} cannot be asked for: ${answer.why}`)
      const names = answer.kind === 'found' ? answer.records : []
      if (names.includes(config.hostname.toLowerCase()))
        return ok(`${address} is called ${config.hostname}, as in EHLO`)
      return warning(
        names.length === 0
          ? `${address} has no name in DNS (PTR)`
          : `${address} is called ${names.join(', ')} in DNS, and we say ${config.hostname}`,
        `Have whoever gave you ${address} set its PTR record to ${config.hostname}, or set MAILROOM_HOSTNAME to a name that leads both ways: servers distrust others.`,
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
  async run(parts) {
    const { config, resolver, publicSmtpPort } = parts
    if (!config.roles.includes('smtp')) return skipped('this process takes no mail (MAILROOM_ROLES)')
    const { addresses } = await resolveAddresses(resolver, config.hostname)
    if (addresses.length === 0) return skipped(`${config.hostname} has no address`)
    return combineFindings(await Promise.all(addresses.map(address => checkReachable(parts, address, publicSmtpPort))))
  },
}

async function checkReachable(parts: DoctorDeps, address: string, publicSmtpPort: number): Promise<Finding> {
  const { hostname } = parts.config
  const at = `${address} port ${publicSmtpPort}`
  const greeting = await fetchGreeting(address, publicSmtpPort, hostname, greetMs).catch((thrown: Error) => thrown)
  if (greeting instanceof Error) {
    const seen = `${at} cannot be reached from here: ${greeting.message}`
    if (await hasRecentPublicMail(parts))
      return note(
        seen,
        'Mail from other networks has come in within a week, so it is this machine alone that does not reach its own public address (hairpin NAT).',
      )
    return warning(
      seen,
      `Open TCP port 25 in the firewall and with your provider, publish or forward it to MAILROOM_SMTP_LISTEN, and see that Mailroom serves. Behind NAT a machine may not reach its own public address: then try from elsewhere, with nc ${hostname} 25.`,
    )
  }
  if (greeting.banner.slice(4).toLowerCase().split(' ')[0] === hostname.toLowerCase())
    return ok(`${at} greets as ${hostname}`)
  return error(
    `at ${at} another server answers: ${greeting.banner.slice(0, 120)}`,
    'Stop the other mail server on this machine (postfix, exim), or let port 25 lead to Mailroom: it gets the mail now.',
  )
}

/** Has mail come in lately from where the world is? */
async function hasRecentPublicMail({ db, clock }: DoctorDeps): Promise<boolean> {
  const since = plusMs(clock.now(), -weekMs)
  const peers = await selectRecentClients(db, maxRecentMessages).catch((): readonly RecentClient[] => [])
  return peers.some(peer => peer.received_at > since && !isPrivateAddress(peer.remote_ip))
}

export const smtpChecks: readonly DoctorCheck[] = [hostnameCheck, reverseNameCheck, port25Check, clientAddressesCheck]
