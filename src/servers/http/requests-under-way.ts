import { isBodyArriving } from '../../api/request-body.ts'

/** Times of a shutdown, in milliseconds. */
export interface HttpDrainTimes {
  /** How long requests may go on arriving, and responses go on leaving. */
  readonly graceMs: number
  /** How long requests that have arrived may be processed. */
  readonly longestMs: number
}

export const httpDrainTimes: HttpDrainTimes = { graceMs: 3000, longestMs: 30_000 }

const pollMs = 20
/** Time for the last response to leave. */
const farewellMs = 500

/** The requests that the server has not answered yet. */
export interface RequestsUnderWay {
  /** Counts the request until there is a response. */
  add(request: Request, response: Promise<Response>): Promise<Response>
  /**
   * Resolves when the connections may be closed: after the grace, and when no request is being processed any more. A request
   * whose body is still arriving is not waited for, since nothing has been done for it yet.
   */
  drained(times?: HttpDrainTimes): Promise<void>
}

export function newRequestsUnderWay(): RequestsUnderWay {
  const requests = new Set<Request>()
  const isProcessing = () => [...requests].some(request => !isBodyArriving(request))
  return {
    async add(request, response) {
      requests.add(request)
      try {
        return await response
      } finally {
        requests.delete(request)
      }
    },
    async drained({ graceMs, longestMs } = httpDrainTimes) {
      const startedAt = performance.now()
      await Bun.sleep(graceMs)
      // A body may have arrived just before the end.
      do {
        while (isProcessing() && performance.now() - startedAt < longestMs) await Bun.sleep(pollMs)
        await Bun.sleep(farewellMs)
      } while (isProcessing() && performance.now() - startedAt < longestMs)
    },
  }
}

/**
 * Stops a listener: idle connections are closed at once, the others after their response, and those that are left when
 * `drained` resolves are cut.
 */
export async function stopListener(server: Pick<Bun.Server<undefined>, 'stop'>, drained: Promise<void>): Promise<void> {
  await Promise.race([server.stop(), drained])
  await server.stop(true)
}
