import { Elysia, t } from 'elysia'
import type { SuppressionsDeps } from './suppressions.ts'
import { findUnsubscribeLink, isOneClickRequest, unsubscribe } from './unsubscribe.ts'
import { confirmPage, donePage, notOneClickPage, unknownPage } from './unsubscribe-pages.ts'

/** A path that is not UTF-8 has no token. */
const params = t.Object({ token: t.String() })

/** The pages that unsubscribe links lead to: no key and no login, only the link itself. RFC 8058. */
export function unsubscribeRoutes(deps: SuppressionsDeps) {
  return new Elysia({ name: 'unsubscribe' })
    .get(
      '/unsubscribe/:token',
      async ({ params }) => {
        const link = await findUnsubscribeLink(deps.db, params.token)
        return link ? confirmPage(link) : unknownPage()
      },
      { params },
    )
    .post(
      '/unsubscribe/:token',
      async ({ params, request }) => {
        const link = await findUnsubscribeLink(deps.db, params.token)
        if (!link) return unknownPage()
        if (!(await isOneClickRequest(request))) return notOneClickPage()
        await unsubscribe(deps, link)
        return donePage(link)
      },
      { params, parse: 'none' },
    )
}
