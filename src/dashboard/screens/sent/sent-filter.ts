import type { EmailStatus } from './email-status.ts'

/** What the list of sent emails is narrowed to. */
export interface SentFilter {
  readonly status: EmailStatus | null
  /** `name:value`. */
  readonly tag: string | null
  readonly recipient: string | null
}

/** The filter as the API's query parameters. */
export function filterParams({ status, tag, recipient }: SentFilter) {
  return {
    ...(status !== null && { status }),
    ...(tag !== null && { tag }),
    ...(recipient !== null && { recipient }),
  }
}
