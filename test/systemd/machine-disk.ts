import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot as project } from '../harness/cli.ts'
import { makeMemoryFolder } from '../harness/memory-folder.ts'
import { debianBase, runAsRoot } from './debian-base.ts'

/** The folder of the project in the machine. */
export const checkout = '/srv/mailroom'

/** A folder with a fresh Debian, this project's files and Bun, in which nothing has been installed yet. */
export async function makeDisk(): Promise<string> {
  const folder = makeMemoryFolder('mailroom-machine-')
  chmodSync(folder, 0o755)
  await runAsRoot(['tar', '-C', folder, '-xpf', await debianBase()])
  await provide(folder)
  return folder
}

/** The files of the project and this very Bun, on the disk of the machine. */
async function provide(folder: string): Promise<void> {
  const target = join(folder, checkout)
  mkdirSync(target, { recursive: true })
  for (const value of ['mailroom', 'package.json', 'bun.lock', 'tsconfig.json', 'README.md', 'docs', 'src', 'systemd'])
    cpSync(join(project, value), join(target, value), { recursive: true })
  await runAsRoot(['install', '-m', '755', process.execPath, join(folder, 'usr/local/bin/bun')])
  // Debian's own installer writes it.
  writeFileSync(join(folder, 'etc/hosts'), '127.0.0.1 localhost\n::1 localhost\n')
  // Compiling its expressions and the suffixes of all domains takes rspamd most of a minute.
  const rspamd = join(folder, 'etc/rspamd')
  mkdirSync(join(rspamd, 'local.d'), { recursive: true })
  writeFileSync(join(rspamd, 'suffixes'), 'com\norg\nnet\ntest\n')
  const options = 'disable_hyperscan = true;\nurl_tld = "/etc/rspamd/suffixes";\n'
  writeFileSync(join(rspamd, 'local.d/options.inc'), options)
  // What freshclam would fetch; Debian's clamd has its own folder made by the lines before.
  mkdirSync(join(folder, 'var/lib/clamav'), { recursive: true })
  writeFileSync(join(folder, 'var/lib/clamav/eicar.hdb'), '44d88612fea8a8f36de82e1278abb02f:68:Eicar-Test-Signature\n')
  const dropIn = join(folder, 'etc/systemd/system/clamav-daemon.service.d')
  mkdirSync(dropIn, { recursive: true })
  const prepared = ['', '/bin/mkdir -p /run/clamav', '/bin/chown clamav /run/clamav']
  writeFileSync(join(dropIn, 'test.conf'), `[Service]\n${prepared.map(value => `ExecStartPre=${value}\n`).join('')}`)
}

/** Bun's cache, with the libraries of bun.lock in it. */
export async function librariesCache(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-libraries-'))
  try {
    for (const value of ['package.json', 'bun.lock']) cpSync(join(project, value), join(folder, value))
    const run = (...args: string[]) => Bun.spawnSync([process.execPath, ...args], { cwd: folder, env: process.env })
    const installed = run('install', '--frozen-lockfile')
    if (!installed.success) throw new Error(`the libraries could not be fetched: ${installed.stderr}`)
    return run('pm', 'cache').stdout.toString().trim()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
