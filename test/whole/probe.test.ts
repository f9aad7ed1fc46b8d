import { test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { startMailroom } from '../support/mailroom.ts'
import { watchHealth, sendAtOnce } from '../support/load.ts'
const clients = Number(process.env.CLIENTS ?? 10)
const MB = 1024*1024
test('x', async () => {
  const m = await startMailroom({ MAILROOM_MAX_SESSIONS_PER_ADDRESS: '100', MAILROOM_LOG_LEVEL: 'info' })
  const base64 = randomBytes(14.6 * MB).toString('base64').replace(/.{76}/g, '$&\r\n')
  const msg = `From: A <a@client.example>\r\nTo: hello@demo.test\r\nSubject: Message %\r\nMessage-ID: <load-%@client.example>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHello.\r\n--b\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64}\r\n--b--\r\n`
  await Bun.write('/tmp/mr-load.eml', msg)
  console.log('message', msg.length / MB, m.memory().now / MB)
  const idle = await watchHealth(m.http)
  await Bun.sleep(2000)
  console.log('idle', await idle.end())
  const w = await watchHealth(m.http)
  const mem: string[] = []
  const t = performance.now()
  const timer = setInterval(() => mem.push((m.memory().now / MB).toFixed()), 1000)
  const answers = await sendAtOnce(m.smtp, clients, 'hello@demo.test', '/tmp/mr-load.eml')
  const s = (performance.now() - t) / 1000
  const lat = await w.end()
  clearInterval(timer)
  console.log(s, 's', lat, mem.join(' '), m.memory().peak / MB)
  console.log(Object.entries(Object.groupBy(answers, a => a.slice(0, 9))).map(([k, v]) => [k, v?.length]))
  const metrics = await (await fetch(`http://${m.log.find(l => l.msg === 'serving').metrics}/metrics`)).text()
  console.log(metrics.split('\n').filter(l => /step_seconds_(sum|count)|data_seconds_(sum|count)/.test(l)).join('\n'))
  console.log(m.log.filter(l => l.level > 30)); for (const l of m.log.filter(l => l.msg === 'mem')) console.log(JSON.stringify(l))
  const page = await m.api('GET', '/v1/inbox?limit=200')
  console.log(page.json.data.length)
  await m.stop()
}, 600000)
