import { version } from '../../base/version.ts'

/** A part that the service needs. `queue_age`: how long the email that is due longest has been waiting. */
export type ReadinessPart =
  | 'database'
  | 'scanner'
  | 'resolver'
  | 'relay'
  | 'dns_provider'
  | 'certificates'
  | 'disk'
  | 'queue_age'

export interface ReadinessPartState {
  readonly ready: boolean
  /** For a person: why it is not ready, or a remark. */
  readonly detail: string | null
}

/** The state of the parts that this process uses; others are absent. Never throws. */
export type Readiness = () => Promise<Readonly<Partial<Record<ReadinessPart, ReadinessPartState>>>>

/** The response of `/ready`: 200 when every part is ready, else 503; the body has each part. */
export async function readyResponse(readiness: Readiness): Promise<Response> {
  const parts = await readiness()
  const isReady = Object.values(parts).every(part => part.ready)
  return Response.json({ status: isReady ? 'ready' : 'not_ready', version, ...parts }, { status: isReady ? 200 : 503 })
}
