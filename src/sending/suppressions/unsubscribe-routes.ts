import { Elysia } from 'elysia'
import type { SuppressionsUse } from './suppressions.ts'
import { linkOf, saysOneClick, unsubscribe } from './unsubscribe.ts'
import { askingPage, donePage, unclearPage, unknownPage } from './unsubscribe-pages.ts'

/** Where the links in emails lead: no key and no login, only the link itself. RFC 8058. */
export function unsubscribeRoutes(use: SuppressionsUse) {
  return new Elysia({ name: 'unsubscribe' })
    .get('/unsubscribe/:token', async ({ params }) => {
      const link = await linkOf(use.db, params.token)
      return link ? askingPage(link) : unknownPage()
    })
    .post(
      '/unsubscribe/:token',
      async ({ params, request }) => {
        const link = await linkOf(use.db, params.token)
        if (!link) return unknownPage()
        if (!(await saysOneClick(request))) return unclearPage()
        await unsubscribe(use, link)
        return donePage(link)
      },
      { parse: 'none' },
    )
}
