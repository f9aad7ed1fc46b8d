import { t } from 'elysia'
import { idParamsSchema } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { api } from '../../api/route.ts'
import type { DomainDeps } from '../deps.ts'
import {
  createMailbox,
  createMailboxRefusals,
  listMailboxes,
  removeMailbox,
  removeMailboxRefusals,
} from './mailboxes.ts'
import { createdMailboxSchema, mailboxSchema } from './schema.ts'

/** The operations on mailboxes. */
export function mailboxRoutes(deps: DomainDeps) {
  return api('mailboxes')
    .post(
      '/v1/mailboxes',
      async ({ caller, body, reservation, status }) =>
        status(
          201,
          await createMailbox(
            deps,
            caller,
            { domainId: body.domain_id, localPart: body.local_part ?? null },
            reservation,
          ),
        ),
      {
        detail: describeRoute('createMailbox', 'Create a mailbox', createMailboxRefusals),
        scope: 'inbox:write',
        body: t.Object({
          domain_id: t.String({ minLength: 1 }),
          local_part: t.Optional(t.String({ description: 'Omit it for a catch-all.' })),
        }),
        response: { 201: createdMailboxSchema },
      },
    )
    .get('/v1/mailboxes', ({ caller }) => listMailboxes(deps, caller), {
      detail: describeRoute('listMailboxes', 'List mailboxes'),
      scope: 'inbox:read',
      response: t.Object({ data: t.Array(mailboxSchema) }),
    })
    .delete(
      '/v1/mailboxes/:id',
      ({ caller, params, reservation }) => removeMailbox(deps, caller, params.id, reservation),
      {
        detail: describeRoute('deleteMailbox', 'Delete a mailbox; its messages are kept', removeMailboxRefusals),
        scope: 'inbox:write',
        params: idParamsSchema,
        response: t.Object({ deleted: t.String() }),
      },
    )
}
