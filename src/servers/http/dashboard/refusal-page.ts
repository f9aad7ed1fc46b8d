import { htmlResponse } from '../../../api/pages/html-page.ts'
import type { Refusal } from '../../../base/refusal.ts'

/** Says why the dashboard cannot be opened. */
export function refusalPage({ status, detail }: Refusal): Response {
  const page = htmlResponse({ status, title: 'Mailroom', body: `<p>${Bun.escapeHTML(detail.message)}</p>` })
  page.headers.set('cache-control', 'no-store')
  return page
}

/** The same in a frame of the dashboard. */
export function framedRefusalPage(refusal: Refusal): Response {
  const page = refusalPage(refusal)
  const policy = page.headers.get('content-security-policy') ?? ''
  page.headers.set('content-security-policy', policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'"))
  return page
}
