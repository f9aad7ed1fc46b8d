import { isRefusal } from './errors.ts'
import { promptFor } from './prompts.ts'
import { requestJson } from './request.ts'
import type { Session } from './session.ts'

/** What a file is of. */
export interface DownloadOptions {
  /** null: of the instance. */
  readonly organizationId: string | null
  readonly brandId: string | null
  /** The query; what is undefined is left out. */
  readonly query?: Readonly<Record<string, string | undefined>>
}

/**
 * Lets the browser download a file that wants a confirmed session, of any size: the download goes on when the page is left.
 * Asks the person to sign in or to confirm first, where that is needed. Resolves to whether it began.
 * @param path a route of the dashboard: `/app/api/suppressions.csv`
 * @throws ApiError, ServerAwayError as `send`
 */
export async function downloadFile(path: string, { organizationId, brandId, query = {} }: DownloadOptions) {
  if (!(await readSession()).is_confirmed && !(await promptFor('confirmation'))) return false
  const url = new URL(path, location.origin)
  const params = { ...query, organization: organizationId ?? undefined, brand: brandId ?? undefined }
  for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value)
  const link = document.createElement('a')
  link.href = url.href
  link.download = ''
  link.click()
  return true
}

/** The session; where it has ended, the person is asked to sign in again. */
function readSession(): Promise<Session> {
  const read = () => requestJson<Session>('GET', '/app/api/session')
  return read().catch(async (error: unknown) => {
    if (isRefusal(error, 'session_required') && (await promptFor('sign-in'))) return read()
    throw error
  })
}
