import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ClamdAddress } from '../../base/config/config.ts'
import { postOverHttp } from './load/http-load.ts'
import { measureLatency } from './load/latency.ts'
import { unpackMessages } from './load/message-file.ts'
import { sendOverSmtp } from './load/smtp-load.ts'
import type { BenchSender } from './messages.ts'
import {
  measureClamd,
  measureInserts,
  measureMailauth,
  openTwoRowHandler,
  sampleEmail,
  sampleMessage,
  sendWithNodemailer,
} from './raw-limits.ts'
import { openFreeScanner } from './servers/free-scanner.ts'
import { openSmtpSink } from './servers/smtp-sink.ts'

/** A sender as it is passed to another process: with its key as PEM. */
export type SerializedSender = Omit<BenchSender, 'privateKey'> & { readonly privateKeyPem: string }

/** One task of a measurement. Each runs in its own process, so that none costs another time. */
export type ChildTask =
  | { readonly task: 'clamd'; readonly clamd: ClamdAddress; readonly connections: number; readonly messages: string }
  | { readonly task: 'mailauth'; readonly sender: SerializedSender; readonly messages: string }
  | { readonly task: 'inserts'; readonly databaseUrl: string; readonly connections: number; readonly messages: string }
  | { readonly task: 'handler'; readonly databaseUrl: string; readonly connections: number }
  | {
      readonly task: 'smtp-load'
      readonly port: number
      readonly connections: number
      readonly from: string
      readonly to: string
      readonly messages: string
      readonly maxSeconds: number
    }
  | {
      readonly task: 'http-load'
      readonly port: number
      readonly connections: number
      readonly count: number
      readonly path: string
      readonly key: string
      readonly status: number
      readonly fromDomain: string
      readonly idempotent: boolean
    }
  /** Until it gets a line. */
  | { readonly task: 'latency'; readonly url: string; readonly key: string; readonly intervalMs: number }
  | {
      readonly task: 'submission-load'
      readonly port: number
      readonly connections: number
      readonly count: number
      readonly key: string
      readonly fromDomain: string
    }
  | {
      readonly task: 'nodemailer'
      readonly sender: SerializedSender
      readonly port: number
      readonly connections: number
      readonly count: number
    }
  | { readonly task: 'sink' }
  | { readonly task: 'free-scanner' }

const print = (result: object): void => {
  process.stdout.write(`${JSON.stringify(result)}\n`)
}

const senderOf = ({ privateKeyPem, ...sender }: SerializedSender): BenchSender => ({
  ...sender,
  privateKey: createPrivateKey(privateKeyPem),
})

async function firstLine(): Promise<void> {
  for await (const _line of console) return
}

async function run(task: ChildTask): Promise<void> {
  switch (task.task) {
    case 'clamd':
      return print({
        rate: await measureClamd(task.clamd, task.connections, unpackMessages(readFileSync(task.messages))),
      })
    case 'mailauth':
      return print({ rate: await measureMailauth(senderOf(task.sender), unpackMessages(readFileSync(task.messages))) })
    case 'inserts': {
      const messages = unpackMessages(readFileSync(task.messages))
      return print({ rate: await measureInserts(task.databaseUrl, task.connections, messages) })
    }
    case 'handler':
      print({ port: await openTwoRowHandler(task.databaseUrl, task.connections) })
      return await new Promise(() => undefined)
    case 'smtp-load': {
      const messages = unpackMessages(readFileSync(task.messages))
      return print(await sendOverSmtp(task.port, task.connections, task, messages, task.maxSeconds))
    }
    case 'http-load': {
      const { path, status, idempotent } = task
      const request = { path, status, idempotent, headers: { Authorization: `Bearer ${task.key}` } }
      const body = (i: number) => JSON.stringify(sampleEmail(task.fromDomain, i))
      return print({ seconds: await postOverHttp(task.port, task.connections, task.count, request, body) })
    }
    case 'latency':
      return print(await measureLatency(task.url, task.key, task.intervalMs, firstLine()))
    case 'submission-load': {
      const envelope = { from: `alice@${task.fromDomain}`, to: 'person@example.com', key: task.key }
      const messages = Array.from({ length: task.count }, (_, i) => sampleMessage(task.fromDomain, i))
      return print(await sendOverSmtp(task.port, task.connections, envelope, messages, Number.POSITIVE_INFINITY))
    }
    case 'nodemailer':
      return print({ done: await sendWithNodemailer(senderOf(task.sender), task.port, task.connections, task.count) })
    case 'free-scanner':
      print({ port: openFreeScanner() })
      return await new Promise(() => undefined)
    case 'sink': {
      const sink = openSmtpSink()
      print({ port: sink.port })
      for await (const line of console) print(await sink.expect(Number(line)))
      return
    }
    default:
      return task satisfies never
  }
}

await run(JSON.parse(process.argv[2] ?? '{}') as ChildTask)
process.exit(0)
