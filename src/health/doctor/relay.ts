import { readSmarthostUrl } from '../../ports/provider/smarthost/address.ts'
import { oneClickWarning } from '../../sending/suppressions/unsubscribe-link.ts'
import type { DoctorCheck } from './check.ts'
import { combineFindings, error, type Finding, ok, skipped, warning } from './finding.ts'
import { fetchGreeting } from './smtp-greeting.ts'

const greetMs = 7000

/** What to do, by the phase at which the relay stopped. */
const todoAt: Readonly<Record<string, string>> = {
  connect:
    'See whether the host and port in MAILROOM_SMARTHOST_URL are right, and whether your provider lets connections out: port 25 is often closed, 587 and 465 rarely.',
  banner: 'The relay does not want this address as a client: allow it there, or see what it says.',
  ehlo: 'The relay does not take our name: set MAILROOM_HOSTNAME to a name that DNS knows.',
  starttls:
    'With a password TLS is required: use a port of the relay that offers STARTTLS (587), or smtps:// (465), and the name that its certificate is for.',
  auth: 'Put the user and password that the relay gave you into MAILROOM_SMARTHOST_URL; characters such as @, / and % must be percent-encoded.',
}

const loginCheck: DoctorCheck = {
  name: 'log_in',
  area: 'relay',
  async run({ config, relays }) {
    if (!config.roles.includes('relay')) return skipped('this process sends nothing (MAILROOM_ROLES)')
    if (config.provider === 'sandbox')
      return warning(
        'the provider is the sandbox: what is sent goes to nobody',
        'Set MAILROOM_PROVIDER and the relay’s URL to deliver mail.',
      )
    const tried = await Promise.all(
      relays.map(async relay => ({ name: relay.name, trouble: await relay.findProblem() })),
    )
    const findings = tried.map(({ name, trouble }): Finding => {
      if (trouble === null) return ok(`${name} takes our log-in; nothing was sent`)
      const phase = /^(\w+):/.exec(trouble)?.[1] ?? ''
      const todo = Object.hasOwn(todoAt, phase) ? todoAt[phase] : undefined
      return error(`${name}: ${trouble}`, todo ?? 'See what the provider says; until then emails wait in the queue.')
    })
    const troubled = tried.filter(each => each.trouble !== null)
    const told = combineFindings(findings)
    return told.level === 'error' && troubled.length < tried.length ? { ...told, level: 'warning' } : told
  },
}

const encryptionCheck: DoctorCheck = {
  name: 'encryption',
  area: 'relay',
  async run({ config }) {
    if (!config.roles.includes('relay') || config.provider !== 'smarthost') return skipped('there is no relay by SMTP')
    const urls = config.smarthostUrls ?? []
    return combineFindings(await Promise.all(urls.map(url => checkStarttls(url, config.hostname))))
  },
}

async function checkStarttls(url: string, ourName: string): Promise<Finding> {
  const { host, port, implicitTls, requireTls } = readSmarthostUrl(url)
  if (implicitTls) return ok(`${host}: TLS from the first byte`)
  const greeting = await fetchGreeting(host, port, ourName, greetMs).catch(() => undefined)
  if (!greeting) return skipped(`${host} does not answer`)
  if (greeting.extensions.some(extension => /^STARTTLS\b/i.test(extension))) return ok(`${host} offers STARTTLS`)
  const seen = `${host} does not offer STARTTLS`
  if (requireTls) return error(seen, todoAt['starttls'] ?? '')
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return ok(`${seen}; it is this machine`)
  return warning(
    `${seen}: emails go to it in the clear`,
    'Turn TLS on at the relay, or see that nobody else is on the way there.',
  )
}

const publicUrlCheck: DoctorCheck = {
  name: 'public_url',
  area: 'relay',
  async run({ config }) {
    const doubt = oneClickWarning(config.publicUrl)
    if (doubt === null) return ok(`links in emails begin with ${config.publicUrl}`)
    return warning(
      doubt,
      'Set MAILROOM_PUBLIC_URL to the https address that recipients reach: large receivers ask bulk mail for one click.',
    )
  },
}

export const relayChecks: readonly DoctorCheck[] = [loginCheck, encryptionCheck, publicUrlCheck]
