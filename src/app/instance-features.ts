import type { AnyElysia } from 'elysia'
import { instanceAuditRoutes } from '../accounts/audit/operator-routes.ts'
import { organizationInstanceRoutes } from '../accounts/organizations/instance-routes.ts'
import { taskSessionRoutes } from '../accounts/tasks/session-routes.ts'
import type { OperatorTasks } from '../accounts/tasks/tasks.ts'
import { operatorSessionRoutes } from '../accounts/users/operator-routes.ts'
import { backupSessionRoutes } from '../backup/session-routes.ts'
import { hourMs, minuteMs, toIso } from '../base/clock.ts'
import { cachedResult } from '../base/concurrency/cached-result.ts'
import type { Db } from '../base/database/database.ts'
import { certificateSessionRoutes } from '../health/certificates/session-routes.ts'
import { deliverySessionRoutes } from '../health/delivery/session-routes.ts'
import { allChecks, checkTimeoutMs, quickChecks } from '../health/doctor/checks.ts'
import { runChecks } from '../health/doctor/run-checks.ts'
import { instanceHealthRoutes } from '../health/instance/session-routes.ts'
import type { Readiness } from '../health/readiness/readiness.ts'
import { quarantineSessionRoutes } from '../inbox/quarantine/session-routes.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import type { Certificates } from '../ports/certificates/port.ts'
import type { ProviderWebhook } from '../ports/provider/webhooks/webhook.ts'
import { storageSessionRoutes } from '../retention/session-routes.ts'
import { forecastStorage } from '../retention/storage/forecast.ts'
import { selectOrganizationBytes } from '../retention/storage/table.ts'
import { queueSessionRoutes } from '../sending/queue/session-routes.ts'
import { pausedBrandRoutes } from '../sending/reports/instance-routes.ts'
import { selectPausedBrands } from '../sending/reports/pause-table.ts'
import type { AppContext } from './app-context.ts'
import { withDoctorDeps } from './doctor.ts'

export interface InstanceFeatureDeps {
  readonly context: Pick<AppContext, 'config' | 'share' | 'clock' | 'log' | 'doctorResults' | 'configuredProvider'>
  /** The connection pool of the role http. */
  readonly db: Db
  readonly certificates: Certificates
  readonly readiness: Readiness
  readonly tasks: OperatorTasks
  readonly webhooks: readonly ProviderWebhook[]
  /** Where links lead, without a final slash. */
  readonly publicUrl: string
}

/** The operators' routes of the dashboard, below `/app/api/instance`. They call the same functions as the operator's commands. */
export function instanceFeatures(deps: InstanceFeatureDeps): readonly AnyElysia[] {
  const { context, db, certificates, readiness, tasks, webhooks, publicUrl } = deps
  const { config, clock, log, doctorResults, configuredProvider: provider } = context
  const blobs = mysqlBlobs(db, clock)
  return [
    instanceHealthRoutes({
      ...{ db, clock, readiness, certificates, doctorResults, tasks, runDoctor: runDoctorOf(context) },
      forecastStorage: () => forecastStorage({ db, clock, config }),
      isTrial: config.provider === 'sandbox',
    }),
    queueSessionRoutes({ db, clock }),
    quarantineSessionRoutes({ db, clock, blobs }),
    storageSessionRoutes({ db, clock, log, blobs, config, settings: config, tasks }),
    backupSessionRoutes({ db, clock, config, tasks }),
    deliverySessionRoutes({ db, clock, provider, webhooks: webhooks.map(webhook => webhook.name) }),
    certificateSessionRoutes({ db, clock, certificates, acmeDirectory: config.acmeDirectory }),
    organizationInstanceRoutes({ db, clock, publicUrl, loadFigures: organizationFigures(db) }),
    pausedBrandRoutes({ db, clock }),
    instanceAuditRoutes({ db, clock }),
    operatorSessionRoutes({ db, clock }),
    taskSessionRoutes({ db, clock }),
  ]
}

function runDoctorOf({ share }: Pick<AppContext, 'share'>) {
  return (isQuick: boolean) => {
    const [checks, timeoutMs] = isQuick ? [quickChecks, checkTimeoutMs.quick] : [allChecks, checkTimeoutMs.all]
    return withDoctorDeps(share.instanceConfig, doctorDeps => runChecks(checks, doctorDeps, timeoutMs))
  }
}

const countedOrganizations = 1000

/** What other features know of organizations; counting their content reads every row of it, so that it is done once an hour. */
function organizationFigures(db: Db) {
  const content = cachedResult(hourMs, () => selectOrganizationBytes(db, countedOrganizations))
  const paused = cachedResult(minuteMs / 12, () => selectPausedBrands(db))
  return async () => {
    const [bytes, brands] = await Promise.all([content().catch(() => []), paused()])
    const byOrganization = new Map(bytes.map(row => [row.organizationId, row.bytes]))
    const pausedBrands = Map.groupBy(brands, brand => brand.organizationId)
    return {
      storedBytes: (id: (typeof brands)[number]['organizationId']) => byOrganization.get(id),
      pausedBrands: (id: (typeof brands)[number]['organizationId']) =>
        (pausedBrands.get(id) ?? []).map(({ brandId, name, pausedAt, reason }) => ({
          ...{ id: brandId, name, reason },
          paused_at: pausedAt && toIso(pausedAt),
        })),
    }
  }
}
