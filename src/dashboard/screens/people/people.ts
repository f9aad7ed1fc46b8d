import type { components } from '../../api/generated/app.ts'

/** A member of the organization, with how they sign in. */
export type Person = components['schemas']['Person']

/** The same, without how they sign in. */
export type Member = components['schemas']['Member']

export type Role = Person['role']
