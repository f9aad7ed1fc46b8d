import type { operations } from '../../../api/generated/app.ts'

type Policies = operations['listInstanceRetention']['responses']['200']['content']['application/json']

/** A retention time, and the shortest that may be set for its kind. */
export type InstanceRetentionPolicy = Policies['data'][number] & { readonly minimumDays: number }
