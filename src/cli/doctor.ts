import { withDoctorDeps } from '../app/doctor.ts'
import { readConfig } from '../base/config/config.ts'
import { checkAreas } from '../health/doctor/check.ts'
import { allChecks, checkTimeoutMs, quickChecks } from '../health/doctor/checks.ts'
import { toJsonDoctor } from '../health/doctor/results/schema.ts'
import { countByLevel, type DoctorResult, runChecks } from '../health/doctor/run-checks.ts'
import { defineCommand } from './command.ts'
import { sanitizeForTerminal } from './terminal-text.ts'

const titles: Readonly<Record<(typeof checkAreas)[number], string>> = {
  database: 'Database',
  scanner: 'Scanner',
  spam_filter: 'Spam filter',
  dns: 'DNS',
  smtp: 'Mail in',
  tls: 'Encryption',
  relay: 'Mail out',
  webhooks: 'Webhooks',
  machine: 'Machine and queue',
}

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'Find what stops or hurts mail, and what to do about it',
  details: `Each finding has a level:

  error    mail is lost, refused or not sent
  warning  mail suffers, or will
  note     worth knowing

Checks the database (version, durability, limits, migrations), clamd (signatures, sizes, memory), the resolver, the hostname
(address, reverse DNS, port 25 at its public address), the addresses that mail came from, the certificate and the MTA-STS
records, the relay (connection, STARTTLS, authentication; nothing is sent), disks, clocks and the queue. It changes nothing.
Run it on the machine and with the settings of the service. It takes at most about ${checkTimeoutMs.all / 1000} seconds.

The exit status is 1 if there is an error, else 0.`,
  options: {
    quick: {
      description:
        'check only the database, clamd and files, as serve does when it starts and once an hour (mailroom_doctor_findings)',
    },
  },
  async run({ quick }, { env }) {
    const [checks, timeoutMs] = quick ? [quickChecks, checkTimeoutMs.quick] : [allChecks, checkTimeoutMs.all]
    const results = await withDoctorDeps(readConfig(env), deps => runChecks(checks, deps, timeoutMs))
    const { error: errors, warning: warnings, note: notes, ok, skipped } = countByLevel(results)
    return {
      status: errors > 0 ? 1 : 0,
      json: toJsonDoctor(results),
      text: [
        ...checkAreas.flatMap(area => {
          const ofArea = results.filter(result => result.area === area)
          return ofArea.length === 0 ? [] : [titles[area], ...ofArea.flatMap(describeResult), '']
        }),
        `Errors: ${errors}, warnings: ${warnings}, notes: ${notes}; ok: ${ok}, not applicable or unknown: ${skipped}.`,
      ].join('\n'),
    }
  },
})

function describeResult(result: DoctorResult): readonly string[] {
  const heading = `  ${(result.level === 'skipped' ? '-' : result.level).padEnd(8)} ${result.name}`
  const seen = sanitizeForTerminal(result.seen)
  if (!('todo' in result)) return [`${heading}: ${seen}`]
  return [heading, `           seen: ${seen}`, `           do:   ${sanitizeForTerminal(result.todo)}`]
}
