import type { Check } from './check.ts'
import { databaseChecks } from './database.ts'
import { dnsChecks } from './dns.ts'
import { machineChecks } from './machine.ts'
import { peerCheck } from './peers.ts'
import { relayChecks } from './relay.ts'
import { scannerChecks } from './scanner.ts'
import { smtpChecks } from './smtp.ts'
import { certificateCheck, tlsChecks } from './tls.ts'

/** What asks nothing but the database, clamd and files. */
export const quickChecks: readonly Check[] = [
  ...databaseChecks,
  ...scannerChecks,
  peerCheck,
  certificateCheck,
  ...machineChecks,
]

export const allChecks: readonly Check[] = [
  ...databaseChecks,
  ...scannerChecks,
  ...dnsChecks,
  ...smtpChecks,
  ...tlsChecks,
  ...relayChecks,
  ...machineChecks,
]

/** How long one check may take, in milliseconds. */
export const longestMs = { all: 10_000, quick: 3000 } as const
