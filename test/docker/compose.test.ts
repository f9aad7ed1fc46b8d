import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { DCLinter } from 'dclint'
import { parse } from 'yaml'
import packageFile from '../../package.json'
import { readConfig } from '../../src/base/config/config.ts'
import { settings } from '../../src/base/config/settings.ts'
import { findProgram } from '../../src/cli/private/process.ts'
import { longestShutdownMs } from '../harness/longest-shutdown.ts'
import { clamdSettings, dockerFolder, readCompose, type Service, secondsOf } from './compose-file.ts'

/** The values of docker/.env.example. */
const exampleValues = parseEnv(readFileSync(join(dockerFolder, '.env.example'), 'utf8')) as Record<string, string>
const compose = readCompose(exampleValues)
const { secrets, mailroom, database, clamav } = compose.services
const dockerfile = readFileSync(join(dockerFolder, 'Dockerfile'), 'utf8')
/** What the image sets, and what Compose sets. */
const environment = {
  ...Object.fromEntries(Array.from(dockerfile.matchAll(/(MAILROOM_\w+)=(\S+)/g), ([, name, value]) => [name, value])),
  ...mailroom.environment,
}

test('compose.yaml matches the schema of the Compose Specification', () => {
  const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] })
  const found = linter.lintFiles([join(dockerFolder, 'compose.yaml')], false).flatMap(file => file.messages)
  // Order and quoting are a matter of style; port 25 has to be open to the world.
  expect(found.filter(({ rule }) => !/order$|quotes|unbound/.test(rule))).toEqual([])
})

test('an operator has to set four values only', () => {
  expect(Object.keys(exampleValues)).toHaveLength(4)
  expect(() => readCompose({})).toThrow('is missing')
  expect(JSON.stringify(compose)).not.toContain('${')
})

test('Compose sets only settings that Mailroom has', () => {
  const { MAILROOM_DATABASE_URL_FILE: _url, MAILROOM_SMARTHOST_URL_FILE: _relay, ...plain } = environment
  const config = readConfig({ ...plain, MAILROOM_SMARTHOST_URL: exampleValues['MAILROOM_SMARTHOST_URL'] })
  expect(config.varFolder).toBe('/var/lib/mailroom')
  expect(mailroom.volumes).toContain('mailroom:/var/lib/mailroom')
  const { smtpListen, submissionListen, submissionsListen, httpListen } = config
  const ports = [smtpListen, submissionListen, submissionsListen, httpListen].map(listen => listen?.port ?? 0)
  expect(mailroom.ports?.map(port => Number(port.split(':').at(-1)))).toEqual(ports)
})

test('no running service has a secret in its environment', () => {
  const secret = /PASSWORD$|_URL$|KEY$|TOKEN$/
  const harmless = ['MAILROOM_PUBLIC_URL', 'MYSQL_RANDOM_ROOT_PASSWORD']
  for (const { environment = {} } of [mailroom, database, clamav])
    expect(Object.keys(environment).filter(name => secret.test(name) && !harmless.includes(name))).toEqual([])
  expect(database.environment?.['MYSQL_RANDOM_ROOT_PASSWORD']).toBe('yes')
  expect(secrets['network_mode']).toBe('none')
})

test('the base image has the version of Bun in package.json', () => {
  const [, version] = /^ARG BASE=oven\/bun:([\d.]+)-slim$/m.exec(dockerfile) ?? []
  expect(packageFile.packageManager).toBe(`bun@${version}`)
})

test('the container gets more time to stop than the work in progress can take', () => {
  expect(secondsOf(String(mailroom['stop_grace_period'])) * 1000).toBeGreaterThan(longestShutdownMs())
})

test('clamd accepts messages as large as Mailroom does, and does not load signatures twice', () => {
  const { StreamMaxLength = '', MaxFileSize = '', MaxThreads, ConcurrentDatabaseReload, TCPSocket } = clamdSettings()
  const { maxMessageBytes, scansAtOnce } = settings
  for (const size of [StreamMaxLength, MaxFileSize])
    expect(Number(size.replace(/M$/, '')) * 1024 * 1024).toBeGreaterThan(Number(maxMessageBytes.defaultText))
  expect(Number(MaxThreads)).toBeGreaterThan(Number(scansAtOnce.defaultText))
  expect(ConcurrentDatabaseReload).toBe('no')
  expect(mailroom.environment?.['MAILROOM_CLAMD']).toBe(`tcp:clamav:${TCPSocket}`)
})

test('the spam filter runs only with its profile, and then Mailroom finds it', () => {
  const { rspamd, redis } = compose.services
  for (const service of [rspamd, redis]) expect(service).toMatchObject({ profiles: ['rspamd'] })
  for (const service of [rspamd, redis]) expect(service).not.toHaveProperty('ports')
  expect([environment['MAILROOM_RSPAMD'], environment['MAILROOM_RSPAMD_CONTROLLER']]).toEqual(['', ''])
  const named = parseEnv(readFileSync(join(dockerFolder, '.env.example'), 'utf8').replace(/^#(?=[A-Z])/gm, ''))
  expect(named['COMPOSE_PROFILES']).toBe('rspamd')
  const portOf = (file: string) =>
    /^bind_socket = "\*:(\d+)";$/m.exec(readFileSync(join(dockerFolder, 'rspamd', file), 'utf8'))?.[1]
  expect(named['MAILROOM_RSPAMD']).toBe(`http://rspamd:${portOf('worker-normal.inc')}`)
  expect(named['MAILROOM_RSPAMD_CONTROLLER']).toBe(`http://rspamd:${portOf('worker-controller.inc')}`)
  const learned = readFileSync(join(dockerFolder, 'rspamd/redis.conf'), 'utf8')
  expect(learned).toContain('servers = "redis";')
})

test('MariaDB accepts the options that are written for MySQL', () => {
  const options = database.command ?? []
  const run = Bun.spawnSync([findProgram('mariadbd', 'mariadb-server'), '--no-defaults', ...options, '--help', '-v'])
  expect({ status: run.exitCode, stderr: run.stderr.toString() }).toMatchObject({ status: 0 })
  const output = run.stdout.toString()
  for (const option of options) {
    const [, loose, name = '', value = ''] = /^--(loose-)?([^=]+)=(\w+)$/.exec(option) ?? []
    const [, effective] = new RegExp(`^${name}\\s+(\\S+)$`, 'm').exec(output) ?? []
    // A loose option that a server does not know is passed over: this one is of MySQL alone.
    if (loose && name === 'innodb-redo-log-capacity') expect(effective).toBeUndefined()
    else expect(`${name} ${effective}`).toBe(`${name} ${value.replace(/^(\d+)M$/, (_, mib) => `${mib * 1024 * 1024}`)}`)
  }
})

test('the services of compose.roles.yaml together have the roles and ports of one', () => {
  const text = readFileSync(join(dockerFolder, 'compose.roles.yaml'), 'utf8')
  const { services } = parse(text, { logLevel: 'silent' }) as { services: Record<string, Partial<Service>> }
  const roles = Object.values(services).map(partial => partial.environment?.['MAILROOM_ROLES'])
  expect(roles.sort()).toEqual([...readConfig({ MAILROOM_PROVIDER: 'sandbox' }).roles].sort())
  const { mailroom: smtp, ...others } = services
  const inside = (service: Partial<Service> | undefined) => service?.ports?.map(port => port.split(':').at(-1)) ?? []
  const published = [smtp, others['submission'], others['http']].flatMap(inside)
  expect(published).toEqual(inside(mailroom))
  for (const service of Object.values(others))
    expect(service['extends']).toEqual({ file: 'compose.yaml', service: 'mailroom' })
})
