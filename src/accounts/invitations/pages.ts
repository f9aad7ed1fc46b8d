import { htmlResponse } from '../../api/pages/html-page.ts'
import type { Refusal } from '../../base/refusal.ts'
import { maxMemberNameLength } from '../members/schema.ts'
import type { InvitationLinkJson } from './schema.ts'

/** What the invitation grants, and the form that accepts it. Following the link changes nothing. */
export function invitationPage(
  { organization, brands, email, expires_at }: InvitationLinkJson,
  token: string,
): Response {
  const names = brands.map(({ name }) => `<b>${Bun.escapeHTML(name)}</b>`).join(', ')
  const address =
    email === null
      ? '<label>Your email address <input name="email" type="email" required maxlength="320" autocomplete="email"></label>'
      : `<p>The invitation is for <b>${Bun.escapeHTML(email)}</b>.</p>`
  return htmlResponse({
    status: 200,
    title: `Join ${organization.name}`,
    body: `<p>You are invited to <b>${Bun.escapeHTML(organization.name)}</b>${names === '' ? '' : `, for ${names}`}.</p>
<form method="post" action="/invitations/${encodeURIComponent(token)}/accept">
${address}
<label>Your name <input name="name" required maxlength="${maxMemberNameLength}" autocomplete="name"></label>
<button>Accept the invitation</button>
</form>
<p>It can be accepted until ${Bun.escapeHTML(expires_at.slice(0, 10))}.</p>`,
  })
}

export function acceptedPage({ email }: { readonly email: string }): Response {
  return htmlResponse({
    status: 201,
    title: 'Welcome',
    body: `<p>The invitation is accepted. You are a member now, as <b>${Bun.escapeHTML(email)}</b>.</p>`,
  })
}

/** Says why not, in the words of the error. */
export function refusedInvitationPage({ status, message, code }: Refusal): Response {
  const isFormError = code === 'invalid_request'
  return htmlResponse({
    status,
    title: isFormError ? 'Not accepted' : 'This invitation cannot be accepted',
    body: `<p>${Bun.escapeHTML(message)}</p>${isFormError ? '<p>Go back, correct it and try again.</p>' : ''}`,
  })
}
