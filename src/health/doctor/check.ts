import type { Clock } from '../../base/clock.ts'
import type { Config } from '../../base/config/config.ts'
import type { Db } from '../../base/database/database.ts'
import type { Resolver } from '../../ports/resolver/port.ts'
import type { Finding } from './finding.ts'

/** What is looked at, in the order in which it is told. */
export const checkAreas = ['database', 'scanner', 'dns', 'smtp', 'tls', 'relay', 'machine'] as const

export type CheckArea = (typeof checkAreas)[number]

/** A relay that mail goes out by, and how to try it without sending anything. */
export interface RelayProbe {
  /** Without its password. */
  readonly name: string
  /** null: it is reached, and takes our log-in; else `phase: what it said`. */
  findProblem(): Promise<string | null>
}

/** What the checks look at. */
export interface DoctorDeps {
  readonly config: Config
  readonly db: Db
  readonly clock: Clock
  readonly resolver: Resolver
  readonly relays: readonly RelayProbe[]
  /** Where the world reaches our SMTP door. */
  readonly publicSmtpPort: number
}

/** One look at one thing. What it throws is told as a finding. */
export interface DoctorCheck {
  /** Unique; two or three words with `_` between them, for programs too. */
  readonly name: string
  readonly area: CheckArea
  run(parts: DoctorDeps): Promise<Finding>
}
