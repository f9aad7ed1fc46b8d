import type { Tenant } from '../../api/tenant.ts'

const maxTenants = 1000

/** Calls `load` at most once in `ttlMs` for each tenant; a failed call is not kept. The least recently loaded tenants go first. */
export function openTenantCache<Value>(
  load: (tenant: Tenant) => Promise<Value>,
  { ttlMs, nowMs = Date.now }: { readonly ttlMs: number; readonly nowMs?: () => number },
): (tenant: Tenant) => Promise<Value> {
  const loaded = new Map<string, { readonly value: Promise<Value>; readonly until: number }>()
  return tenant => {
    const key = tenantKey(tenant)
    const known = loaded.get(key)
    if (known && known.until > nowMs()) return known.value
    const value = load(tenant)
    loaded.delete(key)
    loaded.set(key, { value, until: nowMs() + ttlMs })
    deleteOldest(loaded, maxTenants)
    value.catch(() => {
      if (loaded.get(key)?.value === value) loaded.delete(key)
    })
    return value
  }
}

/** Names the tenant in a map. */
export function tenantKey({ organizationId, brandId }: Tenant): string {
  return `${organizationId} ${brandId ?? ''}`
}

/** Deletes what was inserted first, until at most `most` entries are left. */
export function deleteOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}
