import type { Clock } from '../../base/clock.ts'
import type { Config } from '../../base/config/config.ts'
import type { Db } from '../../base/database/database.ts'
import type { Resolver } from '../../ports/resolver/port.ts'
import type { Finding } from './finding.ts'

/** The areas of the checks, in the order of the output. */
export const checkAreas = [
  'database',
  'scanner',
  'spam_filter',
  'dns',
  'smtp',
  'tls',
  'relay',
  'webhooks',
  'machine',
] as const

export type CheckArea = (typeof checkAreas)[number]

/** A relay of the configured provider, and how to try it without sending anything. */
export interface RelayProbe {
  /** Without user and password. */
  readonly name: string
  /** null: it can be reached and accepts the login; else `phase: its reply or the error`. */
  findProblem(): Promise<string | null>
}

/** What the checks depend on. */
export interface DoctorDeps {
  readonly config: Config
  readonly db: Db
  readonly clock: Clock
  readonly resolver: Resolver
  readonly relays: readonly RelayProbe[]
  /** The port on which other servers reach our SMTP server: 25, except in tests. */
  readonly publicSmtpPort: number
}

/** Checks one thing. What it throws becomes a finding of level `error`. */
export interface DoctorCheck {
  /** Unique and stable, since programs read it: one to three words with `_` between them. */
  readonly name: string
  readonly area: CheckArea
  run(deps: DoctorDeps): Promise<Finding>
}
