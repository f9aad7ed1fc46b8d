import { t } from 'elysia'
import { oneOf } from '../../api/common-schemas.ts'
import { sendAcceptedSchema, sendEmailSchema } from '../emails/schema.ts'

/** How many emails one request may send. */
const maxEmails = 100

/** An object is all that the body's schema asks for: each email is validated by itself, and refused by itself. */
const emailSchema = t.Object(
  {},
  {
    additionalProperties: true,
    documented: sendEmailSchema,
    expected: 'an email as POST /v1/emails takes it',
  },
)
const emailsSchema = t.Array(emailSchema, { minItems: 1, maxItems: maxEmails })

/** The body of POST /v1/emails/batch. */
export const sendBatchSchema = t.Union([
  t.Object(
    {
      emails: emailsSchema,
      on_error: t.Optional(
        oneOf(['continue', 'stop'], {
          description:
            'What a refused email means for those behind it: `continue` (the default) tries them, `stop` leaves them out.',
        }),
      ),
    },
    { title: 'SendBatch' },
  ),
  emailsSchema,
])
export type SendBatch = typeof sendBatchSchema.static

/** The `error` of the API's errors. */
const emailErrorSchema = t.Object(
  {
    code: t.String({ description: 'For programs.' }),
    message: t.String({ description: 'For people; names the invalid value.' }),
    requirement: t.String({ description: 'What has to change before the email can be accepted.' }),
    reason: t.Optional(t.String()),
    resolution: t.Optional(t.String()),
    retryable: t.Boolean(),
    param: t.Optional(t.String({ description: 'The invalid parameter, such as `emails[2].to[0]`.' })),
  },
  { title: 'BatchEmailError' },
)

const indexSchema = t.Integer({ description: 'The position in the request, from 0.' })

/** What became of each email, in their order. */
export const batchResultSchema = t.Object(
  {
    data: t.Array(
      t.Union([
        t.Object(
          { index: indexSchema, status: t.Literal('accepted'), email: sendAcceptedSchema },
          { title: 'BatchEmailAccepted' },
        ),
        t.Object(
          { index: indexSchema, status: t.Literal('refused'), error: emailErrorSchema },
          { title: 'BatchEmailRefused' },
        ),
      ]),
    ),
  },
  { title: 'SendBatchResult' },
)
export type BatchResult = typeof batchResultSchema.static

/** The response to a list without an object around it: that of Resend's API. */
export const batchListResultSchema = t.Object(
  {
    data: t.Array(t.Object({ id: t.String() })),
    errors: t.Optional(
      t.Array(t.Object({ index: indexSchema, message: t.String() }), {
        description: 'The refused emails; with `x-batch-validation: permissive`.',
      }),
    ),
  },
  { title: 'SendListResult' },
)
export type BatchListResult = typeof batchListResultSchema.static
