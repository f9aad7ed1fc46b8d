import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = join(tmpdir(), 'mailroom-promtool')
const unpacked = join(folder, 'usr/bin/promtool')

/**
 * promtool, Prometheus' checker: from the PATH, or from Debian's package, unpacked only, since installing it would start
 * Prometheus.
 */
async function findPromtool(): Promise<string> {
  const onPath = Bun.which('promtool')
  if (onPath) return onPath
  if (existsSync(unpacked)) return unpacked
  const fresh = mkdtempSync(`${folder}-`)
  const unpack = 'set -e; cd "$1"; apt-get -qq download prometheus; dpkg -x prometheus_*.deb .; rm prometheus_*.deb'
  await run(['sh', '-c', unpack, 'sh', fresh])
  rmSync(folder, { recursive: true, force: true })
  renameSync(fresh, folder)
  return unpacked
}

/** Runs promtool with `input` on standard input. Returns its output. @throws when it reports an error */
export async function promtool(args: readonly string[], input = ''): Promise<string> {
  return run([await findPromtool(), ...args], input)
}

async function run(command: string[], input = ''): Promise<string> {
  const child = Bun.spawn(command, { stdin: new Blob([input]), stdout: 'pipe', stderr: 'pipe' })
  const [out, err, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}:\n${err}${out}`)
  return out
}
