import { ApiError, type ErrorBody, ServerAwayError } from './errors.ts'
import { type Prompt, promptFor } from './prompts.ts'
import { reportAway } from './server-away.ts'

const prompts: Readonly<Record<string, Prompt>> = {
  session_required: 'sign-in',
  confirmation_required: 'confirmation',
}

/** Requests by which a person comes in: a refusal of these is for the form, not for the dialog. */
const comingIn = /^\/app\/api\/(?:session|sign-in|sign-out|welcome|invitations|confirm)(?:\/|$)/

/**
 * Sends a request of the dashboard. When the session has ended, or a confirmation is required, the person is asked in place and
 * the request is sent once more, so that a form keeps what was typed.
 * @throws ApiError when the server refuses, ServerAwayError when it does not answer
 */
export async function send(request: Request): Promise<Response> {
  const again = request.clone()
  try {
    return await sendOnce(request)
  } catch (error) {
    const prompt = error instanceof ApiError && !isComingIn(request) ? prompts[error.code] : undefined
    if (prompt === undefined) throw error
    const isRenewed = prompt === 'sign-in' && (await isSignedIn())
    if (!isRenewed && !(await promptFor(prompt))) throw error
    return await sendOnce(again)
  }
}

/** Another tab may have confirmed who it is meanwhile: the session has a new token then, which the browser sends next. */
async function isSignedIn(): Promise<boolean> {
  return sendOnce(new Request('/app/api/session')).then(
    () => true,
    () => false,
  )
}

function isComingIn(request: Request): boolean {
  return comingIn.test(new URL(request.url).pathname)
}

async function sendOnce(request: Request): Promise<Response> {
  const response = await fetch(request).catch((error: unknown) => {
    if (request.signal.aborted) throw error
    reportAway()
    throw new ServerAwayError('The server does not answer. Nothing was lost: try again in a moment.')
  })
  if (response.ok) return response
  const body = await readError(response)
  if (!body) {
    reportAway()
    throw new ServerAwayError(`Something between this page and the server answered with ${response.status}.`)
  }
  throw new ApiError(response.status, body, response.headers.get('x-request-id'))
}

/** The server's own error; null: a proxy's. */
async function readError(response: Response): Promise<ErrorBody | null> {
  try {
    const body: unknown = await response.json()
    return isErrorBody(body) ? body : null
  } catch {
    return null
  }
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'object'
}
