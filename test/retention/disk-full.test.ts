import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { type PrivateMariadb, startMariadb } from '../../src/cli/private/mariadb.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { canMountDisks, openSmallDisk, type SmallDisk } from '../harness/small-disk.ts'
import { sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'

const MiB = 1024 * 1024
const leastFree = 8 * MiB
const serverKey = 'MAILROOM_TEST_DATABASE_URL'
const usualServer = process.env[serverKey]

/** The spool and the database are on a small disk each. */
describe.if(canMountDisks)('on small disks', () => {
  let spoolDisk: SmallDisk
  let dataDisk: SmallDisk
  let mariadb: PrivateMariadb
  let mailroom: Mailroom

  beforeAll(async () => {
    spoolDisk = openSmallDisk(32 * MiB)
    dataDisk = openSmallDisk(400 * MiB)
    mariadb = await startMariadb({ folder: join(dataDisk.path, 'mariadb'), options: ['--innodb-log-file-size=96M'] })
    process.env[serverKey] = mariadb.url
    mailroom = await startMailroom({ MAILROOM_VAR: spoolDisk.path, MAILROOM_LEAST_FREE_BYTES: String(leastFree) })
  }, 120_000)

  afterAll(async () => {
    await mailroom?.stop()
    await mariadb?.stop()
    if (usualServer === undefined) delete process.env[serverKey]
    else process.env[serverKey] = usualServer
    dataDisk?.close()
    spoolDisk?.close()
  }, 120_000)

  const full = '452 4.3.1 Insufficient system storage, try again later'
  const email = { from: 'hello@demo.test', to: 'you@friend.test', subject: 'Hi', text: 'Hi' }
  let last = 0

  function letter(bytes = 100): string {
    const line = `${'x'.repeat(76)}\r\n`
    const id = ++last
    return `From: you@friend.test\r\nMessage-ID: <${id}@friend.test>\r\nSubject: ${id}\r\n\r\n${line.repeat(Math.ceil(bytes / 78))}`
  }

  const receive = async (bytes?: number) => await sendMail(mailroom.smtp, letter(bytes))
  const accept = () => mailroom.api('POST', '/v1/emails', email)

  /** The number of rows in each table that accepting a message or an email writes. */
  async function rows(): Promise<readonly number[]> {
    const counts: number[] = []
    for (const table of ['messages', 'attachments', 'emails', 'email_recipients', 'blobs', 'blob_chunks']) {
      const { rows: found } = await sql<{ n: number }>`SELECT COUNT(*) AS n FROM ${sql.table(table)}`.execute(
        mailroom.database.db,
      )
      counts.push(Number(found[0]?.n))
    }
    return counts
  }

  const acceptsBoth = async () => (await receive()).startsWith('250 ') && (await accept()).status === 202

  async function expectBothRefused(): Promise<void> {
    await until(async () => (await receive()) === full)
    const { status, json, headers } = await accept()
    expect([status, json.error.code, json.error.requirement]).toEqual([500, 'unavailable', 'retry'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  }

  test('a message whose spool file does not fit on the disk is answered 452 and leaves nothing behind', async () => {
    await until(acceptsBoth)
    spoolDisk.fillUntilFree(leastFree + 2 * MiB)
    const before = await rows()
    expect(await receive(14 * MiB)).toBe(full)
    await until(() => readdirSync(join(spoolDisk.path, 'spool')).length === 0)
    expect(await rows()).toEqual(before)
    spoolDisk.empty()
    await until(acceptsBoth)
    expect(await receive(14 * MiB)).toStartWith('250 ')
  })

  for (const [name, diskOf] of [
    ['spool', () => spoolDisk],
    ['database', () => dataDisk],
  ] as const)
    test(`while the disk of the ${name} is nearly full, mail is refused and /ready answers 503, until there is space again`, async () => {
      await until(acceptsBoth)
      diskOf().fillUntilFree(leastFree - 2 * MiB)
      await expectBothRefused()
      const before = await rows()
      await expectBothRefused()
      expect(await rows()).toEqual(before)
      expect((await mailroom.api('GET', '/ready')).json.disk.ready).toBe(false)
      // Reading goes on.
      expect((await mailroom.api('GET', '/v1/inbox')).status).toBe(200)
      diskOf().empty()
      await until(acceptsBoth)
      const text = mailroom.log.filter(line => line.msg.startsWith('the disk is full'))
      expect(text.length).toBeGreaterThan(0)
    })

  for (const [errno, table] of [
    [1114, 'messages'],
    [1021, 'blobs'],
  ] as const)
    test(`while the database reports a full disk (${errno}), mail is refused and nothing stays half written`, async () => {
      await until(acceptsBoth)
      const { db } = mailroom.database
      const other = table === 'messages' ? 'emails' : 'email_recipients'
      for (const name of [table, other])
        await sql
          .raw(
            `CREATE TRIGGER full_${name} BEFORE INSERT ON ${name} FOR EACH ROW
              SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${errno}, MESSAGE_TEXT = 'there is no space left'`,
          )
          .execute(db)
      const before = await rows()
      await expectBothRefused()
      expect(await rows()).toEqual(before)
      for (const name of [table, other]) await sql.raw(`DROP TRIGGER full_${name}`).execute(db)
      await until(acceptsBoth)
    })
})
