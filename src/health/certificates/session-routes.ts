import { t } from 'elysia'
import { sessionActor } from '../../accounts/audit/session-actor.ts'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import { type Clock, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { refuse } from '../../base/refusal.ts'
import { selectPolicies } from '../../domains/mta-sts/table.ts'
import type { Certificates } from '../../ports/certificates/port.ts'
import { describeFileCertificate, listOrderedCertificates, renewCertificate } from './certificates.ts'

export interface CertificateRoutesDeps {
  readonly db: Db
  readonly clock: Clock
  readonly certificates: Certificates
  /** MAILROOM_ACME_DIRECTORY; undefined: Mailroom orders none. */
  readonly acmeDirectory: string | undefined
}

const maxPolicies = 200

const certificateListSchema = t.Object({
  acme_directory: nullable(t.String({ description: 'Where certificates are ordered; null: nowhere.' })),
  data: t.Array(
    t.Object(
      {
        name: t.String(),
        names: t.Array(t.String()),
        source: oneOf(['acme', 'file']),
        issuer: nullable(t.String()),
        not_before: nullable(dateTimeSchema),
        not_after: nullable(dateTimeSchema),
        renews_at: nullable(dateTimeSchema),
        is_ordering: t.Boolean(),
        failures: t.Integer(),
        last_error: nullable(t.String()),
      },
      { title: 'InstanceCertificate' },
    ),
  ),
  mta_sts: t.Array(
    t.Object({ domain: t.String(), mode: oneOf(['none', 'testing', 'enforce']), changed_at: dateTimeSchema }),
  ),
})

/** The certificates of this instance and the MTA-STS policies that it serves, for operators. */
export function certificateSessionRoutes({ db, clock, certificates, acmeDirectory }: CertificateRoutesDeps) {
  return sessionApi('instance certificates')
    .get(
      '/app/api/instance/certificates',
      async () => {
        const [ordered, policies] = await Promise.all([listOrderedCertificates(db), selectPolicies(db, maxPolicies)])
        const isOrdered = new Set(ordered.map(certificate => certificate.name))
        const fromFiles = certificates.current().filter(({ names }) => !names.some(name => isOrdered.has(name)))
        return {
          acme_directory: acmeDirectory ?? null,
          data: [...fromFiles.map(describeFileCertificate), ...ordered].map(({ names, ...rest }) => ({
            ...rest,
            names: [...names],
          })),
          mta_sts: policies.map(({ domain, mode, changed_at }) => ({ domain, mode, changed_at: toIso(changed_at) })),
        }
      },
      {
        operator: 'session',
        response: certificateListSchema,
        detail: describeRoute('listCertificates', 'List the certificates and MTA-STS policies'),
      },
    )
    .post(
      '/app/api/instance/certificates/renew',
      async ({ body: { name }, session, context }) => {
        if (!(await renewCertificate(db, sessionActor(session, context, clock), name)))
          throw refuse('not_found', {
            message: `No certificate for ${name} is to be ordered: Mailroom orders none for this name, or is doing it now.`,
            param: 'name',
          })
        return {}
      },
      {
        operator: 'confirmed',
        body: t.Object({ name: t.String({ maxLength: 253 }) }),
        response: t.Object({}),
        detail: describeRoute('renewCertificate', 'Order a new certificate for a name now', ['not_found']),
      },
    )
}
