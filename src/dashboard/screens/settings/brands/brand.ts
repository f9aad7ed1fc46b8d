import type { components } from '../../../api/generated/v1.ts'

/** A brand of the organization. */
export type Brand = components['schemas']['Brand']
