import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startClamd } from '../../src/cli/private/clamd.ts'
import { startMariadb } from '../../src/cli/private/mariadb.ts'
import { allAfterSettled } from '../../src/cli/private/process.ts'

/**
 * What the tests stand on: MAILROOM_TEST_DATABASE_URL (an account that may make databases) and MAILROOM_TEST_CLAMD (a
 * clamd that knows EICAR). What is not given is started here, once for a run, and ends with it, however it ends.
 */
await allAfterSettled([
  give('MAILROOM_TEST_DATABASE_URL', 'mariadb', async folder => {
    const mariadb = await startMariadb({ folder })
    return { pid: mariadb.pid, value: mariadb.url }
  }),
  give('MAILROOM_TEST_CLAMD', 'clamd', async folder => {
    const clamd = await startClamd({ folder })
    return { pid: clamd.pid, value: clamd.address }
  }),
])

async function give(
  key: string,
  name: string,
  start: (folder: string) => Promise<{ readonly pid: number; readonly value: string }>,
): Promise<void> {
  if (process.env[key]) return
  const folder = mkdtempSync(join(tmpdir(), `mailroom-test-${name}-`))
  chmodSync(folder, 0o755)
  const { pid, value } = await start(join(folder, name))
  process.env[key] = value
  endWithUs(pid, folder)
}

/** A shell that waits for its standard input to close, which the end of this process does, also by kill -9. */
function endWithUs(pid: number, folder: string): void {
  const commands = 'cat >/dev/null; kill -9 "$1"; sleep 0.2; rm -rf "$2"'
  const shell = spawn('/bin/sh', ['-c', commands, 'sh', String(pid), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.unref()
}
