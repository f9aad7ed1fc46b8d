import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Mailroom, startMailroom } from '../../harness/mailroom.ts'
import { sendMail } from '../../harness/smtp-delivery.ts'
import { until } from '../../harness/until.ts'
import { type DoctorFixtures, openDoctorFixtures } from '../doctor/fixtures.ts'

const tooMuch = { MAILROOM_LEAST_FREE_BYTES: '900000000000000' }
const nothing = { MAILROOM_LEAST_FREE_BYTES: '0' }
const refused = '452 4.3.1 Insufficient system storage, try again later'

let mailroom: Mailroom
let doctor: DoctorFixtures

beforeAll(async () => {
  mailroom = await startMailroom(tooMuch)
  doctor = await openDoctorFixtures()
}, 60_000)

afterAll(async () => {
  await mailroom?.stop()
  await doctor?.close()
}, 60_000)

let last = 0

const receive = () =>
  sendMail(mailroom.smtp, `From: you@friend.test\r\nMessage-ID: <${++last}@friend.test>\r\nSubject: Hi\r\n\r\nHi\r\n`)

const send = async () =>
  (
    await mailroom.api('POST', '/v1/emails', {
      from: 'hello@demo.test',
      to: 'you@friend.test',
      subject: 'Hi',
      text: 'Hi',
    })
  ).status

test('below MAILROOM_LEAST_FREE_BYTES mail is refused both ways, /ready answers 503 and doctor finds an error', async () => {
  await until(async () => (await receive()) === refused)
  expect(await send()).toBe(500)
  const { status, json } = await mailroom.api('GET', '/ready')
  expect([status, json.disk]).toEqual([
    503,
    { ready: false, detail: expect.stringMatching(/ free in .*: below 818.5 TiB mail is refused$/) },
  ])
  expect((await doctor.run('folder', tooMuch)).level).toBe('error')
  expect((await doctor.run('disk', tooMuch)).level).toBe('error')
})

test('above it mail is accepted both ways, the disk is ready and doctor finds no error', async () => {
  await mailroom.restart(nothing)
  await until(async () => (await receive()).startsWith('250 '))
  expect(await send()).toBe(202)
  expect((await mailroom.api('GET', '/ready')).json.disk).toEqual({ ready: true, detail: null })
  expect((await doctor.run('folder', nothing)).level).toBe('ok')
  expect((await doctor.run('disk', nothing)).level).not.toBe('error')
})
