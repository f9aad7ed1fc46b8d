import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AnyElysia } from 'elysia'
import { selectAuditEntries } from '../../src/accounts/audit/table.ts'
import { type OperatorTasks, openOperatorTasks } from '../../src/accounts/tasks/tasks.ts'
import { addOperator } from '../../src/accounts/users/operators.ts'
import { createAdapters } from '../../src/app/adapters.ts'
import { wholeShare } from '../../src/app/app.ts'
import { instanceFeatures } from '../../src/app/instance-features.ts'
import { dayMs, minuteMs, plusMs, systemClock } from '../../src/base/clock.ts'
import { readConfig } from '../../src/base/config/config.ts'
import { insertCompletedBackup, updateRestoreTrial } from '../../src/base/database/backup-runs-table.ts'
import { fromJson } from '../../src/base/database/schema.ts'
import { openLog } from '../../src/base/observability/log.ts'
import { version } from '../../src/base/version.ts'
import { auditCommand } from '../../src/cli/audit.ts'
import { brandCommand } from '../../src/cli/brand.ts'
import { certificateCommand } from '../../src/cli/certificate.ts'
import { orgCommand } from '../../src/cli/org.ts'
import { error, ok } from '../../src/health/doctor/finding.ts'
import { type LatestResults, newLatestResults } from '../../src/health/doctor/results/latest-results.ts'
import { openHeartbeat } from '../../src/health/processes/processes.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { insertPendingCertificates } from '../../src/ports/certificates/acme/table.ts'
import { mergeCertificates } from '../../src/ports/certificates/merge.ts'
import { pauseBrand } from '../../src/sending/reports/pause-table.ts'
import { createSendingDomain, insertAcceptedEmails, type SendingDomain } from '../harness/accepted-emails.ts'
import { outputOf } from '../harness/command-output.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import { testSettings } from '../harness/mailroom.ts'
import { operatorEmail, operatorIp, type SessionClient, sessionClient } from '../harness/session-client.ts'
import { until } from '../harness/until.ts'

let database: FreshDatabase
let folder: string
let tasks: OperatorTasks
let doctorResults: LatestResults
let open: () => readonly AnyElysia[]
let client: SessionClient
let shop: SendingDomain

const root = '/app/api/instance'

beforeAll(async () => {
  database = await freshDatabase(6)
  folder = mkdtempSync(join(tmpdir(), 'mailroom-instance-'))
  const { db } = database
  const config = readConfig({ ...testSettings(database.url, folder), MAILROOM_BACKUP_FOLDER: folder })
  const [clock, log] = [systemClock, openLog('silent')]
  doctorResults = newLatestResults()
  tasks = openOperatorTasks({ db, clock, log })
  open = () =>
    instanceFeatures({
      context: {
        config,
        share: wholeShare(config),
        clock,
        log,
        doctorResults,
        configuredProvider: createAdapters(config).provider,
      },
      db,
      certificates: mergeCertificates([]),
      readiness: async () => ({ database: { ready: true, detail: null }, relay: { ready: false, detail: 'away' } }),
      tasks,
      webhooks: [],
      publicUrl: 'https://mail.example.com',
    })
  client = sessionClient(open())
  shop = await createSendingDomain(db, clock.now())
})
afterAll(async () => {
  await tasks.stop()
  await database.close()
  rmSync(folder, { recursive: true, force: true })
})

const get = async (path: string) => (await client.get(`${root}${path}`)).json
const post = async (path: string, body: object = {}) => (await client.post(`${root}${path}`, body)).json
const command = async (group: Parameters<typeof outputOf>[0], ...args: string[]) =>
  (await outputOf(group, args, { MAILROOM_DATABASE_URL: database.url })).json
const newest = async (action: string) => (await selectAuditEntries(database.db, { action }, { limit: 1 }))[0]

test('every route is for operators alone, and what changes anything wants a confirmation', async () => {
  // Others than those of the later tests, since some answers are kept for a while.
  const apps = open()
  const everyone = sessionClient(apps)
  const routes = apps.flatMap(app => app.routes)
  expect(routes.length).toBeGreaterThan(25)
  const unconfirmed: string[] = []
  for (const { method, path } of routes) {
    expect(path).toStartWith(root)
    const named = path.replace(':action', path.includes('queue') ? 'retry' : 'rescan').replace(/:\w+/, 'x')
    expect([path, (await everyone.call(method, named, {}, 'nobody')).json.error.code]).toEqual([
      path,
      'session_required',
    ])
    const person = await everyone.call(method, named, {}, 'person')
    expect([path, person.status, person.json.error.code]).toEqual([path, 403, 'operator_required'])
    const answer = await everyone.call(method, named, {}, 'unconfirmed')
    if (answer.json?.error?.code !== 'confirmation_required') unconfirmed.push(`${method} ${path}`)
  }
  await until(async () => (await get('/tasks')).data.every((task: { state: string }) => task.state !== 'running'), {
    withinMs: 40_000,
  })
  expect(unconfirmed.filter(route => !route.startsWith('GET '))).toEqual([
    `POST ${root}/health/doctor`,
    `POST ${root}/storage/plan`,
  ])
  expect(unconfirmed).not.toContain(`GET ${root}/audit.csv`)
})

test('creates an organization as the command does, and shows the link of its owner once', async () => {
  const created = await client.post(`${root}/organizations`, {
    name: ' Acme ',
    plan: 'free',
    owner_email: 'Ann@Acme.test',
  })
  expect([created.status, created.json]).toEqual([
    201,
    {
      id: expect.stringMatching(/^org_/),
      name: 'Acme',
      owner: {
        member_id: expect.stringMatching(/^mem_/),
        email: 'ann@acme.test',
        link: expect.stringMatching(/^https:\/\/mail\.example\.com\/app\/welcome#\S{40,}$/),
        link_expires_at: expect.any(String),
      },
    },
  ])
  expect(created.text).toContain(created.json.owner.link.split('#')[1])
  const byPerson = [await newest('org.create'), await newest('member.add')]
  expect(byPerson).toMatchObject([
    { actor: operatorEmail, ip: operatorIp, subject: created.json.id },
    { actor: operatorEmail, organization_id: created.json.id },
  ])
  await command(orgCommand, 'create', 'Acme', '--plan', 'free', '--owner', 'ann@acme.test')
  const byCommand = [await newest('org.create'), await newest('member.add')]
  expect(byCommand.map(row => fromJson(row?.detail ?? '{}'))).toEqual(
    byPerson.map(row => fromJson(row?.detail ?? '{}')),
  )
  expect(await post('/organizations', { name: 'B', plan: 'free', owner_email: 'nobody' })).toMatchObject({
    error: { message: expect.stringContaining('`owner_email` is "nobody"') },
  })
})

test('lists organizations by pages, changes a plan, and resumes a paused brand', async () => {
  const { db } = database
  await pauseBrand(db, shop.brandId, '7 of 90 emails bounced', systemClock.now())
  const first = await get('/organizations?limit=1')
  expect(first.data).toMatchObject([
    { id: shop.organizationId, name: 'Shop', paused_brands: [{ id: shop.brandId, reason: '7 of 90 emails bounced' }] },
  ])
  expect((await get(`/organizations?limit=1&cursor=${first.next_cursor}`)).data[0].name).toBe('Acme')
  expect(await post(`/organizations/${shop.organizationId}/plan`, { plan: 'paid' })).toMatchObject({ plan: 'paid' })
  expect((await command(orgCommand, 'show', shop.organizationId)).plan).toBe('paid')
  expect(await newest('org.plan')).toMatchObject({ actor: operatorEmail, subject: shop.organizationId })
  expect(await post(`/brands/${shop.brandId}/resume`)).toEqual({ id: shop.brandId, resumed: true })
  expect(await command(brandCommand, 'paused')).toEqual([])
  expect(await newest('brand.resume')).toMatchObject({ actor: operatorEmail, subject: shop.brandId })
  expect(await post(`/brands/${shop.brandId}/resume`)).toMatchObject({ resumed: false })
  expect(await post('/organizations/org_x/plan', { plan: 'paid' })).toMatchObject({ error: { code: 'not_found' } })
})

test('lists the audit log as the command does, filters it, and exports it as CSV', async () => {
  const { data } = await get(`/audit?actor=${operatorEmail}&action=org.plan`)
  expect(data).toMatchObject([{ subject: shop.organizationId, ip: operatorIp, detail: { plan: 'paid' } }])
  expect(await command(auditCommand, 'list', '--action', 'org.plan')).toEqual(data)
  const first = await get('/audit?limit=2')
  const second = await get(`/audit?limit=2&cursor=${first.next_cursor}`)
  expect(new Set([...first.data, ...second.data].map(entry => entry.id)).size).toBe(4)
  const csv = await client.get(`${root}/audit.csv?actor=${operatorEmail}`)
  expect(csv.headers.get('content-disposition')).toContain('audit.csv')
  expect(csv.text.split('\r\n')[0]).toBe('id,at,actor,ip,action,subject,organization_id,detail')
  expect(csv.text).toContain(`org.plan,${shop.organizationId},${shop.organizationId},"{""plan"":""paid""}"`)
  expect(await newest('audit.export')).toMatchObject({ actor: operatorEmail })
})

test('lists operators and removes one', async () => {
  const { userId } = await addOperator(database.db, 'ops@example.com', systemClock)
  expect((await get('/operators')).data).toMatchObject([{ id: userId, email: 'ops@example.com', is_you: false }])
  expect((await client.call('DELETE', `${root}/operators/${userId}`)).status).toBe(200)
  expect((await get('/operators')).data).toEqual([])
  expect(await newest('operator.remove')).toMatchObject({ actor: operatorEmail, subject: userId })
  expect((await client.call('DELETE', `${root}/operators/${userId}`)).status).toBe(404)
})

test('shows the processes that run, with the open breaker of a relay, and the findings of doctor', async () => {
  const { db } = database
  let now = systemClock.now()
  const openedAt = plusMs(now, -minuteMs)
  const breaker = { openedAt, reply: 'auth: 535 5.7.8 wrong password' }
  const clock = { now: () => now }
  const heartbeat = openHeartbeat({ db, clock, roles: ['http', 'relay'], findOpenBreaker: () => breaker })
  const { signal } = new AbortController()
  await heartbeat.beat(signal)
  const other = openHeartbeat({ db, clock: systemClock, roles: ['smtp'], findOpenBreaker: () => null })
  await other.beat(signal)
  expect((await get('/health')).processes).toMatchObject([
    { roles: ['smtp'], version, is_alive: true, breaker: null },
    { roles: ['http', 'relay'], pid: process.pid, is_alive: true, breaker: { reply: breaker.reply } },
  ])
  await db.updateTable('processes').set({ version: '0.1.0' }).where('roles', '=', 'smtp').execute()
  doctorResults.record({
    at: now,
    isQuick: true,
    results: [
      { name: 'clamd', area: 'scanner', ...error('clamd does not answer', 'Start it.') },
      { name: 'connection', area: 'database', ...ok('MariaDB 10.11') },
    ],
  })
  const health = await get('/health')
  expect(health.doctor).toMatchObject({ is_quick: true, status: 'error', counts: { errors: 1, ok: 1 } })
  expect(health.parts).toContainEqual({ part: 'relay', ready: false, detail: 'away' })

  const blobs = mysqlBlobs(db, systemClock)
  await insertAcceptedEmails(db, blobs, shop, plusMs(now, -20 * minuteMs), [{ to: ['a@x.test'] }])
  const backup = { seconds: 1, bytes: 1, newBytes: 1, startedAt: now, finishedAt: now }
  await insertCompletedBackup(db, { id: '20260101T000000000Z-aaaaaa', ...backup })
  const lampNames = async () => (await get('/status')).data.map((lamp: { name: string }) => lamp.name)
  expect((await get('/status')).data).toMatchObject([
    { name: 'relay_breaker_open', level: 'critical', count: 1, href: '/queue', detail: breaker.reply },
    { name: 'queue_waiting', level: 'critical', href: '/queue' },
    { name: 'doctor_findings', level: 'critical', count: 1, detail: 'clamd does not answer' },
    { name: 'restore_unproven', level: 'warning', detail: 'No backup was ever verified' },
    { name: 'other_versions', level: 'notice', count: 1 },
  ])
  await updateRestoreTrial(db, '20260101T000000000Z-aaaaaa', 'proven', plusMs(systemClock.now(), -7 * dayMs))
  await other.end()
  now = plusMs(now, -2 * minuteMs)
  await heartbeat.beat(signal)
  await until(async () => (await lampNames()).length === 2, { withinMs: 15_000 })
  expect(await lampNames()).toEqual(['queue_waiting', 'doctor_findings'])
  expect((await get('/health')).processes).toMatchObject([{ is_alive: false }])
}, 40_000)

test('runs doctor in the background', async () => {
  const { task_id: id } = await post('/health/doctor', { full: false })
  await until(async () => (await get(`/tasks/${id}`)).state !== 'running', { withinMs: 30_000 })
  const task = await get(`/tasks/${id}`)
  expect(task).toMatchObject({ state: 'done', subject: 'quick', result: { is_quick: true } })
  expect((await get('/health')).doctor.findings).toEqual(task.result.findings)
})

test('orders a certificate now', async () => {
  const { db } = database
  const now = systemClock.now()
  await insertPendingCertificates(db, ['mail.example.com'], plusMs(now, 60 * dayMs))
  const [listed] = (await get('/certificates')).data
  expect(listed).toMatchObject({ name: 'mail.example.com', source: 'acme', issuer: null, not_after: null, failures: 0 })
  expect(await command(certificateCommand, 'list')).toEqual([listed])
  expect(await post('/certificates/renew', { name: 'mail.example.com' })).toEqual({})
  expect((await get('/certificates')).data[0].renews_at < listed.renews_at).toBe(true)
  expect(await newest('certificate.renew')).toMatchObject({ actor: operatorEmail, subject: 'mail.example.com' })
  expect(await post('/certificates/renew', { name: 'x.example.com' })).toMatchObject({ error: { code: 'not_found' } })
})

test('counts sent against confirmed emails by day, from ranges of an index', async () => {
  const { db } = database
  const now = systemClock.now()
  const emails = ['sent', 'sent', 'delivered', 'bounced', 'queued'] as const
  const ids = await insertAcceptedEmails(
    db,
    mysqlBlobs(db, systemClock),
    shop,
    now,
    emails.map(() => ({ to: ['b@x.test'] })),
  )
  for (const [i, id] of ids.entries()) {
    const status = emails[i] ?? 'queued'
    await db.updateTable('emails').set({ status }).where('id', '=', id).execute()
  }
  const { provider, days, webhooks } = await get('/delivery')
  expect([provider.name, provider.reports, webhooks]).toEqual(['sandbox', expect.any(String), []])
  expect([days.length, days.at(-1)]).toEqual([
    14,
    { day: now.slice(0, 10), unconfirmed: 2, delivered: 1, bounced: 1, complained: 0, failed: 0 },
  ])
})
