import type { components } from '../../../api/generated/app.ts'

export type Organization = components['schemas']['InstanceOrganization']

export const plans = ['free', 'paid', 'unlimited'] as const
