import { withDoctorParts } from '../app/doctor.ts'
import { readConfig } from '../base/config/config.ts'
import { areas } from '../health/doctor/check.ts'
import { allChecks, longestMs, quickChecks } from '../health/doctor/checks.ts'
import { countLevels, type Examined, examine } from '../health/doctor/examine.ts'
import { type Command, readArgs } from './command.ts'
import { plain } from './text.ts'

const titles: Readonly<Record<(typeof areas)[number], string>> = {
  database: 'Database',
  scanner: 'Scanner',
  dns: 'DNS',
  smtp: 'Mail in',
  tls: 'Encryption',
  relay: 'Mail out',
  machine: 'Machine and queue',
}

export const doctor: Command = {
  usage: `./mailroom doctor [--quick] [--json]

Looks at all that would stop or hurt mail, and says of each what was seen and what to do about it:
  error    mail is lost, refused or not sent
  warning  it suffers, or will
  note     worth knowing
It looks at the database (version, durability, limits, migrations), clamd (signatures, sizes, memory), the resolver, our
name (address, reverse name, port 25 by its public address), where mail came from, the certificate and the MTA-STS records,
the relay (connection, STARTTLS, log-in; nothing is sent), disks, clocks and the queue. It changes nothing. Run it on the
machine and with the settings of what serves: it takes at most ${longestMs.all / 1000} seconds or so.
--quick asks only the database, clamd and files, as \`serve\` does at its start and once an hour (mailroom_doctor_findings).
The exit status is 1 where there is an error, else 0.`,

  async run(args, env) {
    const { flags } = readArgs(args, { flags: ['quick'] })
    const [checks, deadlineMs] = flags.has('quick') ? [quickChecks, longestMs.quick] : [allChecks, longestMs.all]
    const examined = await withDoctorParts(readConfig(env), parts => examine(checks, parts, deadlineMs))
    const { error: errors, warning: warnings, note: notes, ok, skipped } = countLevels(examined)
    return {
      status: errors > 0 ? 1 : 0,
      json: {
        status: errors > 0 ? 'error' : warnings > 0 ? 'warning' : 'ok',
        counts: { errors, warnings, notes, ok, skipped },
        findings: examined.map(shape),
      },
      text: [
        ...areas.flatMap(area =>
          areaLines(
            titles[area],
            examined.filter(each => each.area === area),
          ),
        ),
        `Errors: ${errors}, warnings: ${warnings}, notes: ${notes}; fine: ${ok}, not applicable or unknown: ${skipped}.`,
      ].join('\n'),
    }
  },
}

function shape({ name, area, level, seen, ...rest }: Examined) {
  return { check: name, area, level, seen, do: 'todo' in rest ? rest.todo : null }
}

function areaLines(title: string, examined: readonly Examined[]): readonly string[] {
  return examined.length === 0 ? [] : [title, ...examined.flatMap(findingLines), '']
}

function findingLines(each: Examined): readonly string[] {
  const begin = `  ${(each.level === 'skipped' ? '-' : each.level).padEnd(8)} ${each.name}`
  if (!('todo' in each)) return [`${begin}: ${plain(each.seen)}`]
  return [begin, `           seen: ${plain(each.seen)}`, `           do:   ${plain(each.todo)}`]
}
