import { answer, type OrganizationApi } from '../../../api/client.ts'
import { ApiError, ServerAwayError } from '../../../api/errors.ts'
import type { DraftFields } from './draft-fields.ts'
import type { DraftStore, StoredDraft } from './draft-saver.ts'

export type Draft = Awaited<ReturnType<typeof readDraft>>

/** Reads a draft. @throws ApiError, ServerAwayError */
export function readDraft(api: OrganizationApi, id: string) {
  return answer(api.v1.GET('/v1/drafts/{id}', { params: { path: { id } } }))
}

/** The fields of a draft, as the form has them. */
export function fieldsOf({ from, to, cc, bcc, subject, text, in_reply_to }: Draft): DraftFields {
  return { from: from ?? '', to, cc, bcc, subject: subject ?? '', text: text ?? '', in_reply_to }
}

export function storedOf({ id, updated_at }: Draft): StoredDraft {
  return { id, updatedAt: updated_at }
}

/** Keeps drafts on the server, for the whole organization. */
export function draftStore(api: OrganizationApi): DraftStore {
  return {
    async create(fields) {
      return storedOf(await answer(api.v1.POST('/v1/drafts', { body: given(fields) })))
    },
    async change({ id, updatedAt }, fields) {
      const body = { ...changeOf(fields), if_updated_at: updatedAt }
      return storedOf(await answer(api.v1.PATCH('/v1/drafts/{id}', { params: { path: { id } }, body })))
    },
    kindOf(error) {
      if (error instanceof ApiError && error.code === 'changed_since_read') return 'changed'
      if (error instanceof ApiError && error.status === 404) return 'gone'
      if (error instanceof ServerAwayError || (error instanceof ApiError && error.isRetryable)) return 'away'
      return 'refused'
    },
  }
}

/** What a new draft begins with: what is empty is left out. */
function given(fields: DraftFields) {
  const { from, subject, text, in_reply_to, ...rest } = changeOf(fields)
  return {
    ...rest,
    ...(from !== null && { from }),
    ...(subject !== null && { subject }),
    ...(text !== null && { text }),
    ...(in_reply_to !== null && { in_reply_to }),
  }
}

function changeOf({ from, to, cc, bcc, subject, text, in_reply_to }: DraftFields) {
  return {
    from: from || null,
    to: [...to],
    cc: [...cc],
    bcc: [...bcc],
    subject: subject || null,
    text: text || null,
    in_reply_to,
  }
}
