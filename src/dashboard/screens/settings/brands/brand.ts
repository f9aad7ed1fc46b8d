import type { components } from '../../../api/v1.ts'

/** A brand of the organization. */
export type Brand = components['schemas']['Brand']
