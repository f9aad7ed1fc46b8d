import { MiB } from '../../base/config/parsers.ts'
import { size } from '../../base/format.ts'
import { selectTableSizes } from '../../retention/storage/table.ts'
import type { Check } from './check.ts'
import { error, type Finding, note, ok, together, warning } from './finding.ts'
import { selectCharacterSet, selectConnectionsUsed, selectVariables } from './server-table.ts'

const leastPacket = 16 * MiB
/** Below it a database is held in memory as a whole anyway. */
const smallData = 1024 * MiB

const durability: Check = {
  name: 'durability',
  area: 'database',
  async run({ db }) {
    const {
      innodb_flush_log_at_trx_commit: flush,
      log_bin,
      sync_binlog,
      innodb_doublewrite,
    } = await selectVariables(db)
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
    return together(findings)
  },
}

const packet: Check = {
  name: 'packet_size',
  area: 'database',
  async run({ db }) {
    const bytes = Number((await selectVariables(db)).max_allowed_packet)
    if (bytes >= leastPacket) return ok(`max_allowed_packet is ${size(bytes)}`)
    return error(
      `max_allowed_packet is ${size(bytes)}: emails with much content are refused by the database`,
      'Set max_allowed_packet = 16M or more in the server’s configuration, and now by SET GLOBAL; then start Mailroom again.',
    )
  },
}

const connections: Check = {
  name: 'connections',
  area: 'database',
  async run({ db, config }) {
    const most = Number((await selectVariables(db)).max_connections)
    const used = await selectConnectionsUsed(db)
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

const settings: Check = {
  name: 'settings',
  area: 'database',
  async run({ db }) {
    const { innodb_buffer_pool_size, log_bin, binlog_format } = await selectVariables(db)
    const characterSet = await selectCharacterSet(db)
    const pool = Number(innodb_buffer_pool_size)
    const data = (await selectTableSizes(db)).reduce((sum, each) => sum + each.bytes, 0)
    const findings: Finding[] = [
      ok(`buffer pool ${size(pool)} for ${size(data)} of data; full-text settings play no part`),
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
          `the buffer pool is ${size(pool)} for ${size(data)} of data: most look-ups wait for the disk`,
          'Raise innodb_buffer_pool_size, to about half of the memory where the database has a machine of its own.',
        ),
      )
    return together(findings)
  },
}

export const settingsChecks: readonly Check[] = [durability, packet, connections, settings]
