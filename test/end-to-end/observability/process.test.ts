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

/** What a Mailroom process shows of an email and a message: metrics, log, traces. */
let relay: ScriptedRelay
let collector: TraceCollector
let mailroom: Mailroom
let emailId: string
let requestId: string
let messageId: string
let reversePath: string

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const unknownId = 'eml_unknown'
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
  expect((await mailroom.api('GET', `/v1/emails/${unknownId}`)).status).toBe(404)
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

/** The metrics in the text of `/metrics`: their types by name, and the labels that each has. */
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
const queries = [
  ...panels.flatMap(panel => panel.targets?.map(target => target.expr) ?? []),
  ...[...alerts.matchAll(/^ +expr: (.*)$/gm)].map(match => match[1] ?? ''),
]

test('every metric and label in the queries of the dashboard and the alert rules exists', async () => {
  // Stored bytes and queue counts are first measured a little after the start.
  await until(async () => /^mailroom_stored_bytes\{.*^mailroom_queue_recipients\{/ms.test(await scrape()))
  const { types, labels, baseOf } = read(await scrape())
  const own = new Set(['job', 'instance'])
  let selectors = 0
  for (const expr of queries)
    for (const [, name = '', inside = ''] of expr.matchAll(/\b((?:mailroom|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)) {
      expect([expr, types.has(baseOf(name))]).toEqual([expr, true])
      const seen = labels.get(baseOf(name))
      if (!seen || seen.size === 0) continue
      const by = /\bby \(([^)]*)\)/.exec(expr.slice(0, expr.indexOf(name)))?.[1]?.split(/, */) ?? []
      const filters = [...inside.matchAll(/(\w+)(?:=|!=)/g)].map(match => match[1] ?? '')
      for (const label of [...by, ...filters].filter(name => !own.has(name)))
        expect([expr, label, seen.has(label)]).toEqual([expr, label, true])
      selectors++
    }
  expect(selectors).toBeGreaterThan(30)
}, 60_000)

test('promtool accepts every query of the dashboard and the names of our metrics', async () => {
  const filled = queries.map(expr =>
    expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'mailroom').replaceAll('$instance', '.*'),
  )
  const rules = filled.map((expr, i) => ({ record: `query:${i}`, expr }))
  const groups = JSON.stringify({ groups: [{ name: 'queries', rules }] })
  expect(await promtool(['check', 'rules', '/dev/stdin'], groups)).toContain(`${rules.length} rules found`)
  const ours = (await scrape())
    .split('\n\n')
    .filter(block => block.includes('# TYPE mailroom_'))
    .join('\n')
  expect(ours).toContain('# TYPE mailroom_submissions_total counter')
  expect(await promtool(['check', 'metrics'], `${ours}\n`)).toBe('')
}, 60_000)

test('the dashboard has a row for each part, and no two panels in the same place', () => {
  expect(panels.filter(panel => panel.type === 'row').map(panel => panel.title)).toEqual([
    'Now',
    'Inbound mail',
    'Outbound mail',
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

/** The value of a series; undefined: there is no such series. */
function sampleOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find(text => text.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length))
}

test('counts messages, submissions and requests by verdict, reply, route and status', async () => {
  const text = await scrape()
  expect(sampleOf(text, 'mailroom_scan_seconds_count{verdict="clean"}')).toBeGreaterThanOrEqual(1)
  expect(sampleOf(text, 'mailroom_submissions_total{outcome="accepted",reply="2xx"}')).toBe(1)
  expect(sampleOf(text, 'mailroom_submissions_total{outcome="failed",reply="5xx"}')).toBe(0)
  expect(sampleOf(text, 'mailroom_send_delay_seconds_count')).toBe(1)
  expect(sampleOf(text, 'mailroom_http_requests_total{method="POST",route="/v1/emails",status="202"}')).toBe(1)
  expect(sampleOf(text, 'mailroom_http_requests_total{method="GET",route="/v1/emails/:id",status="404"}')).toBe(1)
  expect(sampleOf(text, 'mailroom_http_refusals_total{code="not_found"}')).toBeGreaterThanOrEqual(1)
  expect(sampleOf(text, 'mailroom_smtp_messages_total{listener="mx",result="accepted"}')).toBe(2)
  expect(sampleOf(text, 'mailroom_database_connections_max{pool="relay"}')).toBe(10)
  expect(sampleOf(text, 'mailroom_database_waiting{pool="http"}')).toBe(0)
  expect(text).toMatch(/^mailroom_build_info\{version="\d+\.\d+\.\d+.*",bun=".+"\} 1$/m)
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m)
})

test('paths and methods that clients invent create no labels of their own', async () => {
  for (let i = 0; i < 20; i++) {
    await fetch(`${mailroom.http}/nowhere/${i}`)
    await fetch(`${mailroom.http}/v1/emails/${i}`, { method: 'PROPFIND' })
  }
  const text = await scrape()
  expect(sampleOf(text, 'mailroom_http_requests_total{method="GET",route="none",status="404"}')).toBe(20)
  expect([text.includes('nowhere'), text.includes('PROPFIND')]).toEqual([false, false])
})

test('an email can be followed through the log, from its request to its bounce', async () => {
  await untilBounceLogged()
  expect(lineOf('request answered', 'request_id', requestId)).toMatchObject({
    email_id: emailId,
    method: 'POST',
    route: '/v1/emails',
    status: 202,
  })
  expect(lineOf('submitted', 'email_id', emailId)).toMatchObject({ attempt: 1, outcome: 'accepted', smtp_code: 250 })
  const bounce = lineOf('recorded a delivery report', 'email_id', emailId)
  expect(bounce).toMatchObject({ report: 'bounce', type: 'bounced', is_new: true })
  expect(lineOf('message accepted', 'transaction_id', bounce?.['transaction_id'])).toBeDefined()
})

test('a message can be followed through the log by the id in the reply to its sender', () => {
  expect(lineOf('message accepted', 'message_id', messageId)).toMatchObject({
    session_id: expect.any(String),
    transaction_id: expect.any(String),
    bytes: message.length,
  })
})

test('the log contains no address and no subject', async () => {
  await untilBounceLogged()
  expect(lineOf('submitted', 'email_id', emailId)).toBeDefined()
  expect(lineOf('message accepted', 'message_id', messageId)).toBeDefined()
  const written = mailroom.log.map(line => JSON.stringify(line)).join('\n')
  for (const secret of ['bob@', 'alice@', 'hello@', 'Secret subject', mailroom.key])
    expect(written).not.toContain(secret)
})

/** Until the log has the bounce that beforeAll sends: what else it does is logged before. */
async function untilBounceLogged(): Promise<void> {
  await until(() => lineOf('recorded a delivery report', 'email_id', emailId))
}

const spanOf = (name: string, attribute: string, value: unknown) =>
  collector.spans.find(span => span.name === name && span.attributes[attribute] === value)

/** Until the collector has a span of everything that beforeAll does. */
async function untilTraced(): Promise<void> {
  await until(() => spanOf('submit email', 'mailroom.email_id', emailId))
  await until(() => spanOf('receive message', 'mailroom.message_id', messageId))
  await until(() => spanOf('POST /v1/emails', 'mailroom.request_id', requestId))
  await until(() => spanOf('GET /v1/emails/:id', 'http.response.status_code', 404))
}

test('the collector gets a span for each email, message and request, with a child for each step', async () => {
  await untilTraced()
  const stepsOf = (name: string, attribute: string, value: unknown) => {
    const parent = spanOf(name, attribute, value)
    const children = collector.spans.filter(
      span => span.parentSpanId === parent?.spanId && span.traceId === parent?.traceId,
    )
    return children.map(span => span.name).sort()
  }
  expect(stepsOf('submit email', 'mailroom.email_id', emailId)).toEqual([
    'out begin',
    'out note',
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

test('a request continues the trace of its client', async () => {
  await untilTraced()
  expect(spanOf('POST /v1/emails', 'mailroom.request_id', requestId)).toMatchObject({
    traceId,
    parentSpanId: callerSpan,
    attributes: { 'mailroom.email_id': emailId, 'http.response.status_code': 202, 'http.route': '/v1/emails' },
  })
})

test('the traces contain no address, no subject and no path', async () => {
  await untilTraced()
  const written = collector.bodies.join('\n')
  expect(written).toContain(emailId)
  for (const secret of ['bob@', 'alice@', 'hello@', 'Secret subject', unknownId, mailroom.key])
    expect(written).not.toContain(secret)
})

test('a collector that is down costs a log line, but neither mail nor a slow shutdown', async () => {
  const second = await mailroom.startSecondProcess({ MAILROOM_OTLP_ENDPOINT: 'http://127.0.0.1:1' })
  expect(await sendMail(second.smtp, message)).toStartWith('250 ')
  await until(() => second.log.some(line => line.msg === 'traces were not sent'), { withinMs: 40_000 })
  expect(await second.kill('SIGTERM')).toBe(0)
}, 90_000)

test('what is in progress at shutdown is still traced, and MAILROOM_OTLP_SAMPLE_PERCENT=0 traces nothing', async () => {
  const sendVia = async (percent: string) => {
    const second = await mailroom.startSecondProcess({ MAILROOM_OTLP_SAMPLE_PERCENT: percent })
    const id = acceptedMessageId(await sendMail(second.smtp, message.replace('Hello', `Hello ${percent}`)))
    expect(await second.kill('SIGTERM')).toBe(0)
    return spanOf('receive message', 'mailroom.message_id', id)
  }
  expect(await sendVia('100')).toBeDefined()
  expect(await sendVia('0')).toBeUndefined()
}, 60_000)

test('MAILROOM_LOG_FORMAT=text writes log lines for people', async () => {
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
      /^\d{4}-\d\d-\d\dT[\d:.]+Z INFO {2}serving roles=\["smtp","http","relay","submission","webhooks"\] http=http:\S+ smtp=\S+/m,
    )
  } finally {
    child.kill('SIGTERM')
    await child.exited
    await reading
  }
}, 60_000)
