import type { OrganizationApi } from './client.ts'

/**
 * The key of a query in an organization. `topic` is what live updates name: `messages`, `emails`, `domains`; what they do not
 * name has a topic of its own.
 */
export function queryKey(topic: string, { organizationId, brandId }: OrganizationApi, ...rest: readonly unknown[]) {
  return [topic, organizationId, brandId, ...rest] as const
}
