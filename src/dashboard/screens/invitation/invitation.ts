import type { components } from '../../api/generated/app.ts'

/** What an invitation grants. */
export type OpenInvitation = components['schemas']['InvitationLook']
