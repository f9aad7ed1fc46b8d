import { t } from 'elysia'
import { describeRoute } from '../../api/describe.ts'
import { memberScopeRefusals, requireMemberScope } from '../../api/session/member-scope.ts'
import { sessionApi, sessionRefusals } from '../../api/session/session-route.ts'
import type { Db } from '../../base/database/database.ts'
import { selectMailboxAddresses } from './table.ts'

const maxChoices = 200

/** The mailboxes that a member may choose from. Unlike the API's list, it counts no messages. */
export function mailboxSessionRoutes({ db }: { readonly db: Db }) {
  return sessionApi('mailbox-choices').get(
    '/app/api/mail/mailboxes',
    async ({ member, query }) => {
      requireMemberScope(member, 'inbox:read')
      const prefix = (query.starts_with ?? '').toLowerCase()
      const found = await selectMailboxAddresses(db, member, { prefix, limit: maxChoices + 1 })
      return {
        data: found.slice(0, maxChoices).map(({ id, brandId, domain, localPart }) => ({
          id,
          brand_id: brandId,
          address: `${localPart === '' ? '*' : localPart}@${domain}`,
          catch_all: localPart === '',
        })),
        has_more: found.length > maxChoices,
      }
    },
    {
      detail: describeRoute('chooseMailbox', 'List the addresses of mailboxes', [
        ...sessionRefusals,
        ...memberScopeRefusals,
      ]),
      member: 'session',
      query: t.Object({
        starts_with: t.Optional(t.String({ maxLength: 64, description: 'The beginning of the local part.' })),
      }),
      response: t.Object({
        data: t.Array(
          t.Object({
            id: t.String(),
            brand_id: t.String(),
            address: t.String({ description: '`*@domain` for a catch-all.' }),
            catch_all: t.Boolean(),
          }),
        ),
        has_more: t.Boolean(),
      }),
    },
  )
}
