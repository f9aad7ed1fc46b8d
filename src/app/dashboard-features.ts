import type { AnyElysia } from 'elysia'
import { mailboxSessionRoutes } from '../domains/mailboxes/session-routes.ts'
import { inboxSessionRoutes } from '../inbox/session-routes.ts'
import type { HttpFeatureDeps } from './http-features.ts'

/** What the routes of the dashboard depend on. */
export type DashboardFeatureDeps = Pick<HttpFeatureDeps, 'domains' | 'inbox'>

/**
 * The routes of the dashboard alone, below `/app/api`, an Elysia instance for each feature. Those of the API serve the
 * dashboard too, below `/app/api/v1`.
 */
export function dashboardFeatures({ domains, inbox }: DashboardFeatureDeps): readonly AnyElysia[] {
  const { db } = domains
  return [mailboxSessionRoutes({ db }), inboxSessionRoutes(inbox)]
}
