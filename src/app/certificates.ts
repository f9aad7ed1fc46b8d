import { isIP } from 'node:net'
import type { Config } from '../base/config/config.ts'
import { policyHosts } from '../domains/mta-sts/mta-sts.ts'
import { canonicalDomain } from '../mail/address.ts'
import { acmeCertificates, type WantedName } from '../ports/certificates/acme.ts'
import { acmeAuthority } from '../ports/certificates/acme-authority.ts'
import { fileCertificates } from '../ports/certificates/files.ts'
import { joinCertificates } from '../ports/certificates/merge.ts'
import { type Certificates, covers } from '../ports/certificates/port.ts'
import { keyAuthorizationOf } from '../ports/certificates/table.ts'
import { openChallengeDoor } from '../servers/http/acme-challenge-server.ts'
import type { Shared } from './shared.ts'

/** Opens what certificates come from: the files, and an ACME authority for the names that they have none for. */
export function openCertificates(shared: Shared): Certificates {
  const { config, log, atEnd } = shared
  const { tlsCert, tlsKey } = config
  const files = tlsCert && tlsKey ? [fileCertificates({ certFile: tlsCert, keyFile: tlsKey, log })] : []
  const doesTls = config.roles.some(role => role !== 'relay')
  const acme = doesTls ? openAcme(shared, joinCertificates(files)) : []
  const certificates = joinCertificates([...files, ...acme])
  atEnd(() => certificates.stop())
  return certificates
}

function openAcme({ config, db, clock, log, secrets, resolver, atEnd }: Shared, files: Certificates): Certificates[] {
  const { acmeDirectory: directory, acmeEmail: email, acmeCa: caFile } = config
  if (directory === undefined) return []
  const door = openChallengeDoor({ listen: config.acmeListen, find: token => keyAuthorizationOf(db, token), log })
  atEnd(() => door.close())
  const wanted = async () => {
    const hosts = config.httpsListen ? await policyHosts({ db, clock }) : []
    const names = [...ownNames(config), ...hosts.map(name => ({ name, isOurs: false }))]
    return names.filter(({ name }) => !files.current().some(each => covers(each, name)))
  }
  const hasAddress = async (name: string) => {
    const answers = await Promise.all([resolver.resolve(name, 'A'), resolver.resolve(name, 'AAAA')])
    return answers.some(each => each.kind === 'found')
  }
  return [
    acmeCertificates({
      ...{ db, clock, log, secrets, wanted, hasAddress },
      authority: acmeAuthority({ directory, email, caFile }),
    }),
  ]
}

/** Our name, for STARTTLS; and the one where clients reach the API, where we serve it by HTTPS ourselves. */
function ownNames(config: Config): readonly WantedName[] {
  const hosts = [config.hostname, ...(config.httpsListen ? [publicHost(config)] : [])]
  const names = hosts.flatMap(each => canonicalDomain(each ?? '') ?? [])
  return [...new Set(names)].map(name => ({ name, isOurs: true }))
}

/** Where the policies of domains are served by HTTPS, by us or by a reverse proxy in front of the API. */
export function httpsHost(config: Pick<Config, 'publicUrl' | 'hostname'>): string {
  return canonicalDomain(publicHost(config) ?? '') ?? config.hostname
}

/** The host where clients reach us; undefined: it has no name. */
function publicHost({ publicUrl }: Pick<Config, 'publicUrl'>): string | undefined {
  const { hostname } = new URL(publicUrl)
  return isIP(hostname) === 0 ? hostname : undefined
}
