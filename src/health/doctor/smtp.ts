import { isIP } from 'node:net'
import { plusMs } from '../../base/clock.ts'
import type { Check, Parts } from './check.ts'
import { error, type Finding, note, ok, skipped, together, warning } from './finding.ts'
import { addressesOf, isPrivate, reverseName } from './own-name.ts'
import { peerCheck } from './peers.ts'
import { mostPeers, type Peer, selectPeers } from './peers-table.ts'
import { greet } from './smtp-dialogue.ts'

const greetMs = 7000
const weekMs = 7 * 86_400_000

const ownName: Check = {
  name: 'hostname',
  area: 'smtp',
  async run({ config, resolver }) {
    const { hostname } = config
    if (isIP(hostname) !== 0 || !hostname.includes('.') || hostname.endsWith('.localdomain'))
      return error(
        `MAILROOM_HOSTNAME is ${hostname}, which is no name that the world knows`,
        'Set it to the name of this machine in DNS, such as mail.example.com: it is what other servers see, and where bounces come to.',
      )
    const { addresses, failed } = await addressesOf(resolver, hostname)
    if (addresses.length === 0 && failed !== null)
      return warning(`${hostname} cannot be asked for: ${failed}`, 'Mend the resolver first.')
    if (addresses.length === 0)
      return error(
        `${hostname} has no address in DNS`,
        `Publish an A record (and AAAA, where there is IPv6) for ${hostname} that leads here.`,
      )
    if (addresses.every(isPrivate))
      return error(
        `${hostname} leads to ${addresses.join(', ')}, where the world cannot reach it`,
        `Publish the public address of this machine for ${hostname}; where only this resolver sees another one, MAILROOM_RESOLVERS names what the world asks.`,
      )
    return ok(`${hostname} leads to ${addresses.join(', ')}`)
  },
}

const reverse: Check = {
  name: 'reverse_name',
  area: 'smtp',
  async run({ config, resolver }) {
    const { addresses } = await addressesOf(resolver, config.hostname)
    const findings = addresses.map(async address => {
      const answer = await resolver.resolve(reverseName(address), 'PTR', { isFresh: true })
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
    return addresses.length === 0 ? skipped(`${config.hostname} has no address`) : together(await Promise.all(findings))
  },
}

const port: Check = {
  name: 'port_25',
  area: 'smtp',
  async run(parts) {
    const { config, resolver, publicSmtpPort } = parts
    if (!config.roles.includes('smtp')) return skipped('this process takes no mail (MAILROOM_ROLES)')
    const { addresses } = await addressesOf(resolver, config.hostname)
    if (addresses.length === 0) return skipped(`${config.hostname} has no address`)
    return together(await Promise.all(addresses.map(each => reach(parts, each, publicSmtpPort))))
  },
}

async function reach(parts: Parts, address: string, publicSmtpPort: number): Promise<Finding> {
  const { hostname } = parts.config
  const at = `${address} port ${publicSmtpPort}`
  const greeting = await greet(address, publicSmtpPort, hostname, greetMs).catch((thrown: Error) => thrown)
  if (greeting instanceof Error) {
    const seen = `${at} cannot be reached from here: ${greeting.message}`
    if (await hasCome(parts))
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
async function hasCome({ db, clock }: Parts): Promise<boolean> {
  const since = plusMs(clock.now(), -weekMs)
  const peers = await selectPeers(db, mostPeers).catch((): readonly Peer[] => [])
  return peers.some(each => each.received_at > since && !isPrivate(each.remote_ip))
}

export const smtpChecks: readonly Check[] = [ownName, reverse, port, peerCheck]
