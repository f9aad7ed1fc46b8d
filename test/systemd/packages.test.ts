import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { projectRoot } from '../harness/cli.ts'
import { temporaryFolder } from '../harness/up.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())

/** Runs a command as the installer does where others may have the packages locked: it fails with `error` so many times. */
async function runWhenUnlocked(failures: number, error: string) {
  const count = join(folder.path, crypto.randomUUID())
  const command = `echo >>${count}; (($(wc -l <${count}) > ${failures})) && echo done || { echo "${error}" >&2; exit 2; }`
  const script = `set -euo pipefail; say() { echo "mailroom: $*" >&2; }
    source ${projectRoot}/systemd/steps/packages.bash
    when_unlocked bash -c '${command}'`
  const { exitCode, stderr } = Bun.spawnSync(['bash', '-c', script])
  return { status: exitCode, err: stderr.toString() }
}

const waiting = 'mailroom: Another program is changing the packages: waiting for it, five minutes at most\n'

test.each([
  'dpkg: error: dpkg frontend lock was locked by another process with pid 17',
  'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 17 (apt-get)',
])('%s: it waits', async error => {
  expect(await runWhenUnlocked(2, error)).toEqual({ status: 0, err: `${waiting}done\n` })
})

test('another error ends it', async () => {
  expect(await runWhenUnlocked(1, 'dpkg: error: no space left')).toEqual({
    status: 1,
    err: 'dpkg: error: no space left\n',
  })
})
