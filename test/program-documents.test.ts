import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pythonReceiver, typescriptReceiver } from '../src/dashboard/screens/webhooks/receivers.ts'
import { projectRoot } from './harness/cli.ts'
import {
  blocksBelow,
  forThisMailroom,
  outputOf,
  type RunningProgram,
  startProgram,
} from './harness/document-programs.ts'
import { type PlainDelivery, type PlainReceiver, startPlainReceiver } from './harness/plain-receiver.ts'
import { sendMail } from './harness/smtp-delivery.ts'
import { until } from './harness/until.ts'
import { startUp, temporaryFolder, type UpProcess } from './harness/up.ts'

/** docs/events.md, docs/webhooks.md and docs/agents.md: their commands and programs, run as they stand there. */

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8')
const events = read('docs/events.md')
const webhooks = read('docs/webhooks.md')
const agents = read('docs/agents.md')
const [variables = ''] = blocksBelow(read('docs/api.md'), 'First calls', 'bash')
const timeoutMs = 120_000

let folder: ReturnType<typeof temporaryFolder>
let up: UpProcess
let receiver: PlainReceiver

beforeAll(async () => {
  folder = temporaryFolder()
  receiver = startPlainReceiver()
  up = await startUp(folder.path, [], { MAILROOM_WEBHOOK_ALLOW: '127.0.0.0/8', MAILROOM_WEBHOOK_HTTP: 'true' })
}, timeoutMs)
afterAll(async () => {
  await up?.end()
  await receiver?.stop()
  folder?.remove()
})

/** Runs commands of a document, after those that set the variables. */
function run(commands: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const set = Object.entries(more).map(([name, value]) => `${name}='${value}'`)
  const script = forThisMailroom([variables, ...set, commands].join('\n'), up, folder.path)
  return outputOf(['bash', '-euo', 'pipefail', '-c', script], { folder: folder.path })
}

/** The command that runs a program of a document. */
function programOf(language: 'ts' | 'python', program: string): readonly string[] {
  const here = forThisMailroom(program, up, folder.path)
  if (language === 'python') return ['python3', '-c', here]
  const file = join(folder.path, `program-${crypto.randomUUID()}.ts`)
  writeFileSync(file, here)
  return [process.execPath, file]
}

function start(command: readonly string[]): RunningProgram {
  return startProgram(command, { folder: folder.path, environment: { MAILROOM_KEY: up.file.key } })
}

async function receive(subject: string, text = 'Is anyone there?'): Promise<void> {
  const port = Number(up.file.smtp.split(':').at(-1))
  const message = `From: you@friend.test\r\nTo: hello@demo.test\r\nSubject: ${subject}\r\n\r\n${text}`
  expect(await sendMail(port, message, { from: 'you@friend.test' })).toStartWith('250')
}

async function api<Json>(method: string, path: string, body?: object): Promise<Json> {
  const response = await fetch(`${up.file.http}${path}`, {
    method,
    headers: { authorization: `Bearer ${up.file.key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return (await response.json()) as Json
}

const sendEmail = (subject: string) =>
  api('POST', '/v1/emails', { from: 'hello@demo.test', to: 'you@friend.test', subject, text: 'Hello' })

test(
  'docs/events.md: reading, waiting and following',
  async () => {
    const [readOldest = '', wait = ''] = blocksBelow(events, 'Read and wait', 'bash')
    // The feed has an event a moment after it was committed.
    const fed = () => api<{ data: readonly unknown[] }>('GET', '/v1/events?after=0&limit=2')
    await until(async () => (await fed()).data.length === 2)
    const oldest = JSON.parse(await run(readOldest))
    expect(oldest.data.map((event: { sequence: number }) => event.sequence)).toEqual([1, 2])
    const { next_after } = await api<{ next_after: string }>('GET', '/v1/events')
    const waiting = run(wait, { AFTER: next_after })
    await receive('Is it there?')
    expect(JSON.parse(await waiting).data).toMatchObject([
      { type: 'message.received', data: { subject: 'Is it there?' } },
    ])

    for (const language of ['ts', 'python'] as const) {
      const [program = ''] = blocksBelow(events, 'Follow', language)
      const command = programOf(language, program.replaceAll('cursor.txt', `cursor-${language}.txt`))
      const before = start(command)
      await before.printed('message.received Is it there?')
      await until(() => contentOf(`cursor-${language}.txt`) !== '')
      await before.stop()
      await receive(`While it was stopped, ${language}`)
      const after = start(command)
      await after.printed(`message.received While it was stopped, ${language}`)
      await after.stop()
      expect(after.output()).not.toContain('Is it there?')
    }

    const [stream = ''] = blocksBelow(events, 'Follow', 'bash')
    const script = forThisMailroom(`${variables}\n${stream}`, up, folder.path)
    const streaming = start(['bash', '-c', script])
    await streaming.printed('"subject":"Is it there?"')
    await streaming.stop()
    expect(streaming.output()).toMatch(/^id: \S+\ndata: \{/m)
  },
  timeoutMs,
)

/** A file of the programs; empty: it is not there yet. */
function contentOf(name: string): string {
  try {
    return readFileSync(join(folder.path, name), 'utf8')
  } catch {
    return ''
  }
}

test(
  'docs/agents.md: waiting for a message, and for a code',
  async () => {
    const [take = '', wait = ''] = blocksBelow(agents, 'With HTTP', 'bash')
    const waiting = run(`${take}\n${wait}`)
    const [program = ''] = blocksBelow(agents, 'In TypeScript', 'ts')
    const coding = start(programOf('ts', program))
    const [call = ''] = blocksBelow(agents, 'With tools \\(MCP\\)', 'bash')
    const calling = run(call)
    await Bun.sleep(1500)
    await receive('Your code', 'Your code is 271828.')
    expect(JSON.parse(await waiting).data[0].data).toMatchObject({ subject: 'Your code' })
    await coding.printed('271828')
    await coding.stop()
    expect(await calling).toContain('271828')
  },
  timeoutMs,
)

interface Created {
  readonly id: string
  readonly secret: string
}

/** Creates a webhook as docs/webhooks.md does it, with the receiver's address. */
async function createWebhook(): Promise<Created> {
  const [create = ''] = blocksBelow(webhooks, 'Webhooks', 'bash')
  const here = create.replace('https://example.com/mailroom', receiver.url).replace('email.bounced', 'email.sent')
  return JSON.parse(await run(here))
}

test(
  'docs/webhooks.md: its calls, and each way to verify',
  async () => {
    const { id, secret } = await createWebhook()
    await sendEmail('Verified')
    const delivery = await receiver.next('email.sent')
    const more = { WEBHOOK: id }
    const [enable = '', replay = ''] = blocksBelow(webhooks, 'When it fails', 'bash')
    expect(JSON.parse(await run(enable, more))).toMatchObject({ id, status: 'active' })
    const today = new Date().toISOString().slice(0, 10)
    expect(JSON.parse(await run(replay.replace('2026-11-22', today).replace('08:00', '00:00'), more))).toMatchObject({
      replayed: 0,
    })
    const [test = '', rotate = ''] = blocksBelow(webhooks, 'Test, and change the secret', 'bash')
    expect(JSON.parse(await run(test, more))).toMatchObject({ is_delivered: true, http_status: 204 })

    for (const [language, verify] of Object.entries(verifiers)) {
      if (Bun.which(verify.program) === null) continue
      const judge = (changed: Partial<PlainDelivery>) => verify.run({ ...delivery, ...changed }, secret)
      expect([language, await judge({})]).toEqual([language, 'true'])
      expect([language, await judge({ body: `${delivery.body} ` })]).toEqual([language, 'false'])
      const old = { ...delivery.headers, 'webhook-timestamp': '1700000000' }
      expect([language, await judge({ headers: old })]).toEqual([language, 'false'])
    }

    const from = receiver.deliveries.length
    const rotated = JSON.parse(await run(rotate, more))
    await sendEmail('Signed by both')
    const signedTwice = await receiver.next('email.sent', from)
    for (const each of [secret, rotated.secret]) expect(await verifiers.TypeScript.run(signedTwice, each)).toBe('true')
  },
  timeoutMs,
)

interface Verifier {
  /** What has to be on the machine. */
  readonly program: string
  /** Whether the function of the document takes a delivery for genuine: `true` or `false`. */
  readonly run: (delivery: PlainDelivery, secret: string) => Promise<string>
}

const functionOf = (language: string, tag: string) => blocksBelow(webhooks, language, tag)[0] ?? ''
const inputOf = ({ headers, body }: PlainDelivery, secret: string) => JSON.stringify({ headers, body, secret })
const judged = async (command: readonly string[], input: string) =>
  (await outputOf(command, { folder: folder.path, input })).trim().toLowerCase()

const verifiers = {
  TypeScript: {
    program: 'bun',
    run: (delivery, secret) => {
      const file = join(folder.path, 'verify.ts')
      const call =
        'const { headers, body, secret } = await Bun.stdin.json()\nconsole.log(isFromMailroom(headers, body, secret))'
      writeFileSync(file, `${functionOf('TypeScript', 'ts')}\n${call}`)
      return judged([process.execPath, file], inputOf(delivery, secret))
    },
  },
  Python: {
    program: 'python3',
    run: (delivery, secret) => {
      const call =
        'import json, sys\ngiven = json.load(sys.stdin)\nprint(is_from_mailroom(given["headers"], given["body"].encode(), given["secret"]))'
      return judged(['python3', '-c', `${functionOf('Python', 'python')}\n${call}`], inputOf(delivery, secret))
    },
  },
  Go: {
    program: 'go',
    run: (delivery, secret) => {
      const file = join(folder.path, 'verify.go')
      const imports = '"encoding/json"\n\t"fmt"\n\t"os"\n\t'
      const call = `func main() {
	var given struct {
		Headers      map[string]string
		Body, Secret string
	}
	if json.NewDecoder(os.Stdin).Decode(&given) != nil {
		os.Exit(1)
	}
	header := http.Header{}
	for name, value := range given.Headers {
		header.Set(name, value)
	}
	fmt.Println(IsFromMailroom(header, []byte(given.Body), given.Secret))
}`
      const program = functionOf('Go', 'go')
        .replace('package mailroom', 'package main')
        .replace('"crypto/hmac"', `${imports}"crypto/hmac"`)
      writeFileSync(file, `${program}\n${call}\n`)
      return judged(['go', 'run', file], inputOf(delivery, secret))
    },
  },
  PHP: {
    program: 'php',
    run: (delivery, secret) => {
      const file = join(folder.path, 'verify.php')
      const call =
        "$given = json_decode(file_get_contents('php://stdin'), true);\necho var_export(is_from_mailroom($given['headers'], $given['body'], $given['secret']), true);"
      writeFileSync(file, `${functionOf('PHP', 'php')}\n${call}\n`)
      return judged(['php', file], inputOf(delivery, secret))
    },
  },
} satisfies Record<string, Verifier>

test(
  'the receivers that the dashboard offers print what is genuine, and refuse the rest',
  async () => {
    const programs = {
      ts: typescriptReceiver.replace("'standardwebhooks'", `'${import.meta.resolve('standardwebhooks')}'`),
      python: pythonReceiver,
    }
    for (const language of ['ts', 'python'] as const) {
      const port = await freePort()
      const url = `http://127.0.0.1:${port}/`
      const { id, secret } = await api<Created>('POST', '/v1/webhooks', { url, types: ['email.sent'] })
      const program = startProgram(programOf(language, programs[language].replace('3000', String(port))), {
        folder: folder.path,
        environment: { WEBHOOK_SECRET: secret },
      })
      await until(() =>
        fetch(url).then(
          () => true,
          () => false,
        ),
      )
      expect(await api('POST', `/v1/webhooks/${id}/test`)).toMatchObject({ is_delivered: true })
      await program.printed('webhook.test')
      const headers = {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        'webhook-signature': 'v1,AAAA',
      }
      expect((await fetch(url, { method: 'POST', headers, body: '{"type":"forged"}' })).status).toBe(401)
      expect(program.output()).not.toContain('forged')
      await program.stop()
      await api('DELETE', `/v1/webhooks/${id}`)
    }
  },
  timeoutMs,
)

test('docs/submission.md: what applications are given can be read by PHP and by the shell', async () => {
  const submission = read('docs/submission.md')
  for (const application of ['Nextcloud', 'Keycloak']) {
    const [commands = ''] = blocksBelow(submission, application, 'bash')
    expect(commands).toContain('mail.example.com')
    await outputOf(['bash', '-n', '-c', commands], { folder: folder.path })
  }
  const [plugin = ''] = blocksBelow(submission, 'WordPress', 'php')
  expect(plugin).toContain('mail.example.com')
  if (Bun.which('php') === null) return
  const file = join(folder.path, 'mailroom.php')
  writeFileSync(file, plugin)
  expect(await outputOf(['php', '-l', file], { folder: folder.path })).toStartWith('No syntax errors')
})

/** A port of this machine that nothing listens on. */
async function freePort(): Promise<number> {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const { port = 0 } = server
  await server.stop(true)
  return port
}
