import { forgetPersonal } from '../../api/personal-storage.ts'
import { requestJson } from '../../api/request.ts'

/** Ends the session. Nothing of the person stays in this browser: the page is loaded anew, and its storage forgotten. */
export async function signOut(): Promise<void> {
  await requestJson('POST', '/app/api/sign-out', { body: {} })
  forgetPersonal(localStorage)
  location.assign('/app/sign-in')
}
