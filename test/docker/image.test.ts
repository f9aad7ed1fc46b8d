import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDemo, demoDomain } from '../../src/cli/demo.ts'
import { type PrivateClamd, startClamd } from '../../src/cli/private/clamd.ts'
import { freePort } from '../../src/cli/private/process.ts'
import { separatePackages } from '../../src/cli/program/build.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import { type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { SmtpClient } from '../harness/smtp-client.ts'
import { until } from '../harness/until.ts'
import { clamdSettings, readCompose, runFlags, secondsOf } from './compose-file.ts'
import { type Engine, startEngine } from './engine.ts'
import { buildMailroom, makeBaseImage } from './images.ts'

/**
 * docker/Dockerfile, built and run for real: with what compose.yaml says of it, beside a MariaDB, a clamd with
 * docker/clamd.conf and a relay that are outside of it.
 */
let engine: Engine
let database: FreshDatabase
let clamd: PrivateClamd
let relay: ScriptedRelay
let key: string
let imageBytes: number

const image = 'mailroom'
const ports = {
  smtp: freePort(),
  submission: freePort(),
  submissions: freePort(),
  http: freePort(),
  metrics: freePort(),
  clamd: freePort(),
}
const api = `http://127.0.0.1:${ports.http}`
const compose = (relayUrl: string) =>
  readCompose({
    MAILROOM_HOSTNAME: `mail.${demoDomain}`,
    MAILROOM_PUBLIC_URL: api,
    MAILROOM_SMARTHOST_URL: relayUrl,
  }).services

beforeAll(async () => {
  // Each is kept as soon as it is there, so that what has started also ends where another does not start.
  const started = [
    startEngine().then(async started => {
      engine = started
      await makeBaseImage(engine, 'base')
      imageBytes = await buildMailroom(engine, 'base', image)
      const clamdFolder = join(engine.folder, 'clamd')
      const { LocalSocket: _, ...settings } = clamdSettings()
      const listen = { TCPSocket: String(ports.clamd), TCPAddr: '127.0.0.1' }
      clamd = await startClamd({ folder: clamdFolder, settings: { ...settings, ...listen } })
    }),
    freshDatabase(4).then(freshDatabase => {
      database = freshDatabase
    }),
    startScriptedRelay().then(scriptedRelay => {
      relay = scriptedRelay
    }),
  ]
  const failed = (await Promise.allSettled(started)).find(
    promiseSettledResult => promiseSettledResult.status === 'rejected',
  )
  if (failed) throw failed.reason
  await runSecrets()
  // What leads to the database is in the file that it would be in.
  await engine.docker(
    ...[
      'run',
      '--rm',
      '--user',
      '10001',
      '--entrypoint',
      'bash',
      '--volume',
      'mailroom-secrets:/secrets/mailroom',
      image,
    ],
    ...['-c', `rm /secrets/mailroom/database_url && printf %s '${database.url}' >/secrets/mailroom/database_url`],
  )
  await startMailroom()
}, 600_000)

afterAll(async () => {
  await engine?.run('rm', '--force', 'mailroom')
  await Promise.all([clamd?.stop(), relay?.close(), database?.close()])
  await engine?.close()
}, 90_000)

/** Runs the service `secrets` of compose.yaml to its end. */
function runSecrets(relayUrl = relay.url): Promise<string> {
  return engine.docker('run', '--rm', ...runFlags(compose(relayUrl).secrets), image)
}

/** Starts the service `mailroom` of compose.yaml, on the machine's network, and resolves once it is healthy. */
async function startMailroom(): Promise<void> {
  const { mailroom } = compose(relay.url)
  const environment = {
    ...mailroom.environment,
    MAILROOM_SMTP_LISTEN: `[::]:${ports.smtp}`,
    MAILROOM_SUBMISSION_LISTEN: `[::]:${ports.submission}`,
    MAILROOM_SUBMISSIONS_LISTEN: `[::]:${ports.submissions}`,
    MAILROOM_HTTP_LISTEN: `[::]:${ports.http}`,
    MAILROOM_METRICS_LISTEN: `[::]:${ports.metrics}`,
    MAILROOM_CLAMD: `tcp:127.0.0.1:${ports.clamd}`,
    MAILROOM_DNS_ZONE: 'local',
  }
  const flags = runFlags({ ...mailroom, environment })
  await engine.docker(
    ...['run', '--detach', '--name', 'mailroom', '--network', 'host', '--health-interval', '1s', ...flags, image],
  )
  await until(async () => (await inspect('.State.Health.Status')) === 'healthy', {
    withinMs: 60_000,
    details: () => engine.docker('logs', 'mailroom'),
  })
}

const inspect = (what: string) => engine.docker('inspect', '--format', `{{${what}}}`, 'mailroom')
const inside = (command: string) => engine.run('exec', 'mailroom', 'bash', '-c', command)

async function call(method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch(api + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: answer.status, json: (await answer.json()) as any }
}

/** A client at 127.0.0.2 whose message has begun and lacks its end. */
async function beginMessage(subject: string): Promise<SmtpClient> {
  const client = await SmtpClient.ready(ports.smtp, '127.0.0.2')
  await client.commands('MAIL FROM:<ann@friend.test>', `RCPT TO:<hello@${demoDomain}>`, 'DATA')
  client.send(`From: ann@friend.test\r\nSubject: ${subject}\r\n\r\nIs anyone`)
  return client
}

const emailOut = (subject: string) =>
  call('POST', '/v1/emails', { from: `hello@${demoDomain}`, to: 'ann@friend.test', subject, text: 'Hello.' })

const messagesIn = () => database.db.selectFrom('messages').select(['subject', 'remote_ip', 'scan']).execute()

test('makes the database’s password once, and hands over what the .env says now', async () => {
  const read = () =>
    engine.docker(
      ...[
        'run',
        '--rm',
        '--user',
        '0',
        '--entrypoint',
        'bash',
        '-v',
        'first:/secrets/mailroom',
        '-v',
        'second:/secrets/database',
      ],
      ...[
        image,
        '-c',
        'cd /secrets; stat -c "%a %u" */*; cat database/password; for each in mailroom/*; do echo; cat $each; done',
      ],
    )
  const run = (relayUrl: string) => {
    const secrets = compose(relayUrl).secrets
    const volumes = ['first:/secrets/mailroom', 'second:/secrets/database']
    return engine.docker('run', '--rm', ...runFlags({ ...secrets, volumes }), image)
  }
  await run('smtp://user:pa$$word@relay.example.net')
  const first = await read()
  const [, password] = /^([0-9a-f]{48})$/m.exec(first) ?? []
  expect(first.split('\n')).toEqual([
    ...['444 10001', '400 10001', '400 10001', password ?? 'a password'],
    ...[`mysql://mailroom:${password}@database:3306/mailroom`, 'smtp://user:pa$$word@relay.example.net'],
  ])
  await run('')
  expect(await read()).toBe(first.replace(/\nsmtp:.*/, ''))
}, 60_000)

test('runs as nobody in particular, with no capability, and writes nowhere but to its volume and /tmp', async () => {
  expect(
    (
      await inside(
        'id -u; for pid in 1 $(</proc/1/task/1/children); do grep "^Cap[EPB]\\|^NoNewPrivs" /proc/$pid/status; done | sort -u',
      )
    ).out,
  ).toBe('10001\nCapBnd:\t0000000000000000\nCapEff:\t0000000000000000\nCapPrm:\t0000000000000000\nNoNewPrivs:\t1\n')
  for (const folder of ['/', '/app', '/usr/local/bin', '/etc', '/secrets/mailroom'])
    expect((await inside(`touch ${folder}/x`)).err).toMatch(/Read-only file system|Permission denied/)
  expect((await inside('touch /tmp/x /var/lib/mailroom/x && rm /tmp/x /var/lib/mailroom/x')).status).toBe(0)
  expect(await engine.docker('image', 'inspect', '--format', '{{.Config.User}} {{.Config.Entrypoint}}', image)).toBe(
    '10001:10001 [mailroom]',
  )
  expect((await inside('find /app; env')).out).not.toMatch(/\.ts\n|npmrc|password@/)
}, 60_000)

test('contains the program, its packages and the files of the pages, and is no larger than they need', async () => {
  expect((await inside('cd /app; ls -d src/*/* build/* node_modules/*')).out.trim().split('\n')).toEqual([
    ...['build/dashboard', 'build/program', 'node_modules/swagger-ui-dist', 'src/cli/commands.txt'],
  ])
  const bytesOf = async (folder: string) => Number((await inside(`du -sb /app/${folder}`)).out.split('\t')[0])
  const limits = { 'build/program/cli': 27e6, 'build/program': 60e6, 'build/dashboard': 3e6, node_modules: 2.5e6 }
  for (const [folder, limit] of Object.entries(limits)) {
    const bytes = await bytesOf(folder)
    expect([folder, bytes, bytes > limit / 2, bytes < limit]).toEqual([folder, bytes, true, true])
  }
  const baseBytes = Number(await engine.docker('image', 'inspect', '--format', '{{.Size}}', 'base'))
  expect(imageBytes - baseBytes).toBeLessThan(66e6)
}, 60_000)

test('every package that is loaded only where it is needed is there', async () => {
  const load = `for (const name of ${JSON.stringify(separatePackages)}) {
    const loaded = await import(name)
    console.log(name, Bun.resolveSync(name, '.'), Object.keys(loaded).length > 0)
  }`
  const { out } = await inside(`cd /app/build/program/cli && bun --no-env-file -e '${load.replaceAll("'", '"')}'`)
  expect(out.trim().split('\n')).toEqual(
    separatePackages.map(name => `${name} /app/build/program/node_modules/${name}/index.js true`),
  )
}, 60_000)

test('one command gives the first key and a link to the dashboard, and mail comes in and goes out', async () => {
  const create = ['org', 'create', 'Acme', '--owner', 'ann@acme.test', '--operator', '--with-key', '--json']
  const made = JSON.parse(await engine.docker('exec', 'mailroom', 'mailroom', ...create))
  expect(made.owner.link).toStartWith(`${api}/app/welcome#`)
  const page = await fetch(`${api}/app/welcome`)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script type="module"')])
  key = made.key.key
  await createDemo({ base: api, key }, database.db)

  const client = await beginMessage('Hello')
  expect(await client.command(' there?\r\n.')).toStartWith('250 ')
  client.hangUp()
  expect(await messagesIn()).toEqual([{ subject: 'Hello', remote_ip: '127.0.0.2', scan: 'clean' }])

  const { status, json } = await emailOut('Hello back')
  expect(status).toBe(202)
  await until(async () => (await call('GET', `/v1/emails/${json.id}`)).json.status === 'sent')
  expect(relay.accepted.map(relayedMessage => relayedMessage.to)).toEqual([['ann@friend.test']])
}, 60_000)

test('SIGTERM lets the message and the submission under way finish, and a new container goes on with the volume', async () => {
  const secretKey = () => inside('sha256sum </var/lib/mailroom/secret.key')
  const before = (await secretKey()).out
  const under = await beginMessage('Under way')
  relay.setScript({ dotAfterMs: 3000 })
  const taken = relay.accepted.length
  const { json } = await emailOut('Under way')
  await until(() => relay.accepted.length > taken)

  const begun = Date.now()
  const stopped = engine.docker('stop', 'mailroom')
  await until(isClosed)
  expect(await inspect('.State.Running')).toBe('true')
  expect(await under.command(' there?\r\n.')).toStartWith('250 ')
  under.hangUp()
  await stopped
  expect(await inspect('.State.ExitCode')).toBe('0')
  expect(Date.now() - begun).toBeLessThan(secondsOf(String(compose(relay.url).mailroom['stop_grace_period'])) * 1000)

  await engine.docker('rm', 'mailroom')
  relay.setScript({})
  await startMailroom()
  expect((await secretKey()).out).toBe(before)
  expect((await call('GET', `/v1/emails/${json.id}`)).json.status).toBe('sent')
  expect(relay.accepted).toHaveLength(taken + 1)
  expect((await messagesIn()).map(message => message.subject).sort()).toEqual(['Hello', 'Under way'])
}, 120_000)

test('the reference of the API and every command work', async () => {
  for (const file of ['', '/swagger-ui.css', '/swagger-ui-bundle.js', '/favicon-32x32.png', '/start.js'])
    expect([file, (await fetch(`${api}/docs${file}`)).status]).toEqual([file, 200])
  const lists = ['org', 'key', 'operator', 'session', 'webhook', 'quarantine', 'queue', 'audit', 'certificate']
  const commands = [
    ...lists.map(name => `${name} list`),
    ...['migrate', 'queue domains', 'retention plan', 'retention run', 'brand paused'],
    `domain rotate-dkim ${demoDomain}`,
    ...['backup /var/lib/mailroom/backup', 'backup list /var/lib/mailroom/backup'],
  ]
  for (const command of commands) {
    const { status, err } = await inside(`mailroom ${command} --json`)
    expect([command, status, err]).toEqual([command, 0, expect.any(String)])
  }
  // It finds that this machine is not ready for the internet.
  const { status, out } = await inside('mailroom doctor --json')
  expect([status, Object.keys(JSON.parse(out))]).toEqual([1, ['status', 'counts', 'findings']])
}, 120_000)

/** Does the door take no new session? */
async function isClosed(): Promise<boolean> {
  try {
    const client = await SmtpClient.connect(ports.smtp)
    const greeting = await client.reply()
    client.hangUp()
    return greeting.startsWith('421 ')
  } catch {
    return true
  }
}

test('the secret of the relay is in no layer and no environment of the container', async () => {
  expect(await engine.docker('inspect', 'mailroom')).not.toContain(relay.url)
  expect(readFileSync(join(engine.folder, 'log'), 'utf8')).not.toContain(relay.url)
})
