import { version } from '../../base/version.ts'

/** What the service needs. `queue_age`: how long the oldest email that is due has been waiting. */
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
  /** What a person reads: why not, or how much. */
  readonly detail: string | null
}

/** The parts that this process uses; others are absent. Never throws. */
export type Readiness = () => Promise<Readonly<Partial<Record<ReadinessPart, ReadinessPartState>>>>

/** The answer of `/ready`: 200 when every part is ready, else 503, with each part. */
export async function readyResponse(readiness: Readiness): Promise<Response> {
  const parts = await readiness()
  const isReady = Object.values(parts).every(readinessPartState => readinessPartState.ready)
  return Response.json({ status: isReady ? 'ready' : 'not_ready', version, ...parts }, { status: isReady ? 200 : 503 })
}
