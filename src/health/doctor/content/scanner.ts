import { readFile } from 'node:fs/promises'
import { dayMs, millisecondsOf } from '../../../base/clock.ts'
import type { ClamdAddress } from '../../../base/config/config.ts'
import { formatBytes, pluralize } from '../../../base/format.ts'
import { sendClamdCommand } from '../../../ports/scanner/clamd-commands.ts'
import type { DoctorCheck } from '../check.ts'
import { error, note, ok, skipped, warning } from '../finding.ts'

const timeoutMs = 2000
const warningAgeDays = 3
const errorAgeDays = 14

const clamdCheck: DoctorCheck = {
  name: 'clamd',
  area: 'scanner',
  async run({ config }) {
    const answer = await sendClamdCommand(config.clamd, 'PING', timeoutMs).catch((thrown: Error) => thrown)
    const where = describeAddress(config.clamd)
    if (answer === 'PONG') return ok(`clamd answers at ${where}`)
    const why = answer instanceof Error ? answer.message : answer || 'it sent nothing'
    return error(
      `clamd does not answer at ${where}: ${why}`,
      config.unscanned === 'quarantine'
        ? 'Start clamd, or set MAILROOM_CLAMD to the address on which it listens; the account of Mailroom needs access to a Unix socket. Until then all mail goes to quarantine.'
        : 'Start clamd, or set MAILROOM_CLAMD to the address on which it listens; the account of Mailroom needs access to a Unix socket. Until then all mail is deferred (451).',
    )
  },
}

const signaturesCheck: DoctorCheck = {
  name: 'signatures',
  area: 'scanner',
  async run({ config, clock }) {
    const version = await sendClamdCommand(config.clamd, 'VERSION', timeoutMs).catch(() => null)
    if (!version) return skipped('clamd does not answer')
    // `ClamAV 1.4.1/27480/Mon Dec  2 09:36:54 2024`
    const [program = '', number, date] = version.split('/')
    const builtAt = date === undefined ? Number.NaN : Date.parse(`${date} UTC`)
    if (number === undefined || Number.isNaN(builtAt))
      return warning(
        `${program} has no official signatures (daily.cld)`,
        'Run freshclam as a service to download them. Ignore this if you use only signatures of your own.',
      )
    const days = Math.floor((millisecondsOf(clock.now()) - builtAt) / dayMs)
    const seen = `${program}, signatures ${number}, ${days < 1 ? 'of today' : `${pluralize(days, 'day')} old`}`
    if (days <= warningAgeDays) return ok(seen)
    const todo =
      'Find out why freshclam downloads no newer ones (systemctl status clamav-freshclam): new malware passes as clean meanwhile.'
    return days > errorAgeDays ? error(seen, todo) : warning(seen, todo)
  },
}

const scanSizeCheck: DoctorCheck = {
  name: 'scan_size',
  area: 'scanner',
  async run({ config }) {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(config.maxMessageBytes)
    const refusal = await sendClamdCommand(config.clamd, 'INSTREAM', timeoutMs, length).catch(() => undefined)
    if (refusal === undefined) return skipped('clamd does not answer')
    // clamd waited for that many bytes until we closed the connection.
    if (refusal === '') return ok(`clamd accepts messages of ${formatBytes(config.maxMessageBytes)}`)
    return error(
      `clamd does not accept messages of ${formatBytes(config.maxMessageBytes)}: ${refusal}`,
      'Set StreamMaxLength and MaxFileSize in clamd.conf above MAILROOM_MAX_MESSAGE_BYTES, or lower the latter: larger messages cannot be scanned and go to quarantine.',
    )
  },
}

const scanThreadsCheck: DoctorCheck = {
  name: 'scan_threads',
  area: 'scanner',
  async run({ config }) {
    const stats = await sendClamdCommand(config.clamd, 'STATS', timeoutMs).catch(() => null)
    const maxThreads = Number(/\bmax (\d+)/.exec(stats ?? '')?.[1])
    if (!maxThreads) return skipped('clamd does not report it')
    const seen = `clamd scans up to ${maxThreads} files at once, Mailroom sends up to ${config.scansAtOnce}`
    if (config.scansAtOnce < maxThreads) return ok(seen)
    return warning(
      seen,
      'Raise MaxThreads in clamd.conf, or lower MAILROOM_SCANS_AT_ONCE: scans without a thread wait and may time out.',
    )
  },
}

const scanMemoryCheck: DoctorCheck = {
  name: 'scan_memory',
  area: 'scanner',
  async run({ config }) {
    const stats = await sendClamdCommand(config.clamd, 'STATS', timeoutMs).catch(() => null)
    const used = Number(/\bpools_used ([\d.]+)M/.exec(stats ?? '')?.[1]) * 1024 * 1024
    if (!used) return skipped('clamd does not report it')
    const seen = `clamd’s signatures take ${formatBytes(used)} of memory`
    const free = isLocal(config.clamd) ? await freeMemory() : undefined
    if (free === undefined || free > used) return ok(seen)
    return note(
      `${seen}, and ${formatBytes(free)} is free`,
      'Set ConcurrentDatabaseReload no in clamd.conf: otherwise it holds them twice while it reloads, and the kernel may kill it or the database for lack of memory.',
    )
  },
}

function describeAddress(address: ClamdAddress): string {
  return address.kind === 'unix' ? address.path : `${address.host}:${address.port}`
}

function isLocal(address: ClamdAddress): boolean {
  return address.kind === 'unix' || address.host === 'localhost' || address.host.startsWith('127.')
}

/** The memory that programs can still get, in bytes; undefined: this system does not report it. */
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
