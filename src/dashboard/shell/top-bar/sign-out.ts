import { requestJson } from '../../api/request.ts'

/** Ends the session. The page is loaded anew, so that nothing of the person stays in its memory. */
export async function signOut(): Promise<void> {
  await requestJson('POST', '/app/api/sign-out', { body: {} })
  location.assign('/app/sign-in')
}
