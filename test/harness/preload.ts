import { spawn } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { startClamd } from '../../src/cli/private/clamd.ts'
import { startMariadb } from '../../src/cli/private/mariadb.ts'
import { allAfterSettled } from '../../src/cli/private/process.ts'
import { makeMemoryFolder } from './memory-folder.ts'

// Those of a whole run would take more room than its databases.
const fewBinaryLogs = ['--max-binlog-size=64M', '--binlog-expire-logs-seconds=10']

/**
 * The servers of the tests: MAILROOM_TEST_DATABASE_URL (an account that may create databases) and MAILROOM_TEST_CLAMD (a
 * clamd that detects EICAR). One that is not given is started here, once for a test run, and ends with it in any case.
 */
await allAfterSettled([
  provide('MAILROOM_TEST_DATABASE_URL', 'mariadb', async folder => {
    const mariadb = await startMariadb({ folder, options: fewBinaryLogs })
    return { pid: mariadb.pid, value: mariadb.url }
  }),
  provide('MAILROOM_TEST_CLAMD', 'clamd', async folder => {
    const clamd = await startClamd({ folder })
    return { pid: clamd.pid, value: clamd.address }
  }),
])

async function provide(
  key: string,
  name: string,
  start: (folder: string) => Promise<{ readonly pid: number; readonly value: string }>,
): Promise<void> {
  if (process.env[key]) return
  const folder = makeMemoryFolder(`mailroom-test-${name}-`)
  chmodSync(folder, 0o755)
  const { pid, value } = await start(join(folder, name))
  process.env[key] = value
  endWithUs(pid, folder)
}

/** Kills a server when this process ends, even by kill -9: a shell waits until its standard input is closed. */
function endWithUs(pid: number, folder: string): void {
  const commands = 'cat >/dev/null; kill -9 "$1"; sleep 0.2; rm -rf "$2"'
  const shell = spawn('/bin/sh', ['-c', commands, 'sh', String(pid), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.unref()
}
