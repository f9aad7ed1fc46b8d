import { afterAll, beforeAll, expect, test } from 'bun:test'
import { allChecks, quickChecks } from '../../../src/health/doctor/checks.ts'
import { runChecks } from '../../../src/health/doctor/run-checks.ts'
import { runCommand } from '../../harness/cli.ts'
import { startMailroom } from '../../harness/mailroom.ts'
import { type ScriptedRelay, startScriptedRelay } from '../../harness/scripted-relay.ts'
import { until } from '../../harness/until.ts'
import { type DoctorFixtures, openDoctorFixtures } from './fixtures.ts'

let doctor: DoctorFixtures
let relay: ScriptedRelay

beforeAll(async () => {
  doctor = await openDoctorFixtures()
  relay = await startScriptedRelay()
})
afterAll(async () => {
  await relay.close()
  await doctor.close()
})

const settings = (more: Readonly<Record<string, string>> = {}) => ({
  MAILROOM_DATABASE_URL: doctor.database.url,
  MAILROOM_CLAMD: process.env['MAILROOM_TEST_CLAMD'] ?? '',
  MAILROOM_RESOLVERS: `${doctor.dns.endpoint.host}:${doctor.dns.endpoint.port}`,
  MAILROOM_HOSTNAME: 'mail.ours.test',
  MAILROOM_VAR: doctor.varFolder,
  MAILROOM_SMARTHOST_URL: relay.url.replace('//', '//ann:secret@'),
  ...more,
})

test('doctor prints each finding with what to do, as text and as JSON, and logs in to the relay without sending', async () => {
  relay.setScript({ ehlo: '250-relay.test\r\n250 AUTH PLAIN', auth: '535 5.7.8 wrong password' })
  const [text, json] = await Promise.all([
    runCommand(['doctor'], settings()),
    runCommand(['doctor', '--json'], settings()),
  ])
  expect([text.status, json.status]).toEqual([1, 1])
  expect(text.out).toMatch(
    /^ {2}error {4}log_in\n {11}seen: smtp:\/\/127\.0\.0\.1:\d+: auth: 535 .*\n {11}do: {3}Put the user/m,
  )
  expect(text.out).toMatch(/^ {2}ok {7}connection: M\w+ \d+/m)
  expect(text.out + json.out).not.toContain('secret@')
  const { status, counts, findings } = JSON.parse(json.out)
  expect(status).toBe('error')
  expect(findings.map((finding: { check: string }) => finding.check).sort()).toEqual(
    allChecks.map(allCheck => allCheck.name).sort(),
  )
  expect(Object.values<number>(counts).reduce((sum, count) => sum + count)).toBe(findings.length)
  for (const { level, seen, do: todo } of findings) {
    expect(seen).not.toBe('')
    expect(['ok', 'skipped'].includes(level) ? todo === null : todo.endsWith('.')).toBe(true)
  }
  expect(relay.commands.some(command => /^\d+ (MAIL|RCPT|DATA)/i.test(command))).toBe(false)
})

test('doctor --quick asks neither DNS nor the relay, and its status is 0 where nothing is an error', async () => {
  const [asked, connected] = [doctor.dns.questions.length, relay.connections()]
  const { status, out } = await runCommand(['doctor', '--quick', '--json'], settings())
  const errors = JSON.parse(out).findings.filter((finding: { level: string }) => finding.level === 'error')
  expect(errors).toEqual([])
  expect(status).toBe(0)
  expect([doctor.dns.questions.length, relay.connections()]).toEqual([asked, connected])
})

test('doctor checks the rest while the database is away', async () => {
  const away = settings({ MAILROOM_DATABASE_URL: 'mysql://mailroom@127.0.0.1:1/mailroom' })
  const { status, out } = await runCommand(['doctor', '--quick', '--json'], away)
  expect(status).toBe(1)
  const levels = new Map(
    JSON.parse(out).findings.map((finding: { check: string; level: string }) => [finding.check, finding.level]),
  )
  expect(levels.get('connection')).toBe('error')
  expect(levels.get('migrations')).toBe('skipped')
  expect(levels.get('clamd')).toBe('ok')
})

test('serve logs what the quick checks find at its start, and shows the number as a metric', async () => {
  const mailroom = await startMailroom({ MAILROOM_CLAMD: 'unix:/nonexistent/clamd.ctl' })
  try {
    await until(() => mailroom.log.some(line => line.msg === 'doctor ran its quick checks'))
    expect(mailroom.log.find(line => line.msg === 'doctor: error')).toMatchObject({
      check: 'clamd',
      seen: expect.stringContaining('/nonexistent/clamd.ctl'),
      todo: expect.stringContaining('MAILROOM_CLAMD'),
    })
    expect(mailroom.log.find(line => line.msg === 'doctor ran its quick checks')?.['errors']).toBe(1)
    const { metrics } = mailroom.log.find(line => line.msg === 'serving') as unknown as { metrics: string }
    expect(await (await fetch(`http://${metrics}/metrics`)).text()).toContain(
      'mailroom_doctor_findings{level="error"} 1',
    )
  } finally {
    await mailroom.stop()
  }
})

test('a check that throws or takes too long becomes a finding, and delays no other check', async () => {
  const check = (run: () => Promise<never>) => ({ name: 'x', area: 'machine', run }) as const
  const never = new Promise<never>(() => undefined)
  const deps = {} as Parameters<typeof runChecks>[1]
  const broken = async () => {
    throw new Error('permission denied')
  }
  const [thrown, late] = await runChecks([check(broken), check(() => never)], deps, 50)
  expect(thrown).toMatchObject({ level: 'error', seen: expect.stringContaining('permission denied') })
  expect(late).toMatchObject({ level: 'warning', seen: expect.stringContaining('no answer within 0.05 seconds') })
  expect(new Set(quickChecks.map(check => check.name)).size).toBe(quickChecks.length)
})
