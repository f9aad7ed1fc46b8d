import type { components } from '../../api/generated/app.ts'

/** A member of the organization, with how they sign in. */
export type Person = components['schemas']['Person']

export type Role = Person['role']
