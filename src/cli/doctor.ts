import { withDoctorDeps } from '../app/doctor.ts'
import { readConfig } from '../base/config/config.ts'
import { checkAreas } from '../health/doctor/check.ts'
import { allChecks, checkTimeoutMs, quickChecks } from '../health/doctor/checks.ts'
import { countByLevel, type DoctorResult, runChecks } from '../health/doctor/run-checks.ts'
import { type Command, readArguments } from './command.ts'
import { sanitizeForTerminal } from './terminal-text.ts'

const titles: Readonly<Record<(typeof checkAreas)[number], string>> = {
  database: 'Database',
  scanner: 'Scanner',
  dns: 'DNS',
  smtp: 'Mail in',
  tls: 'Encryption',
  relay: 'Mail out',
  machine: 'Machine and queue',
}

export const doctorCommand: Command = {
  usage: `./mailroom doctor [--quick] [--json]

Looks at all that would stop or hurt mail, and says of each what was seen and what to do about it:
  error    mail is lost, refused or not sent
  warning  it suffers, or will
  note     worth knowing
It looks at the database (version, durability, limits, migrations), clamd (signatures, sizes, memory), the resolver, our
name (address, reverse name, port 25 by its public address), where mail came from, the certificate and the MTA-STS records,
the relay (connection, STARTTLS, log-in; nothing is sent), disks, clocks and the queue. It changes nothing. Run it on the
machine and with the settings of what serves: it takes at most ${checkTimeoutMs.all / 1000} seconds or so.
--quick asks only the database, clamd and files, as \`serve\` does at its start and once an hour (mailroom_doctor_findings).
The exit status is 1 where there is an error, else 0.`,

  async run(args, env) {
    const { flags } = readArguments(args, { flags: ['quick'] })
    const [checks, deadlineMs] = flags.has('quick')
      ? [quickChecks, checkTimeoutMs.quick]
      : [allChecks, checkTimeoutMs.all]
    const examined = await withDoctorDeps(readConfig(env), parts => runChecks(checks, parts, deadlineMs))
    const { error: errors, warning: warnings, note: notes, ok, skipped } = countByLevel(examined)
    return {
      status: errors > 0 ? 1 : 0,
      json: {
        status: errors > 0 ? 'error' : warnings > 0 ? 'warning' : 'ok',
        counts: { errors, warnings, notes, ok, skipped },
        findings: examined.map(toJsonFinding),
      },
      text: [
        ...checkAreas.flatMap(area =>
          areaLines(
            titles[area],
            examined.filter(doctorResult => doctorResult.area === area),
          ),
        ),
        `Errors: ${errors}, warnings: ${warnings}, notes: ${notes}; fine: ${ok}, not applicable or unknown: ${skipped}.`,
      ].join('\n'),
    }
  },
}

function toJsonFinding({ name, area, level, seen, ...rest }: DoctorResult) {
  return { check: name, area, level, seen, do: 'todo' in rest ? rest.todo : null }
}

function areaLines(title: string, examined: readonly DoctorResult[]): readonly string[] {
  return examined.length === 0 ? [] : [title, ...examined.flatMap(findingLines), '']
}

function findingLines(doctorResult: DoctorResult): readonly string[] {
  const begin = `  ${(doctorResult.level === 'skipped' ? '-' : doctorResult.level).padEnd(8)} ${doctorResult.name}`
  if (!('todo' in doctorResult)) return [`${begin}: ${sanitizeForTerminal(doctorResult.seen)}`]
  return [
    begin,
    `           seen: ${sanitizeForTerminal(doctorResult.seen)}`,
    `           do:   ${sanitizeForTerminal(doctorResult.todo)}`,
  ]
}
