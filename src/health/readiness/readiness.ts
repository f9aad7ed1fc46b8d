import { version } from '../../base/version.ts'

/**
 * A part that the service needs. `spam_filter` is one that it does without for a while: mail is then filed by its verdicts.
 * `queue_age`: how long the email that is due longest has been waiting. */
export type ReadinessPart =
  | 'database'
  | 'scanner'
  | 'spam_filter'
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

const dispensable: ReadonlySet<string> = new Set<ReadinessPart>(['spam_filter'])

/** The response of `/ready`: 200 when every part is ready that the service cannot do without, else 503; the body has each part. */
export async function readyResponse(readiness: Readiness): Promise<Response> {
  const parts = await readiness()
  const isReady = Object.entries(parts).every(([name, part]) => part.ready || dispensable.has(name))
  return Response.json({ status: isReady ? 'ready' : 'not_ready', version, ...parts }, { status: isReady ? 200 : 503 })
}
