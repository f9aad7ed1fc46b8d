import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { listOperators } from '../../src/accounts/users/operators.ts'
import { systemClock } from '../../src/base/clock.ts'
import { openDatabase } from '../../src/base/database/database.ts'
import { isAlive, runningPid } from '../../src/cli/private/process.ts'
import { messageOf } from '../harness/inbox.ts'
import { fetchValidated } from '../harness/openapi-validation.ts'
import { acceptedMessageId, sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'
import { startUp, temporaryFolder, type UpProcess } from '../harness/up.ts'

let folder: ReturnType<typeof temporaryFolder>
const started: UpProcess[] = []

beforeEach(() => {
  folder = temporaryFolder()
})

afterEach(async () => {
  for (const up of started.splice(0)) await up.end()
  folder.remove()
})

async function start(...args: string[]): Promise<UpProcess> {
  const up = await startUp(folder.path, args)
  started.push(up)
  return up
}

function get(up: UpProcess, path: string): Promise<Response> {
  return fetchValidated(`${up.file.http}${path}`, { headers: { authorization: `Bearer ${up.file.key}` } })
}

const pidOf = (name: string) => runningPid(join(folder.path, name, 'pid'))

test('creates a domain that sends and receives, two mailboxes and a key, and prints and writes them', async () => {
  const up = await start()
  const domain = await (await get(up, `/v1/domains/${up.file.domain_id}`)).json()
  expect(domain).toMatchObject({ domain: 'demo.test', ready_to_send: true, receiving: { live: true } })
  const mailboxes = (await (await get(up, '/v1/mailboxes')).json()) as { data: { id: string; address: string }[] }
  expect(mailboxes.data.map(mailbox => mailbox.address).sort()).toEqual(['*@demo.test', 'hello@demo.test'])
  expect(mailboxes.data.find(mailbox => mailbox.id === up.file.mailbox_id)?.address).toBe('hello@demo.test')
  expect(up.printed()).toContain(up.file.key)
  expect(statSync(join(folder.path, 'up.json')).mode & 0o077).toBe(0)
  expect(isAlive(up.file.pid)).toBe(true)
})

test('prints a link that signs the owner in, who operates the instance, until somebody has signed in', async () => {
  const first = await start()
  const { http, dashboard, welcome_link: link } = first.file
  expect(dashboard).toBe(`http://localhost:${new URL(http).port}/app`)
  expect(link).toMatch(new RegExp(`^${dashboard}/welcome#[\\w-]{43}$`))
  expect(first.printed()).toContain(`\n  ${link}\n`)
  expect((await fetch(dashboard)).status).toBe(200)
  await first.end()

  const second = await start()
  expect(second.file.welcome_link).toBeString()
  expect(second.file.welcome_link).not.toBe(link)
  const database = openDatabase(second.file.database_url, 1)
  const operators = await listOperators(database.db)
  expect(operators).toEqual([expect.objectContaining({ email: 'hello@demo.test', lastSignInAt: null })])
  const members = await database.db.selectFrom('members').select(['role', 'user_id', 'organization_id']).execute()
  expect(members).toEqual([
    { role: 'owner', user_id: operators[0]?.userId ?? null, organization_id: second.file.organization_id },
  ])
  await database.db.updateTable('users').set({ last_sign_in_at: systemClock.now() }).execute()
  await database.close()
  await second.end()

  const third = await start()
  expect(third.file.welcome_link).toBeNull()
  expect(third.printed()).not.toContain('#')
})

test('links in emails carry the port that was bound', async () => {
  const up = await start()
  const email = { from: 'hello@demo.test', to: 'you@friend.test', subject: 'News', text: 'News.', unsubscribe: true }
  const sent = await fetchValidated(`${up.file.http}/v1/emails`, {
    method: 'POST',
    headers: { authorization: `Bearer ${up.file.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(email),
  })
  const { id } = (await sent.json()) as { id: string }
  const content = (await (await get(up, `/v1/emails/${id}/content`)).json()) as {
    headers: { name: string; value: string }[]
  }
  const link = content.headers.find(({ name }) => name === 'List-Unsubscribe')?.value.slice(1, -1) ?? ''
  expect(link).toStartWith(`http://localhost:${new URL(up.file.http).port}/unsubscribe/`)
  expect((await fetch(link)).status).toBe(200)
})

test('SIGTERM stops everything, and the next run uses the same data and the same key', async () => {
  const first = await start()
  const servers = [pidOf('mariadb'), pidOf('clamd')]
  expect(servers.every(pid => pid !== undefined && isAlive(pid))).toBe(true)
  expect(await first.end()).toBe(0)
  expect(existsSync(join(folder.path, 'up.json'))).toBe(false)
  expect(servers.filter(pid => pid !== undefined && isAlive(pid))).toEqual([])

  const second = await start()
  const { organization_id, brand_id, domain_id, mailbox_id, key, database_url } = second.file
  expect(first.file).toMatchObject({ organization_id, brand_id, domain_id, mailbox_id, key, database_url })
})

test('MAILROOM_PROCESSES serves in several processes, which SIGTERM stops', async () => {
  const up = await startUp(folder.path, [], { MAILROOM_PROCESSES: '2', MAILROOM_LOG_LEVEL: 'info' })
  started.push(up)
  const linesOf = (msg: string) => up.printed().match(new RegExp(`.*"msg":"${msg}".*`, 'g')) ?? []
  const pids = linesOf('process started').map(line => Number(JSON.parse(line).pid))
  expect([pids.length, pids.includes(up.file.pid)]).toEqual([2, false])
  expect(linesOf('serving').map(line => JSON.parse(line))).toMatchObject([
    { pid: up.file.pid, processes: 2, ...{ http: up.file.http, smtp: up.file.smtp, submission: up.file.submission } },
  ])
  expect(up.printed()).toContain(`API        ${up.file.http}`)
  const id = acceptedMessageId(await sendMail(Number(up.file.smtp.split(':')[1]), messageOf()))
  expect((await get(up, `/v1/inbox/${id}`)).status).toBe(200)
  expect(await up.end()).toBe(0)
  expect([...pids, up.file.pid].filter(isAlive)).toEqual([])
  expect([pidOf('mariadb'), pidOf('clamd')]).toEqual([undefined, undefined])
})

test('a killed run does not block the next one, which reuses its servers', async () => {
  const first = await start()
  first.kill()
  await until(() => !isAlive(first.file.pid))
  const mariadbPid = pidOf('mariadb')
  const second = await start()
  expect(pidOf('mariadb')).toBe(mariadbPid)
  expect(second.file.organization_id).toBe(first.file.organization_id)
  await second.end()
  expect(mariadbPid !== undefined && isAlive(mariadbPid)).toBe(false)
})

test('--fresh starts with nothing', async () => {
  const first = await start()
  await first.end()
  const second = await start('--fresh')
  expect(second.file.organization_id).not.toBe(first.file.organization_id)
  expect(second.file.key).not.toBe(first.file.key)
})

test('a port in use stops it with a message, and leaves nothing running', async () => {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const settings = { MAILROOM_HTTP_LISTEN: `127.0.0.1:${listener.port}` }
  await expect(startUp(folder.path, [], settings)).rejects.toThrow(`Is port ${listener.port} in use?`)
  listener.stop()
  expect([pidOf('mariadb'), pidOf('clamd')]).toEqual([undefined, undefined])
})

test('a second run in the same folder is refused, and the first one continues', async () => {
  const first = await start()
  await expect(startUp(folder.path)).rejects.toThrow(`Mailroom is running in ${folder.path} already, as process`)
  expect((await get(first, '/v1/brands')).status).toBe(200)
})
