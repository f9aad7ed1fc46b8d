import { useRef } from 'react'
import { answer, type OrganizationApi } from '../../../api/client.ts'
import { showToast } from '../../../components/overlays/toasts.ts'
import { createOnceSender, type OnceSender, readServerClock } from './send-attempt.ts'

/** A sender for one form. */
export function useOnceSender(): OnceSender {
  const sender = useRef<OnceSender>(null)
  sender.current ??= createOnceSender(readServerClock)
  return sender.current
}

/**
 * Says that an email goes out, with Undo, which cancels it. When it can no longer be canceled, the server says so.
 * @param onCanceled opens what was written again; `canceledText` says that it is
 */
export function showSent(
  api: OrganizationApi,
  emailId: string,
  text: string,
  { canceledText, onCanceled }: { readonly canceledText: string; readonly onCanceled: () => void },
): void {
  const undo = () => {
    answer(api.v1.POST('/v1/emails/{id}/cancel', { params: { path: { id: emailId } } })).then(
      () => {
        showToast(canceledText)
        onCanceled()
      },
      (error: unknown) => showToast(error instanceof Error ? error.message : String(error), { kind: 'failed' }),
    )
  }
  showToast(text, { undo })
}
