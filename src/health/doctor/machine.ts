import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { millisecondsOf } from '../../base/clock.ts'
import { findFullFolder } from '../../base/disk-space.ts'
import { formatBytes, pluralize } from '../../base/format.ts'
import { type DiskForecast, forecastStorage } from '../../retention/storage/forecast.ts'
import { describeFullFolder, findQueueProblem } from '../readiness/checks.ts'
import type { DoctorCheck } from './check.ts'
import { selectServerTime } from './database-server-table.ts'
import { combineFindings, error, type Finding, note, ok, skipped, warning } from './finding.ts'
import { isClockSynchronized } from './kernel-clock.ts'

const soonDays = 30
const verySoonDays = 3
const offMs = 2000
const farOffMs = 60_000

const folderCheck: DoctorCheck = {
  name: 'folder',
  area: 'machine',
  async run({ config: { varFolder, leastFreeBytes } }) {
    const problem = await access(varFolder, constants.R_OK | constants.W_OK).then(
      () => undefined,
      (thrown: NodeJS.ErrnoException) => thrown,
    )
    if (problem?.code === 'ENOENT') return skipped(`${varFolder} is created when Mailroom first serves`)
    if (problem !== undefined)
      return error(
        `${varFolder} cannot be written: ${problem.message}`,
        'Let the account that runs Mailroom write the folder in MAILROOM_VAR: larger messages are spooled there.',
      )
    const full = await findFullFolder([varFolder], leastFreeBytes)
    if (full)
      return error(
        describeFullFolder(full, leastFreeBytes),
        'Free some space: incoming mail is spooled there. MAILROOM_LEAST_FREE_BYTES sets the limit.',
      )
    return ok(`${varFolder} can be written`)
  },
}

const diskCheck: DoctorCheck = {
  name: 'disk',
  area: 'machine',
  async run({ db, clock, config }) {
    const { disks } = await forecastStorage({ db, clock, config })
    return combineFindings(disks.map(disk => assessDisk(disk, config.leastFreeBytes)))
  },
}

function assessDisk({ path, holds, free, total, daysUntilFull }: DiskForecast, minFree: number): Finding {
  const when = daysUntilFull === null ? '' : `, full in ${pluralize(daysUntilFull, 'day')}`
  const seen = `${path} (${holds}): ${formatBytes(free)} of ${formatBytes(total)} free${when}`
  const todo = `Free some space, or store less: ./mailroom retention plan shows what can be deleted. Below ${formatBytes(minFree)} free mail is refused (MAILROOM_LEAST_FREE_BYTES).`
  if (free < minFree || (daysUntilFull !== null && daysUntilFull < verySoonDays)) return error(seen, todo)
  if (free < minFree * 2 || (free < total / 10 && free < minFree * 20)) return warning(seen, todo)
  return daysUntilFull !== null && daysUntilFull < soonDays ? warning(seen, todo) : ok(seen)
}

const queueCheck: DoctorCheck = {
  name: 'queue',
  area: 'machine',
  async run(deps) {
    const problem = await findQueueProblem(deps)
    if (problem === undefined) return ok('no email is overdue')
    return error(
      problem,
      'Check that a process with the role relay is running, and what the relay replies (./mailroom queue list).',
    )
  },
}

const clockCheck: DoctorCheck = {
  name: 'clock',
  area: 'machine',
  async run({ db, clock }) {
    const before = millisecondsOf(clock.now())
    const server = millisecondsOf(await selectServerTime(db))
    const after = millisecondsOf(clock.now())
    // The server read its clock at some moment between the two.
    const off = Math.max(before - server, server - after, 0)
    const todo =
      'Synchronize the clocks of both machines with chrony or systemd-timesyncd: retries, DKIM signatures and certificates depend on them.'
    const findings = [
      off > farOffMs
        ? error(
            `the clocks of this machine and of the database server are ${Math.round(off / 1000)} seconds apart`,
            todo,
          )
        : off > offMs
          ? warning(
              `the clocks of this machine and of the database server are ${(off / 1000).toFixed(1)} seconds apart`,
              todo,
            )
          : ok('it agrees with the clock of the database server'),
    ]
    if (isClockSynchronized() === false)
      findings.push(
        note(
          'the kernel reports that nothing synchronizes the clock',
          'Install chrony or start systemd-timesyncd, unless the host of this virtual machine or container synchronizes the clock.',
        ),
      )
    return combineFindings(findings)
  },
}

const secretKeyCheck: DoctorCheck = {
  name: 'secret_key',
  area: 'machine',
  async run({ config }) {
    if (config.secrets !== undefined) return ok('MAILROOM_SECRET_KEY is set')
    if (await Bun.file(join(config.varFolder, 'secret.key')).exists())
      return ok('secret.key is in MAILROOM_VAR; keep a copy of it elsewhere')
    return skipped('secret.key is created when Mailroom first serves')
  },
}

export const machineChecks: readonly DoctorCheck[] = [folderCheck, diskCheck, queueCheck, clockCheck, secretKeyCheck]
