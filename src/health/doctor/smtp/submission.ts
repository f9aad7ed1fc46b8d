import type { Endpoint } from '../../../base/config/config.ts'
import type { DoctorCheck, DoctorDeps } from '../check.ts'
import { combineFindings, error, type Finding, ok, skipped, warning } from '../finding.ts'
import { fetchGreeting } from './greeting.ts'

const greetMs = 5000

/** Connects to our own listener, so it says nothing of firewalls. */
export const submissionCheck: DoctorCheck = {
  name: 'submission',
  area: 'smtp',
  async run(deps) {
    const { config } = deps
    if (!config.roles.includes('submission')) return skipped('programs submit no mail to this process (MAILROOM_ROLES)')
    const { submissionListen, submissionsListen } = config
    if (!submissionListen && !submissionsListen)
      return skipped('programs submit no mail by SMTP (MAILROOM_SUBMISSION_LISTEN is not set)')
    return combineFindings([
      ...(submissionListen ? [await checkStartTls(deps, submissionListen)] : []),
      ...(submissionsListen ? [checkCertificateSource(deps)] : []),
    ])
  },
}

async function checkStartTls({ config }: DoctorDeps, listen: Endpoint): Promise<Finding> {
  const host = reachable(listen.host)
  const at = `${host} port ${listen.port}`
  const greeting = await fetchGreeting(host, listen.port, config.hostname, greetMs).catch((thrown: Error) => thrown)
  if (greeting instanceof Error)
    return greeting.message.startsWith('421 4.7.0 There is no TLS certificate')
      ? warning(
          `mail submission at ${at} is off: there is no TLS certificate`,
          'Set MAILROOM_TLS_CERT and MAILROOM_TLS_KEY, or MAILROOM_ACME_DIRECTORY to have one issued.',
        )
      : error(
          `mail submission at ${at} does not answer: ${greeting.message}`,
          'Check that Mailroom is running, and that no other server (the submission service of postfix or exim?) has the port.',
        )
  if (greeting.extensions.some(line => /^STARTTLS$/i.test(line))) return ok(`mail submission at ${at} offers STARTTLS`)
  if (greeting.extensions.some(line => /^AUTH /i.test(line)))
    return ok(`mail submission at ${at} serves programs of this machine, without TLS`)
  return error(
    `another server answers at ${at}: ${greeting.banner.slice(0, 120)}`,
    'Stop it, or set MAILROOM_SUBMISSION_LISTEN to another address.',
  )
}

/** Its certificate is that of STARTTLS; without a source of one it never serves. */
function checkCertificateSource({ config: { tlsCert, acmeDirectory } }: DoctorDeps): Finding {
  if (tlsCert !== undefined || acmeDirectory !== undefined) return ok('MAILROOM_SUBMISSIONS_LISTEN has a certificate')
  return warning(
    'MAILROOM_SUBMISSIONS_LISTEN turns all connections away: there is no TLS certificate',
    'Set MAILROOM_TLS_CERT and MAILROOM_TLS_KEY, or MAILROOM_ACME_DIRECTORY to have one issued.',
  )
}

/** Where a listener on all addresses is reached from this machine. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}
