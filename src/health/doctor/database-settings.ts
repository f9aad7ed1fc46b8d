import { MiB } from '../../base/config/parsers.ts'
import { formatBytes } from '../../base/format.ts'
import { selectTableSizes } from '../../retention/storage/table.ts'
import type { DoctorCheck } from './check.ts'
import { selectCharacterSet, selectMaxConnectionsUsed, selectServerVariables } from './database-server-table.ts'
import { combineFindings, error, type Finding, note, ok, warning } from './finding.ts'

const minimumPacketBytes = 16 * MiB
/** Below it a database is held in memory as a whole anyway. */
const smallData = 1024 * MiB

const durability: DoctorCheck = {
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
        ? ok('each commit is on the disk before it is answered')
        : error(
            `innodb_flush_log_at_trx_commit is ${flush}: mail that was answered with 250 is lost when the machine stops`,
            'Set innodb_flush_log_at_trx_commit = 1 in the server’s configuration, and now by SET GLOBAL.',
          ),
    ]
    if (log_bin === 'ON' && sync_binlog !== '1')
      findings.push(
        warning(
          `sync_binlog is ${sync_binlog}: after a crash the binary log, and what replicates it, may lack mail that was accepted`,
          'Set sync_binlog = 1 in the server’s configuration, and now by SET GLOBAL.',
        ),
      )
    if (innodb_doublewrite === 'OFF')
      findings.push(
        warning(
          'innodb_doublewrite is OFF: a page half written when the power fails cannot be mended',
          'Set innodb_doublewrite = ON, unless the file system writes pages of 16 KiB whole (ZFS).',
        ),
      )
    return combineFindings(findings)
  },
}

const packet: DoctorCheck = {
  name: 'packet_size',
  area: 'database',
  async run({ db }) {
    const bytes = Number((await selectServerVariables(db)).max_allowed_packet)
    if (bytes >= minimumPacketBytes) return ok(`max_allowed_packet is ${formatBytes(bytes)}`)
    return error(
      `max_allowed_packet is ${formatBytes(bytes)}: emails with much content are refused by the database`,
      'Set max_allowed_packet = 16M or more in the server’s configuration, and now by SET GLOBAL; then start Mailroom again.',
    )
  },
}

const connections: DoctorCheck = {
  name: 'connections',
  area: 'database',
  async run({ db, config }) {
    const most = Number((await selectServerVariables(db)).max_connections)
    const used = await selectMaxConnectionsUsed(db)
    // One pool for each role, and one for what runs beside them.
    const needed = (config.roles.length + 1) * config.databaseConnections
    const seen = `max_connections is ${most}, a process like this one may hold ${needed}, and ${used} were in use at once`
    if (needed + 5 > most)
      return error(
        seen,
        `Set max_connections to ${Math.max(150, needed * 2)} or more, or MAILROOM_DATABASE_CONNECTIONS lower: it is for each role.`,
      )
    if (used >= most * 0.9)
      return warning(seen, 'Raise max_connections: when there is no connection left, senders are told to come again.')
    return ok(seen)
  },
}

const settings: DoctorCheck = {
  name: 'settings',
  area: 'database',
  async run({ db }) {
    const { innodb_buffer_pool_size, log_bin, binlog_format } = await selectServerVariables(db)
    const characterSet = await selectCharacterSet(db)
    const pool = Number(innodb_buffer_pool_size)
    const data = (await selectTableSizes(db)).reduce((sum, tableSiz) => sum + tableSiz.bytes, 0)
    const findings: Finding[] = [
      ok(`buffer pool ${formatBytes(pool)} for ${formatBytes(data)} of data; full-text settings play no part`),
    ]
    if (characterSet !== 'utf8mb4')
      findings.push(
        note(
          `the database’s default character set is ${characterSet}`,
          'Mailroom’s own tables name theirs; ALTER DATABASE … CHARACTER SET utf8mb4 keeps tools beside it from guessing.',
        ),
      )
    if (log_bin === 'ON' && binlog_format === 'STATEMENT')
      findings.push(
        error(
          'binlog_format is STATEMENT, with which the server refuses changes under READ COMMITTED',
          'Set binlog_format = ROW (or MIXED) in the server’s configuration, and now by SET GLOBAL; then start Mailroom again.',
        ),
      )
    if (data > smallData && pool < data / 20)
      findings.push(
        warning(
          `the buffer pool is ${formatBytes(pool)} for ${formatBytes(data)} of data: most look-ups wait for the disk`,
          'Raise innodb_buffer_pool_size, to about half of the memory where the database has a machine of its own.',
        ),
      )
    return combineFindings(findings)
  },
}

export const databaseSettingsChecks: readonly DoctorCheck[] = [durability, packet, connections, settings]
