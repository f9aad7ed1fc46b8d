import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '../../src/cli/private/process.ts'

const suite = 'bookworm'
/** What the installer asks Debian for, so that a machine needs no network. */
const packages = [
  ...['ca-certificates', 'curl', 'unzip', 'mariadb-server', 'clamav-daemon', 'clamav-freshclam'],
  ...['rspamd', 'redis-server'],
]

const cacheFolder = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'mailroom-test')

/** Runs a program to its end, as root. @throws with what it said when it fails. */
export async function runAsRoot(command: readonly string[], settings: Readonly<Record<string, string>> = {}) {
  const [name = '', ...args] = command
  const running = Bun.spawn([findProgram(name, name), ...args], {
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LC_ALL: 'C', ...proxies(), ...settings },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, status] = await Promise.all([
    new Response(running.stdout).text(),
    new Response(running.stderr).text(),
    running.exited,
  ])
  if (status !== 0)
    throw new Error(`${command.join(' ').slice(0, 200)} failed (${status}):\n${out}${err}`.slice(0, 20_000))
  return out
}

function proxies(): Record<string, string> {
  const given = Object.entries(process.env).filter(([name, value]) => /^(https?|no)_proxy$/i.test(name) && value)
  return Object.fromEntries(given) as Record<string, string>
}

/**
 * A tar file of a fresh Debian, with the packages that the installer asks for downloaded but not installed. It is made
 * once on a machine, by debootstrap, and kept in the user's cache folder.
 */
export async function debianBase(): Promise<string> {
  const file = join(cacheFolder, `${suite}-rspamd.tar`)
  if (existsSync(file)) return file
  const folder = join(cacheFolder, `${suite}-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  try {
    await runAsRoot([
      'debootstrap',
      '--variant=minbase',
      '--include=systemd,systemd-sysv,dbus',
      suite,
      folder,
      await mirror(),
    ])
    writeFileSync(join(folder, 'etc/apt/apt.conf.d/00host'), await aptSettings())
    const get = `apt-get update && apt-get install --yes --no-install-recommends --download-only ${packages.join(' ')}`
    await runAsRoot([
      'unshare',
      '--mount',
      '--pid',
      '--fork',
      'chroot',
      folder,
      'sh',
      '-ec',
      `mount -t proc proc /proc; ${get}`,
    ])
    await runAsRoot(['tar', '-C', folder, '--one-file-system', '-cf', `${folder}.tar`, '.'])
    renameSync(`${folder}.tar`, file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
    rmSync(`${folder}.tar`, { force: true })
  }
  return file
}

/** Where this machine has Debian's packages from. */
async function mirror(): Promise<string> {
  const given = process.env['MAILROOM_TEST_DEBIAN_MIRROR']
  if (given) return given
  const targets = await runAsRoot(['apt-get', 'indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages'])
  const found = targets.split('\n').find(uri => uri !== '' && !uri.includes('security'))
  if (!found) throw new Error('apt knows no mirror; name one in MAILROOM_TEST_DEBIAN_MIRROR')
  return found
}

/** How this machine reaches them, where it says so. */
async function aptSettings(): Promise<string> {
  const dump = await runAsRoot(['apt-config', 'dump'])
  return dump
    .split('\n')
    .filter(line => /^Acquire::(https?::Proxy|Check-)/.test(line))
    .join('\n')
}
