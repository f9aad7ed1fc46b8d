/**
 * The operations of the API that a person confirms with a factor (step-up), by method and template: they give access to
 * others, take it away, or delete what cannot be restored. The dashboard's own routes say `'confirmed'` themselves.
 */
const confirmedOperations: ReadonlySet<string> = new Set([
  'POST /v1/invitations',
  'PATCH /v1/invitations/:id',
  'DELETE /v1/invitations/:id',
  'PATCH /v1/members/:id',
  'DELETE /v1/members/:id',
  'DELETE /v1/domains/:id',
  'POST /v1/webhooks',
  'PATCH /v1/webhooks/:id',
  'POST /v1/webhooks/:id/rotate-secret',
])

/** @param template the template of the route; undefined: there is none */
export function wantsConfirmation(method: string, template: string | undefined): boolean {
  return confirmedOperations.has(`${method} ${template}`)
}
