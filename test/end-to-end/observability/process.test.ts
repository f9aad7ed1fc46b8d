import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../harness/cli.ts'
import { type LogLine, type Mailroom, startMailroom } from '../../harness/mailroom.ts'
import { promtool } from '../../harness/promtool.ts'
import { groupByEmail } from '../../harness/relayed-messages.ts'
import { type ScriptedRelay, startScriptedRelay } from '../../harness/scripted-relay.ts'
import { acceptedMessageId, sendMail } from '../../harness/smtp-delivery.ts'
import { startTraceCollector, type TraceCollector } from '../../harness/trace-collector.ts'
import { until } from '../../harness/until.ts'
import { childEnvironment } from '../../harness/up.ts'

/** What a Mailroom in a process of its own shows of an email and a message: metrics, log, traces. */
let relay: ScriptedRelay
let collector: TraceCollector
let mailroom: Mailroom
let emailId: string
let requestId: string
let messageId: string
let reversePath: string

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const callerSpan = '00f067aa0ba902b7'
const report = readFileSync(join(import.meta.dir, '../../fixtures/reports/postfix.eml'))
const message = 'From: alice@sender.example\r\nTo: hello@demo.test\r\nSubject: Secret subject\r\n\r\nHello\r\n'

beforeAll(async () => {
  relay = await startScriptedRelay()
  collector = startTraceCollector()
  mailroom = await startMailroom({
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: relay.url,
    MAILROOM_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector',
  })
  const response = await fetch(`${mailroom.http}/v1/emails`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${mailroom.key}`,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-${callerSpan}-01`,
    },
    body: JSON.stringify({ from: 'hello@demo.test', to: 'bob@dest.example', subject: 'Secret subject', text: 'Hi' }),
  })
  expect(response.status).toBe(202)
  requestId = response.headers.get('x-request-id') ?? ''
  emailId = ((await response.json()) as { readonly id: string }).id
  await until(() => groupByEmail(relay.accepted).has(emailId))
  reversePath = groupByEmail(relay.accepted).get(emailId)?.[0]?.from ?? ''
  messageId = acceptedMessageId(await sendMail(mailroom.smtp, message))
  await until(() => lineOf('submitted', 'email_id', emailId))
  expect(await sendMail(mailroom.smtp, report, { from: '', to: [reversePath] })).toStartWith('250 ')
  expect((await mailroom.api('GET', '/v1/emails/eml_none')).status).toBe(404)
}, 90_000)

afterAll(async () => {
  await mailroom?.stop()
  await relay?.close()
  await collector?.stop()
}, 60_000)

function lineOf(msg: string, key: string, value: unknown): LogLine | undefined {
  return mailroom.log.find(line => line.msg === msg && line[key] === value)
}

async function scrape(): Promise<string> {
  const address = mailroom.log.find(line => line.msg === 'serving')?.['metrics']
  return (await fetch(`http://${address}/metrics`)).text()
}

/** What `/metrics` tells of itself: the metrics by name, and the labels that each was seen with. */
function read(text: string) {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(match => [match[1] ?? '', match[2] ?? '']))
  const baseOf = (name: string) => (types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''))
  const labels = new Map<string, Set<string>>()
  for (const [, name = '', inside = ''] of text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const seen = labels.get(baseOf(name)) ?? new Set()
    for (const [, label = ''] of inside.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) seen.add(label)
    labels.set(baseOf(name), seen)
  }
  return { types, labels, baseOf }
}

interface Panel {
  readonly type: string
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

const dashboard = JSON.parse(readFileSync(join(projectRoot, 'docker/monitoring/dashboard.json'), 'utf8'))
const panels: readonly Panel[] = dashboard.panels
const alerts = readFileSync(join(projectRoot, 'docker/monitoring/alerts.yaml'), 'utf8')
const asked = [
  ...panels.flatMap(panel => panel.targets?.map(target => target.expr) ?? []),
  ...[...alerts.matchAll(/^ +expr: (.*)$/gm)].map(match => match[1] ?? ''),
]

test('every metric and label that the dashboard and the alert rules ask for is there', async () => {
  // The storage watch and the count of the queue come round a little after the start.
  await until(async () => /^mailroom_stored_bytes\{.*^mailroom_queue_recipients\{/ms.test(await scrape()))
  const { types, labels, baseOf } = read(await scrape())
  const own = new Set(['job', 'instance'])
  let selectors = 0
  for (const expr of asked)
    for (const [, name = '', inside = ''] of expr.matchAll(/\b((?:mailroom|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)) {
      expect([expr, types.has(baseOf(name))]).toEqual([expr, true])
      const seen = labels.get(baseOf(name))
      if (!seen || seen.size === 0) continue
      const by = /\bby \(([^)]*)\)/.exec(expr.slice(0, expr.indexOf(name)))?.[1]?.split(/, */) ?? []
      const wanted = [...inside.matchAll(/(\w+)(?:=|!=)/g)].map(match => match[1] ?? '')
      for (const label of [...by, ...wanted].filter(value => !own.has(value)))
        expect([expr, label, seen.has(label)]).toEqual([expr, label, true])
      selectors++
    }
  expect(selectors).toBeGreaterThan(30)
}, 60_000)

test('Prometheus understands every question of the dashboard, and finds nothing amiss in how the metrics are named', async () => {
  const filled = asked.map(expr =>
    expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'mailroom').replaceAll('$instance', '.*'),
  )
  const rules = filled.map((expr, i) => ({ record: `asked:${i}`, expr }))
  const groups = JSON.stringify({ groups: [{ name: 'asked', rules }] })
  expect(await promtool(['check', 'rules', '/dev/stdin'], groups)).toContain(`${rules.length} rules found`)
  const ours = (await scrape())
    .split('\n\n')
    .filter(value => value.includes('# TYPE mailroom_'))
    .join('\n')
  expect(await promtool(['check', 'metrics'], `${ours}\n`)).toBe('')
}, 60_000)

test('the dashboard has a row for each part, and no two panels in one place', () => {
  expect(panels.filter(panel => panel.type === 'row').map(panel => panel.title)).toEqual([
    'Now',
    'Mail in',
    'Mail out',
    'Queue',
    'HTTP',
    'Resources',
    'Disk',
    'Backups',
    'Certificates',
  ])
  const places = dashboard.panels.map(({ gridPos: { x, y } }: { gridPos: { x: number; y: number } }) => `${x} ${y}`)
  expect(new Set(places).size).toBe(places.length)
})

/** The value of a series; undefined: it is not there. */
function sampleOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find(value => value.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length))
}

test('counts what came and went: by verdict, reply, route and status, and how long it took', async () => {
  const text = await scrape()
  expect(sampleOf(text, 'mailroom_scan_seconds_count{verdict="clean"}')).toBeGreaterThanOrEqual(1)
  expect(sampleOf(text, 'mailroom_submissions_total{outcome="accepted",reply="2xx"}')).toBe(1)
  expect(sampleOf(text, 'mailroom_submissions_total{outcome="failed",reply="5xx"}')).toBe(0)
  expect(sampleOf(text, 'mailroom_send_delay_seconds_count')).toBe(1)
  expect(sampleOf(text, 'mailroom_http_requests_total{method="POST",route="/v1/emails",status="202"}')).toBe(1)
  expect(sampleOf(text, 'mailroom_http_requests_total{method="GET",route="/v1/emails/:id",status="404"}')).toBe(1)
  expect(sampleOf(text, 'mailroom_http_refusals_total{code="not_found"}')).toBeGreaterThanOrEqual(1)
  expect(sampleOf(text, 'mailroom_smtp_messages_total{result="accepted"}')).toBe(2)
  expect(sampleOf(text, 'mailroom_database_connections_max{pool="relay"}')).toBe(10)
  expect(sampleOf(text, 'mailroom_database_waiting{pool="http"}')).toBe(0)
  expect(text).toMatch(/^mailroom_build_info\{version="\d+\.\d+\.\d+.*",bun=".+"\} 1$/m)
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m)
})

test('what clients write as they like makes no labels of its own', async () => {
  for (let i = 0; i < 20; i++) {
    await fetch(`${mailroom.http}/nowhere/${i}`)
    await fetch(`${mailroom.http}/v1/emails/${i}`, { method: 'PROPFIND' })
  }
  const text = await scrape()
  expect(sampleOf(text, 'mailroom_http_requests_total{method="GET",route="none",status="404"}')).toBe(20)
  expect([text.includes('nowhere'), text.includes('PROPFIND')]).toEqual([false, false])
})

test('an email can be followed through the log, from the request that made it to the report of it', async () => {
  await until(() => lineOf('recorded a delivery report', 'email_id', emailId))
  expect(lineOf('request answered', 'request_id', requestId)).toMatchObject({
    email_id: emailId,
    method: 'POST',
    route: '/v1/emails',
    status: 202,
  })
  expect(lineOf('submitted', 'email_id', emailId)).toMatchObject({ attempt: 1, outcome: 'accepted', smtp_code: 250 })
  const took = lineOf('recorded a delivery report', 'email_id', emailId)
  expect(took).toMatchObject({ report: 'bounce', type: 'bounced', is_new: true })
  expect(lineOf('message accepted', 'transaction_id', took?.['transaction_id'])).toBeDefined()
})

test('a message can be followed through the log by its id, which the sender was told', () => {
  expect(lineOf('message accepted', 'message_id', messageId)).toMatchObject({
    session_id: expect.any(String),
    transaction_id: expect.any(String),
    bytes: message.length,
  })
})

test('the log names no address and no subject', () => {
  const written = mailroom.log.map(line => JSON.stringify(line)).join('\n')
  for (const secret of ['bob@', 'alice@', 'hello@', 'Secret subject', mailroom.key])
    expect(written).not.toContain(secret)
})

const spanOf = (name: string, fact: string, value: unknown) =>
  collector.spans.find(span => span.name === name && span.attributes[fact] === value)

test('traces go to the collector: a span for each email, message and request, and below it one for each step', async () => {
  await until(() => spanOf('submit email', 'mailroom.email_id', emailId))
  await until(() => spanOf('receive message', 'mailroom.message_id', messageId))
  await until(() => spanOf('POST /v1/emails', 'mailroom.request_id', requestId))
  const stepsOf = (name: string, fact: string, value: unknown) => {
    const span = spanOf(name, fact, value)
    const below = collector.spans.filter(
      collectedSpan => collectedSpan.parentSpanId === span?.spanId && collectedSpan.traceId === span?.traceId,
    )
    return below.map(collectedSpan => collectedSpan.name).sort()
  }
  expect(stepsOf('submit email', 'mailroom.email_id', emailId)).toEqual([
    'out read',
    'out settle',
    'out sign',
    'out submit',
  ])
  expect(stepsOf('receive message', 'mailroom.message_id', messageId)).toEqual([
    'in file',
    'in parse',
    'in scan',
    'in store',
    'in verify',
  ])
  expect(stepsOf('POST /v1/emails', 'mailroom.request_id', requestId)).toEqual([
    'out compose',
    'out enqueue',
    'out resolve',
    'out stage',
  ])
  expect(collector.headers.every(header => header.get('authorization') === 'Bearer collector')).toBe(true)
}, 30_000)

test('a request joins the trace of who made it', () => {
  expect(spanOf('POST /v1/emails', 'mailroom.request_id', requestId)).toMatchObject({
    traceId,
    parentSpanId: callerSpan,
    facts: { 'mailroom.email_id': emailId, 'http.response.status_code': 202, 'http.route': '/v1/emails' },
  })
})

test('the traces name no address, no subject and no path', () => {
  for (const secret of ['bob@', 'alice@', 'hello@', 'Secret subject', 'nowhere', mailroom.key])
    expect(collector.bodies.join('\n')).not.toContain(secret)
})

test('a collector that is away costs a line of the log, and neither mail nor a slow end', async () => {
  const beside = await mailroom.startSecondProcess({ MAILROOM_OTLP_ENDPOINT: 'http://127.0.0.1:1' })
  expect(await sendMail(beside.smtp, message)).toStartWith('250 ')
  await until(() => beside.log.some(line => line.msg === 'traces were not sent'), { withinMs: 40_000 })
  expect(await beside.kill('SIGTERM')).toBe(0)
}, 90_000)

test('what is under way at the end is still traced, and of a part of the traces none where that is asked for', async () => {
  const sendVia = async (percent: string) => {
    const beside = await mailroom.startSecondProcess({ MAILROOM_OTLP_SAMPLE_PERCENT: percent })
    const id = acceptedMessageId(await sendMail(beside.smtp, message.replace('Hello', `Hello ${percent}`)))
    expect(await beside.kill('SIGTERM')).toBe(0)
    return spanOf('receive message', 'mailroom.message_id', id)
  }
  expect(await sendVia('100')).toBeDefined()
  expect(await sendVia('0')).toBeUndefined()
}, 60_000)

test('the log is lines that a person reads, where that is asked for', async () => {
  const child = Bun.spawn([join(projectRoot, 'mailroom'), 'serve'], {
    cwd: '/',
    env: childEnvironment({ ...mailroom.settings, MAILROOM_LOG_FORMAT: 'text' }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let written = ''
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const bytes of child.stdout) written += decoder.decode(bytes, { stream: true })
  })()
  try {
    await until(() => / serving /.test(written))
    expect(written).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z INFO {2}serving roles=\["smtp","http","relay"\] http=http:\S+ smtp=\S+/m,
    )
  } finally {
    child.kill('SIGTERM')
    await child.exited
    await reading
  }
}, 60_000)
