import { readFile } from 'node:fs/promises'
import { dayMs, millisecondsOf } from '../../base/clock.ts'
import type { ClamdAddress } from '../../base/config/config.ts'
import { formatBytes, pluralize } from '../../base/format.ts'
import { sendClamdCommand } from '../../ports/scanner/clamd-commands.ts'
import type { DoctorCheck } from './check.ts'
import { error, note, ok, skipped, warning } from './finding.ts'

const answerMs = 2000
const warningAgeDays = 3
const errorAgeDays = 14

const clamdCheck: DoctorCheck = {
  name: 'clamd',
  area: 'scanner',
  async run({ config }) {
    const answer = await sendClamdCommand(config.clamd, 'PING', answerMs).catch((thrown: Error) => thrown)
    const where = describeAddress(config.clamd)
    if (answer === 'PONG') return ok(`clamd answers at ${where}`)
    const why = answer instanceof Error ? answer.message : answer || 'it says nothing'
    return error(
      `clamd does not answer at ${where}: ${why}`,
      config.unscanned === 'quarantine'
        ? 'Start clamd, or name where it listens in MAILROOM_CLAMD; on a socket the account of Mailroom must be let in. Until then all mail waits in quarantine.'
        : 'Start clamd, or name where it listens in MAILROOM_CLAMD; on a socket the account of Mailroom must be let in. Until then all mail is answered 451.',
    )
  },
}

const signaturesCheck: DoctorCheck = {
  name: 'signatures',
  area: 'scanner',
  async run({ config, clock }) {
    const version = await sendClamdCommand(config.clamd, 'VERSION', answerMs).catch(() => null)
    if (!version) return skipped('clamd does not answer')
    // `ClamAV 1.4.1/27480/Mon Dec  2 09:36:54 2024`
    const [program = '', number, date] = version.split('/')
    const madeAt = date === undefined ? Number.NaN : Date.parse(`${date} UTC`)
    if (number === undefined || Number.isNaN(madeAt))
      return warning(
        `${program} has no signatures of ClamAV’s own (daily.cld)`,
        'Let freshclam fetch them and run as a service; where only signatures of your own are wanted, this may stay.',
      )
    const days = Math.floor((millisecondsOf(clock.now()) - madeAt) / dayMs)
    const seen = `${program}, signatures ${number} are ${days < 1 ? 'of today' : `${pluralize(days, 'day')} old`}`
    if (days <= warningAgeDays) return ok(seen)
    const todo =
      'See why freshclam brings no newer ones (systemctl status clamav-freshclam): new malware passes as clean meanwhile.'
    return days > errorAgeDays ? error(seen, todo) : warning(seen, todo)
  },
}

const scanSizeCheck: DoctorCheck = {
  name: 'scan_size',
  area: 'scanner',
  async run({ config }) {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(config.maxMessageBytes)
    const refusal = await sendClamdCommand(config.clamd, 'INSTREAM', answerMs, length).catch(() => undefined)
    if (refusal === undefined) return skipped('clamd does not answer')
    // It waited for as much, and the connection ended.
    if (refusal === '') return ok(`clamd takes messages of ${formatBytes(config.maxMessageBytes)}`)
    return error(
      `clamd does not take messages of ${formatBytes(config.maxMessageBytes)}: ${refusal}`,
      'Set StreamMaxLength and MaxFileSize in clamd.conf above MAILROOM_MAX_MESSAGE_BYTES, or that lower: what is larger cannot be scanned and waits in quarantine.',
    )
  },
}

const scanThreadsCheck: DoctorCheck = {
  name: 'scan_threads',
  area: 'scanner',
  async run({ config }) {
    const stats = await sendClamdCommand(config.clamd, 'STATS', answerMs).catch(() => null)
    const most = Number(/\bmax (\d+)/.exec(stats ?? '')?.[1])
    if (!most) return skipped('clamd does not tell')
    const seen = `clamd scans ${most} at once, Mailroom asks for ${config.scansAtOnce}`
    if (config.scansAtOnce < most) return ok(seen)
    return warning(
      seen,
      'Set MaxThreads in clamd.conf higher, or MAILROOM_SCANS_AT_ONCE lower: the others wait for a thread and may run out of time.',
    )
  },
}

const scanMemoryCheck: DoctorCheck = {
  name: 'scan_memory',
  area: 'scanner',
  async run({ config }) {
    const stats = await sendClamdCommand(config.clamd, 'STATS', answerMs).catch(() => null)
    const used = Number(/\bpools_used ([\d.]+)M/.exec(stats ?? '')?.[1]) * 1024 * 1024
    if (!used) return skipped('clamd does not tell')
    const seen = `clamd’s signatures take ${formatBytes(used)}`
    const free = isLocal(config.clamd) ? await freeMemory() : undefined
    if (free === undefined || free > used) return ok(seen)
    return note(
      `${seen}, and ${formatBytes(free)} of memory is free`,
      'Set ConcurrentDatabaseReload no in clamd.conf: while it reloads it would hold them twice, and the kernel might end it, or the database.',
    )
  },
}

function describeAddress(address: ClamdAddress): string {
  return address.kind === 'unix' ? address.path : `${address.host}:${address.port}`
}

function isLocal(address: ClamdAddress): boolean {
  return address.kind === 'unix' || address.host === 'localhost' || address.host.startsWith('127.')
}

/** What programs can still have, in bytes; undefined: this system does not tell. */
async function freeMemory(): Promise<number | undefined> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '')
  const kibibytes = Number(/^MemAvailable:\s+(\d+) kB/m.exec(text)?.[1])
  return kibibytes ? kibibytes * 1024 : undefined
}

export const scannerChecks: readonly DoctorCheck[] = [
  clamdCheck,
  signaturesCheck,
  scanSizeCheck,
  scanThreadsCheck,
  scanMemoryCheck,
]
