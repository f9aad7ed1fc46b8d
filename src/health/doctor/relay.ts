import { readSmarthostUrl } from '../../ports/provider/smarthost/address.ts'
import { oneClickWarning } from '../../sending/suppressions/unsubscribe-link.ts'
import type { DoctorCheck } from './check.ts'
import { combineFindings, error, type Finding, ok, skipped, warning } from './finding.ts'
import { fetchGreeting } from './smtp/greeting.ts'

const greetMs = 7000

/** What to do, by the phase in which the attempt failed. */
const todoAt: Readonly<Record<string, string>> = {
  connect:
    'Check the host and port in MAILROOM_SMARTHOST_URL, and whether your hosting provider allows outgoing connections: port 25 is often blocked, 587 and 465 rarely.',
  banner: 'The relay rejects the address of this machine: allow it there; its reply may say more.',
  ehlo: 'The relay rejects our name in EHLO: set MAILROOM_HOSTNAME to a name that exists in DNS.',
  starttls:
    'A password is only sent over TLS: use a port of the relay that offers STARTTLS (587), or smtps:// (465), and the host name in its certificate.',
  auth: 'Put the user and password of your account at the relay into MAILROOM_SMARTHOST_URL; characters such as @, / and % must be percent-encoded.',
}

const loginCheck: DoctorCheck = {
  name: 'log_in',
  area: 'relay',
  async run({ config, relays }) {
    if (!config.roles.includes('relay')) return skipped('this process does not send mail (MAILROOM_ROLES)')
    if (config.provider === 'sandbox')
      return warning(
        'the provider is the sandbox: emails are stored in a folder and delivered to nobody',
        'Set MAILROOM_PROVIDER, and for smarthost MAILROOM_SMARTHOST_URL, to deliver emails.',
      )
    const tried = await Promise.all(
      relays.map(async relay => ({ name: relay.name, problem: await relay.findProblem() })),
    )
    const findings = tried.map(({ name, problem }): Finding => {
      if (problem === null) return ok(`${name} accepts the login; nothing was sent`)
      const phase = /^(\w+):/.exec(problem)?.[1] ?? ''
      const todo = Object.hasOwn(todoAt, phase) ? todoAt[phase] : undefined
      return error(
        `${name}: ${problem}`,
        todo ?? 'The reply of the provider says why; until then emails wait in the queue.',
      )
    })
    const combined = combineFindings(findings)
    // One relay that works is enough to send.
    const works = tried.some(({ problem }) => problem === null)
    return combined.level === 'error' && works ? { ...combined, level: 'warning' } : combined
  },
}

const encryptionCheck: DoctorCheck = {
  name: 'encryption',
  area: 'relay',
  async run({ config }) {
    if (!config.roles.includes('relay') || config.provider !== 'smarthost') return skipped('no relay is used by SMTP')
    const urls = config.smarthostUrls ?? []
    return combineFindings(await Promise.all(urls.map(url => checkStarttls(url, config.hostname))))
  },
}

async function checkStarttls(url: string, ourName: string): Promise<Finding> {
  const { host, port, implicitTls, requireTls } = readSmarthostUrl(url)
  if (implicitTls) return ok(`${host} is reached with implicit TLS`)
  const greeting = await fetchGreeting(host, port, ourName, greetMs).catch(() => undefined)
  if (!greeting) return skipped(`${host} does not answer`)
  if (greeting.extensions.some(extension => /^STARTTLS\b/i.test(extension))) return ok(`${host} offers STARTTLS`)
  const seen = `${host} does not offer STARTTLS`
  if (requireTls) return error(seen, todoAt['starttls'] ?? '')
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return ok(`${seen}, but is this machine`)
  return warning(
    `${seen}: emails go to it unencrypted`,
    'Turn on TLS at the relay, or make sure that the network up to it is trusted.',
  )
}

const publicUrlCheck: DoctorCheck = {
  name: 'public_url',
  area: 'relay',
  async run({ config }) {
    const problem = oneClickWarning(config.publicUrl)
    if (problem === null) return ok(`links in emails start with ${config.publicUrl}`)
    return warning(
      problem,
      'Set MAILROOM_PUBLIC_URL to an https URL that recipients can reach: large mailbox providers require one-click unsubscription of bulk mail.',
    )
  },
}

export const relayChecks: readonly DoctorCheck[] = [loginCheck, encryptionCheck, publicUrlCheck]
