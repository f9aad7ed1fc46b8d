import { isIP } from 'node:net'
import type { Config } from '../base/config/config.ts'
import { policyHosts } from '../domains/mta-sts/mta-sts.ts'
import { canonicalDomain } from '../mail/address.ts'
import { acmeCertificates, type CertificateName } from '../ports/certificates/acme/acme.ts'
import { acmeAuthority } from '../ports/certificates/acme/authority.ts'
import { selectKeyAuthorization } from '../ports/certificates/acme/table.ts'
import { fileCertificates } from '../ports/certificates/files.ts'
import { mergeCertificates } from '../ports/certificates/merge.ts'
import { type Certificates, covers } from '../ports/certificates/port.ts'
import { openAcmeChallengeServer } from '../servers/http/acme-challenge-server.ts'
import type { AppContext } from './app-context.ts'

/** Opens the sources of certificates: the configured files, and ACME for the names that the files do not cover. */
export function openCertificates(context: AppContext): Certificates {
  const { config, log, onDrain } = context
  const { tlsCert, tlsKey } = config
  const files = tlsCert && tlsKey ? [fileCertificates({ certFile: tlsCert, keyFile: tlsKey, log })] : []
  const doesTls = config.roles.some(role => role !== 'relay' && role !== 'webhooks')
  const acme = doesTls ? openAcme(context, mergeCertificates(files)) : []
  const certificates = mergeCertificates([...files, ...acme])
  onDrain(() => certificates.stop())
  return certificates
}

function openAcme(
  { config, db, clock, log, secrets, resolver, onStop }: AppContext,
  files: Certificates,
): Certificates[] {
  const { acmeDirectory: directory, acmeEmail: email, acmeCa: caFile } = config
  if (directory === undefined) return []
  const server = openAcmeChallengeServer({
    listen: config.acmeListen,
    findKeyAuthorization: token => selectKeyAuthorization(db, token),
    log,
  })
  onStop(() => server.close())
  const listNames = async () => {
    const hosts = config.httpsListen ? await policyHosts({ db, clock }) : []
    const names = [...ownNames(config), ...hosts.map(name => ({ name, isOurs: false }))]
    return names.filter(({ name }) => !files.current().some(certificate => covers(certificate, name)))
  }
  const hasAddress = async (name: string) => {
    const answers = await Promise.all([resolver.resolve(name, 'A'), resolver.resolve(name, 'AAAA')])
    return answers.some(answer => answer.kind === 'found')
  }
  return [
    acmeCertificates({
      ...{ db, clock, log, secrets, listNames, hasAddress },
      authority: acmeAuthority({ directory, email, caFile }),
    }),
  ]
}

/** MAILROOM_HOSTNAME, for STARTTLS, and the host of MAILROOM_PUBLIC_URL where this process serves HTTPS itself. */
function ownNames(config: Config): readonly CertificateName[] {
  const hosts = [config.hostname, ...(config.httpsListen ? [publicHost(config)] : [])]
  const names = hosts.flatMap(host => canonicalDomain(host ?? '') ?? [])
  return [...new Set(names)].map(name => ({ name, isOurs: true }))
}

/** The host whose HTTPS server, Mailroom or a reverse proxy in front of it, serves the MTA-STS policies of domains. */
export function httpsHost(config: Pick<Config, 'publicUrl' | 'hostname'>): string {
  return canonicalDomain(publicHost(config) ?? '') ?? config.hostname
}

/** The host name of MAILROOM_PUBLIC_URL; undefined: there is none, or it is an IP address. */
function publicHost({ publicUrl }: Pick<Config, 'publicUrl'>): string | undefined {
  if (publicUrl === undefined) return undefined
  const { hostname } = new URL(publicUrl)
  return isIP(hostname) === 0 ? hostname : undefined
}
