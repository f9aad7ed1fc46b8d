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
    if (problem?.code === 'ENOENT') return skipped(`${varFolder} is made when it first serves`)
    if (problem !== undefined)
      return error(
        `${varFolder} cannot be written: ${problem.message}`,
        'Give the folder of MAILROOM_VAR to the account that runs Mailroom: larger messages are spooled there.',
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
  async run(parts) {
    const trouble = await findQueueProblem(parts)
    if (trouble === undefined) return ok('no email waits longer than it should')
    return error(
      trouble,
      'See why none is taken: whether a process with the role relay runs, and what the relay says (./mailroom queue list).',
    )
  },
}

const clockCheck: DoctorCheck = {
  name: 'clock',
  area: 'machine',
  async run({ db, clock }) {
    const before = millisecondsOf(clock.now())
    const theirs = millisecondsOf(await selectServerTime(db))
    const after = millisecondsOf(clock.now())
    // It was read at some moment between the two.
    const off = Math.max(before - theirs, theirs - after, 0)
    const todo =
      'Let chrony or systemd-timesyncd keep the clocks of both machines: retries, signatures (DKIM) and certificates go by them.'
    const findings = [
      off > farOffMs
        ? error(`our clock and the database server’s are ${Math.round(off / 1000)} seconds apart`, todo)
        : off > offMs
          ? warning(`our clock and the database server’s are ${(off / 1000).toFixed(1)} seconds apart`, todo)
          : ok('it agrees with the database server’s'),
    ]
    if (isClockSynchronized() === false)
      findings.push(
        note(
          'the kernel knows of nothing that keeps the clock right',
          'Install chrony or start systemd-timesyncd, unless what this machine runs in sees to its clock.',
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
      return ok('secret.key is in MAILROOM_VAR; a copy of it belongs in another place')
    return skipped('secret.key is made when it first serves')
  },
}

export const machineChecks: readonly DoctorCheck[] = [folderCheck, diskCheck, queueCheck, clockCheck, secretKeyCheck]
