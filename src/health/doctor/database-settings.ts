import { MiB } from '../../base/config/parsers.ts'
import { maxDatabaseConnections, processCount } from '../../base/config/processes.ts'
import { formatBytes } from '../../base/format.ts'
import { readMachineLimits } from '../../base/machine-limits.ts'
import { selectTableSizes } from '../../retention/storage/table.ts'
import type { DoctorCheck } from './check.ts'
import { selectCharacterSet, selectMaxConnectionsUsed, selectServerVariables } from './database-server-table.ts'
import { combineFindings, error, type Finding, note, ok, warning } from './finding.ts'

const minimumPacketBytes = 16 * MiB
/** A smaller database fits into any buffer pool well enough. */
const smallData = 1024 * MiB

const durabilityCheck: DoctorCheck = {
  name: 'durability',
  area: 'database',
  async run({ db }) {
    const {
      innodb_flush_log_at_trx_commit: flush,
      log_bin,
      sync_binlog,
      innodb_doublewrite,
    } = await selectServerVariables(db)
    const findings: Finding[] = [
      flush === '1'
        ? ok('each commit is flushed to disk before it is acknowledged')
        : error(
            `innodb_flush_log_at_trx_commit is ${flush}: mail that was accepted (250) is lost when the machine crashes`,
            'Set innodb_flush_log_at_trx_commit = 1 in the server’s configuration, and right now with SET GLOBAL.',
          ),
    ]
    if (log_bin === 'ON' && sync_binlog !== '1')
      findings.push(
        warning(
          `sync_binlog is ${sync_binlog}: after a crash the binary log and the replicas may lack mail that was accepted`,
          'Set sync_binlog = 1 in the server’s configuration, and right now with SET GLOBAL.',
        ),
      )
    if (innodb_doublewrite === 'OFF')
      findings.push(
        warning(
          'innodb_doublewrite is OFF: a page that is half written when the power fails cannot be repaired',
          'Set innodb_doublewrite = ON, unless the file system writes 16 KiB pages atomically (ZFS).',
        ),
      )
    return combineFindings(findings)
  },
}

const packetSizeCheck: DoctorCheck = {
  name: 'packet_size',
  area: 'database',
  async run({ db }) {
    const bytes = Number((await selectServerVariables(db)).max_allowed_packet)
    if (bytes >= minimumPacketBytes) return ok(`max_allowed_packet is ${formatBytes(bytes)}`)
    return error(
      `max_allowed_packet is ${formatBytes(bytes)}: the database refuses large statements, so that large messages cannot be stored`,
      'Set max_allowed_packet = 16M or more in the server’s configuration, and right now with SET GLOBAL; then start Mailroom again.',
    )
  },
}

const connectionsCheck: DoctorCheck = {
  name: 'connections',
  area: 'database',
  async run({ db, config }) {
    const max = Number((await selectServerVariables(db)).max_connections)
    const used = await selectMaxConnectionsUsed(db)
    const needed = maxDatabaseConnections(config, processCount(config, readMachineLimits()))
    const seen = `max_connections is ${max}; \`serve\` with these settings opens up to ${needed}, and up to ${used} were in use at once`
    if (needed + 5 > max)
      return error(
        seen,
        `Set max_connections to ${Math.max(150, needed * 2)} or more, or lower MAILROOM_DATABASE_CONNECTIONS, which counts for each role.`,
      )
    if (used >= max * 0.9)
      return warning(seen, 'Raise max_connections: when no connection is left, incoming mail is deferred.')
    return ok(seen)
  },
}

const settingsCheck: DoctorCheck = {
  name: 'settings',
  area: 'database',
  async run({ db }) {
    const { innodb_buffer_pool_size, log_bin, binlog_format } = await selectServerVariables(db)
    const characterSet = await selectCharacterSet(db)
    const pool = Number(innodb_buffer_pool_size)
    const data = (await selectTableSizes(db)).reduce((sum, table) => sum + table.bytes, 0)
    const findings: Finding[] = [ok(`the buffer pool is ${formatBytes(pool)} for ${formatBytes(data)} of data`)]
    if (characterSet !== 'utf8mb4')
      findings.push(
        note(
          `the database’s default character set is ${characterSet}`,
          'Mailroom’s tables set theirs, so this harms nothing. ALTER DATABASE … CHARACTER SET utf8mb4 makes it the default for other tools too.',
        ),
      )
    if (log_bin === 'ON' && binlog_format === 'STATEMENT')
      findings.push(
        error(
          'binlog_format is STATEMENT, with which the server refuses writes under READ COMMITTED',
          'Set binlog_format = ROW (or MIXED) in the server’s configuration, and right now with SET GLOBAL; then start Mailroom again.',
        ),
      )
    if (data > smallData && pool < data / 20)
      findings.push(
        warning(
          `the buffer pool is ${formatBytes(pool)} for ${formatBytes(data)} of data: most lookups wait for the disk`,
          'Raise innodb_buffer_pool_size: to about half of the memory if the database has a machine of its own.',
        ),
      )
    return combineFindings(findings)
  },
}

export const databaseSettingsChecks: readonly DoctorCheck[] = [
  durabilityCheck,
  packetSizeCheck,
  connectionsCheck,
  settingsCheck,
]
