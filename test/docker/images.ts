import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from '../harness/cli.ts'
import type { Engine } from './engine.ts'

const certificates = '/etc/ssl/certs/ca-certificates.crt'
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** What the image needs of Debian; unpacked, not set up, which is much faster. */
const packages = 'base-files,base-passwd,bash,coreutils,dash,diffutils,findutils,grep,sed'

/**
 * Makes an image of a little of Debian and this very Bun: it stands in for the base image, which nobody has to download
 * here. It trusts the authorities that this machine trusts.
 */
export async function makeBaseImage(engine: Engine, name: string): Promise<void> {
  const options = join(engine.folder, 'apt.conf')
  const suite = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'stable'
  const mirror = /https?:\/\/\S+/.exec(await engine.bash('apt-cache policy bash'))?.[0] ?? ''
  // How this machine reaches Debian's packages: proxies, certificates, what it checks.
  writeFileSync(
    options,
    (await engine.bash('apt-config dump'))
      .split('\n')
      .filter(line => /^Acquire::(?:Check-|https?:|Retries)/.test(line))
      .join('\n'),
  )
  const authorities = existsSync(certificates) ? [`install -D -m 0644 ${certificates} "$1${certificates}"`] : []
  const setUp = [
    `install -D -m 0755 ${quote(process.execPath)} "$1/usr/local/bin/bun"`,
    'cp "$1/usr/share/base-passwd/passwd.master" "$1/etc/passwd"',
    ...authorities,
  ]
  const environment = existsSync(certificates) ? ['--change', `ENV NODE_EXTRA_CA_CERTS=${certificates}`] : []
  const make = [
    ...['mmdebstrap', '--mode=root', '--variant=extract', `--include=${packages}`, '--quiet', `--aptopt=${options}`],
    `--extract-hook=${setUp.join(' && ')}`,
    ...[suite, '-', mirror],
  ]
  const take = ['docker', 'import', '--change', 'ENV PATH=/usr/local/bin:/usr/bin:/bin', ...environment, '-', name]
  await engine.bash(`${make.map(quote).join(' ')} | ${take.map(quote).join(' ')}`)
}

/** Builds docker/Dockerfile on this base, with the registry of this machine, and gives the size of the image in bytes. */
export async function buildMailroom(engine: Engine, base: string, name: string): Promise<number> {
  const npmrc = join(engine.folder, 'npmrc')
  const own = join(homedir(), '.npmrc')
  const registry = ['npm_config_registry', 'NPM_CONFIG_REGISTRY', 'BUN_CONFIG_REGISTRY']
    .map(key => process.env[key])
    .find(value => value)
  const lines = [existsSync(own) ? readFileSync(own, 'utf8') : '', registry ? `registry=${registry}` : '']
  writeFileSync(npmrc, `${lines.join('\n')}\n`, { mode: 0o600 })
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy']
  await engine.docker(
    ...['build', '--network', 'host', '--progress', 'plain', '--secret', `id=npmrc,src=${npmrc}`],
    ...proxies.flatMap(key => (process.env[key] ? ['--build-arg', key] : [])),
    ...['--build-arg', `BASE=${base}`, '--file', join(projectRoot, 'docker/Dockerfile'), '--tag', name, projectRoot],
  )
  return Number(await engine.docker('image', 'inspect', '--format', '{{.Size}}', name))
}
