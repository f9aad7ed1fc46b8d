import type { DoctorCheck } from './check.ts'
import { clientAddressesCheck } from './client-addresses.ts'
import { scannerChecks } from './content/scanner.ts'
import { spamFilterChecks } from './content/spam-filter.ts'
import { databaseChecks } from './database.ts'
import { dnsChecks } from './dns.ts'
import { machineChecks } from './machine.ts'
import { relayChecks } from './relay.ts'
import { smtpChecks } from './smtp/smtp.ts'
import { submissionCheck } from './smtp/submission.ts'
import { spfChecks } from './spf.ts'
import { certificateCheck, dashboardCheck, tlsChecks } from './tls.ts'
import { webhookChecks } from './webhooks.ts'

/** The checks that ask only the database, clamd, rspamd and files. */
export const quickChecks: readonly DoctorCheck[] = [
  ...databaseChecks,
  ...scannerChecks,
  ...spamFilterChecks,
  clientAddressesCheck,
  certificateCheck,
  dashboardCheck,
  ...webhookChecks,
  ...machineChecks,
]

export const allChecks: readonly DoctorCheck[] = [
  ...databaseChecks,
  ...scannerChecks,
  ...spamFilterChecks,
  ...dnsChecks,
  ...spfChecks,
  ...smtpChecks,
  submissionCheck,
  ...tlsChecks,
  ...relayChecks,
  ...webhookChecks,
  ...machineChecks,
]

/** The time limit of one check, in milliseconds. */
export const checkTimeoutMs = { all: 10_000, quick: 3000 } as const
