import { htmlResponse } from '../../../api/pages/html-page.ts'
import type { Refusal } from '../../../base/refusal.ts'

/** Says why the dashboard cannot be opened. */
export function refusalPage({ status, detail }: Refusal): Response {
  const page = htmlResponse({ status, title: 'Mailroom', body: `<p>${Bun.escapeHTML(detail.message)}</p>` })
  page.headers.set('cache-control', 'no-store')
  return page
}
