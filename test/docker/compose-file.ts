import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { projectRoot } from '../harness/cli.ts'

/** The keys of a service in docker/compose.yaml that the tests use; {@link runFlags} rejects keys that it does not know. */
export interface Service {
  readonly image: string
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly command?: readonly string[]
  readonly [key: string]: unknown
}

export interface ComposeFile {
  readonly services: Readonly<Record<'secrets' | 'mailroom' | 'database' | 'clamav' | 'rspamd' | 'redis', Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}

export const dockerFolder = join(projectRoot, 'docker')

/** docker/compose.yaml with these values for its variables, as `docker compose` reads it. */
export function readCompose(env: Readonly<Record<string, string>>): ComposeFile {
  const written = JSON.stringify(parse(readFileSync(join(dockerFolder, 'compose.yaml'), 'utf8'), { merge: true }))
  return JSON.parse(written, (_key, value) => (typeof value === 'string' ? interpolate(value, env) : value))
}

/** `$$`, `${A}`, `${A-b}`, `${A:-b}`, `${A?message}` and `${A:?message}`; with a colon an empty value counts as unset. */
function interpolate(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\{(\w+)(?:(:?)([-?])([^}]*))?\}/g, (...[whole, name, colon, how, other]) => {
    if (whole === '$$') return '$'
    const value = env[name]
    if (value !== undefined && (value !== '' || !colon)) return value
    if (how === '?') throw new Error(`${name} is missing: ${other}`)
    return other ?? ''
  })
}

/** A duration in Compose's form, such as `4m` or `1m30s`, in seconds. */
export function secondsOf(text: string): number {
  const [, minutes = '0', seconds = '0'] = /^(?:(\d+)m)?(?:(\d+)s)?$/.exec(text) ?? []
  return Number(minutes) * 60 + Number(seconds)
}

const texts = (value: unknown) => (Array.isArray(value) ? value.map(String) : [])

/** The flags of `docker run` for each key of a service. */
const flagsOf: Readonly<Record<string, (value: unknown) => readonly string[]>> = {
  user: value => ['--user', String(value)],
  init: value => (value === true ? ['--init'] : []),
  read_only: value => (value === true ? ['--read-only'] : []),
  network_mode: value => ['--network', String(value)],
  mem_limit: value => ['--memory', String(value)],
  stop_grace_period: value => ['--stop-timeout', String(secondsOf(String(value)))],
  cap_drop: value => texts(value).flatMap(text => ['--cap-drop', text]),
  security_opt: value => texts(value).flatMap(text => ['--security-opt', text]),
  tmpfs: value => texts(value).flatMap(text => ['--tmpfs', text]),
  volumes: value => texts(value).flatMap(text => ['--volume', text]),
  entrypoint: value => ['--entrypoint', String(value)],
  environment: value => Object.entries(value as object).flatMap(([name, text]) => ['--env', `${name}=${text}`]),
}

/** Relations between services, builds and logs: a single container has none of them. */
const ignoredKeys = new Set(['image', 'build', 'logging', 'restart', 'depends_on', 'env_file', 'ports', 'healthcheck'])

/** The arguments for `docker run` that run this service as Compose would. @throws Error for a key that it does not know */
export function runFlags(service: Service): readonly string[] {
  return Object.entries(service).flatMap(([key, value]) => {
    if (ignoredKeys.has(key)) return []
    const flags = flagsOf[key]
    if (!flags) throw new Error(`no flag of docker run is known for "${key}" in compose.yaml`)
    return flags(value)
  })
}

/** The lines of docker/clamd.conf. */
export function clamdSettings(): Readonly<Record<string, string>> {
  const lines = readFileSync(join(dockerFolder, 'clamd.conf'), 'utf8').split('\n')
  return Object.fromEntries(
    lines.flatMap(line => (/^\w/.test(line) ? [[line.split(' ')[0], line.split(' ').slice(1).join(' ')]] : [])),
  )
}
