import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Selectable } from 'kysely'
import { fromIso, type Instant, systemClock } from '../../src/base/clock.ts'
import type { DatabaseSchema } from '../../src/base/database/schema.ts'
import { newId } from '../../src/base/ids.ts'
import { suppressionsCommand } from '../../src/cli/suppressions.ts'
import { createSendingDomain, type SendingDomain } from '../harness/accepted-emails.ts'
import { program } from '../harness/cli.ts'
import { outputOf } from '../harness/command-output.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import { childEnvironment } from '../harness/up.ts'

let database: FreshDatabase
let shop: SendingDomain
const folder = mkdtempSync(join(tmpdir(), 'mailroom-suppressions-'))

beforeAll(async () => {
  database = await freshDatabase(4)
  shop = await createSendingDomain(database.db, systemClock.now(), 'shop.test')
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await database.close()
})
beforeEach(async () => {
  await database.db.deleteFrom('suppressions').execute()
})

const at = (time: string) => fromIso(time) as Instant
const settings = () => ({ MAILROOM_DATABASE_URL: database.url })
let files = 0

function written(text: string, ending = 'csv'): string {
  const file = join(folder, `in-${++files}.${ending}`)
  writeFileSync(file, text)
  return file
}

const importText = (text: string, ending = 'csv', ...more: string[]) =>
  outputOf(suppressionsCommand, ['import', written(text, ending), '--org', shop.organizationId, ...more], settings())

async function exported(...more: string[]): Promise<string> {
  const file = join(folder, `out-${++files}`)
  await outputOf(suppressionsCommand, ['export', '--org', shop.organizationId, '--output', file, ...more], settings())
  return file
}

const all = () => database.db.selectFrom('suppressions').selectAll().orderBy('email').execute()
const emails = async () => (await all()).map(row => row.email)

test('imports the good lines of a file, and reports each bad one with its number', async () => {
  const { json, status } = await importText(
    [
      '\ufeffEmail,Reason,Brand,Evidence,Source',
      'One@A.test,,,,list',
      'two@a.test,hard_bounce,shop,"550 5.1.1 ""no"", said he",',
      'not an address,manual,,,',
      '',
      'three@a.test,annoyed,,,',
      'four@a.test,manual,nobody,,',
      'five@a.test,manual',
      `six@a.test,COMPLAINT,${shop.brandId},,`,
      ',manual,,,',
      'seven@a.test,"manual" x,,,',
      'eight@a.test,unsubscribe,,,',
    ].join('\r\n'),
  )
  expect([json.added, json.unchanged, json.bad, status]).toEqual([4, 0, 6, 1])
  expect(json.bad_lines.map((badLine: { line: number }) => badLine.line)).toEqual([4, 6, 7, 8, 10, 11])
  expect(json.bad_lines[0].reason).toBe('"not an address" is not an email address')
  expect(json.bad_lines[1].reason).toContain('not one of hard_bounce, complaint, unsubscribe, manual')
  expect((await all()).map(row => [row.email, row.reason, row.evidence])).toEqual([
    ['eight@a.test', 'unsubscribe', null],
    ['one@a.test', 'manual', null],
    ['six@a.test', 'complaint', null],
    ['two@a.test', 'hard_bounce', '550 5.1.1 "no", said he'],
  ])
})

test('importing the same file again changes nothing', async () => {
  const text = 'email,reason\na@a.test,manual\nb@a.test,complaint\n'
  const dry = await importText(text, 'csv', '--dry-run')
  expect([dry.json.dry_run, dry.json.added, await emails()]).toEqual([true, 2, []])
  expect((await importText(text)).json).toMatchObject({ added: 2, unchanged: 0, bad: 0 })
  const before = await all()
  const again = await importText(text)
  expect([again.json.added, again.json.unchanged, again.status]).toEqual([0, 2, 0])
  expect(await all()).toEqual(before)
})

test('imports NDJSON line by line', async () => {
  const lines = [
    { email: 'a@a.test', reason: 'hard_bounce', created_at: '2026-01-02T03:04:05Z', evidence: null },
    { email: 'b@a.test', expires_at: '2026-01-02T03:04:05Z' },
  ].map(entry => JSON.stringify(entry))
  const { json } = await importText(`${lines[0]}\n{"email":\n\n[]\n${lines[1]}`, 'ndjson')
  expect(json).toMatchObject({
    added: 1,
    bad_lines: [
      { line: 2, reason: 'not a JSON object' },
      { line: 4, reason: 'not a JSON object' },
      { line: 5, reason: 'expires_at 2026-01-02T03:04:05Z is in the past' },
    ],
  })
  expect(await all()).toMatchObject([{ email: 'a@a.test', created_at: at('2026-01-02T03:04:05Z') }])
})

test.each(['csv', 'ndjson'])(
  'an export as %s is imported unchanged',
  async format => {
    const base = {
      organization_id: shop.organizationId,
      brand_id: shop.brandId,
      source_email_id: null,
      expires_at: null,
      unsubscribed_at: null,
      created_at: at('2026-03-01T08:00:00.000001Z'),
    }
    const put = (row: Partial<Selectable<DatabaseSchema['suppressions']>>) => ({
      ...{ ...base, id: newId('sup'), email: 'odd@a.test', evidence: null, reason: 'manual' as const },
      ...row,
    })
    const rows = [
      put({ reason: 'hard_bounce', evidence: '550, "no"\r\nand more', expires_at: at('2099-01-01T00:00:00Z') }),
      put({ email: 'both@a.test', reason: 'complaint', unsubscribed_at: at('2026-02-01T08:00:00Z') }),
      put({ email: 'over@a.test', expires_at: at('2026-03-02T00:00:00Z') }),
    ]
    await database.db.insertInto('suppressions').values(rows).execute()
    const many = Array.from({ length: 1100 }, (_, i) => put({ email: `u${i}@b.test` }))
    await database.db.insertInto('suppressions').values(many).execute()
    const file = await exported('--format', format)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const before = (await all()).filter(row => row.email !== 'over@a.test')
    await database.db.deleteFrom('suppressions').execute()
    const { json } = await outputOf(
      suppressionsCommand,
      ['import', file, '--org', shop.organizationId, '--format', format],
      settings(),
    )
    expect(json).toMatchObject({ added: 1102, bad: 0 })
    const after = await all()
    const shown = (row: (typeof after)[number]) => ({ ...row, id: '', evidence: row.evidence?.trim() ?? null })
    expect(after.map(shown)).toEqual(before.map(shown))
  },
  60_000,
)

test('reads standard input and writes standard output', async () => {
  const run = (args: string[], stdin: string) => {
    const env = childEnvironment(settings())
    const command = [process.execPath, '--no-env-file', program, 'suppressions', ...args]
    return Bun.spawnSync(command, { env, stdin: Buffer.from(stdin) })
  }
  const first = run(['import', '-', '--org', shop.organizationId], 'email\npiped@a.test\nbad\n')
  expect([first.exitCode, first.stdout.toString()]).toEqual([
    1,
    'line 3: "bad" is not an email address\nAdded 1; 0 were there already; 1 could not be read.\n',
  ])
  const second = run(['export', '--org', shop.organizationId], '')
  expect(second.stdout.toString()).toMatch(
    new RegExp(
      `^email,reason,brand,created_at,expires_at,unsubscribed_at,evidence\r\npiped@a.test,manual,${shop.brandId},.*Z,,,\r\n$`,
    ),
  )
})

test('requires a line with the field names', async () => {
  for (const text of ['', 'a,b\n1,2\n']) await expect(importText(text)).rejects.toThrow('does not name the field email')
})

test('an unclosed quote makes only one line unreadable', async () => {
  const rest = Array.from({ length: 150 }, (_, i) => `u${i}@a.test,"two\nlines"\n`)
  const { json } = await importText(`email,evidence\n"a@a.test,\n${rest.join('')}b@a.test,"x\n`)
  expect([json.added, json.bad_lines.map((badLine: { line: number }) => badLine.line)]).toEqual([150, [2, 303]])
})

test('does not overwrite a file', async () => {
  const file = await exported()
  const again = outputOf(suppressionsCommand, ['export', '--org', shop.organizationId, '--output', file], settings())
  await expect(again).rejects.toThrow('EEXIST')
  expect(readFileSync(file, 'utf8')).toStartWith('email,')
})
