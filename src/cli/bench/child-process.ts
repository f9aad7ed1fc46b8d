import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ClamdAddress } from '../../base/config/config.ts'
import { postOverHttp } from './http-load.ts'
import { unpackMessages } from './message-file.ts'
import type { BenchSender } from './messages.ts'
import {
  measureClamd,
  measureInserts,
  measureMailauth,
  openTwoRowHandler,
  sampleEmail,
  sendWithNodemailer,
} from './raw-limits.ts'
import { sendOverSmtp } from './smtp-load.ts'
import { openSmtpSink } from './smtp-sink.ts'

/** A sender as it is handed to a process of its own: its key as PEM. */
export type SerializedSender = Omit<BenchSender, 'privateKey'> & { readonly privateKeyPem: string }

/** One part of a measurement, run in a process of its own so that no part pays for another. */
export type ChildTask =
  | { readonly part: 'clamd'; readonly clamd: ClamdAddress; readonly lanes: number; readonly messages: string }
  | { readonly part: 'mailauth'; readonly sender: SerializedSender; readonly messages: string }
  | { readonly part: 'inserts'; readonly databaseUrl: string; readonly connections: number; readonly messages: string }
  | { readonly part: 'handler'; readonly databaseUrl: string; readonly connections: number }
  | {
      readonly part: 'smtp-load'
      readonly port: number
      readonly connections: number
      readonly from: string
      readonly to: string
      readonly messages: string
      readonly maxSeconds: number
    }
  | {
      readonly part: 'http-load'
      readonly port: number
      readonly connections: number
      readonly count: number
      readonly path: string
      readonly key: string
      readonly status: number
      readonly fromDomain: string
      readonly idempotent: boolean
    }
  | {
      readonly part: 'nodemailer'
      readonly sender: SerializedSender
      readonly port: number
      readonly connections: number
      readonly count: number
    }
  | { readonly part: 'sink' }

const say = (result: object): void => {
  process.stdout.write(`${JSON.stringify(result)}\n`)
}

const senderOf = ({ privateKeyPem, ...sender }: SerializedSender): BenchSender => ({
  ...sender,
  privateKey: createPrivateKey(privateKeyPem),
})

async function run(what: ChildTask): Promise<void> {
  switch (what.part) {
    case 'clamd':
      return say({ rate: await measureClamd(what.clamd, what.lanes, unpackMessages(readFileSync(what.messages))) })
    case 'mailauth':
      return say({ rate: await measureMailauth(senderOf(what.sender), unpackMessages(readFileSync(what.messages))) })
    case 'inserts': {
      const messages = unpackMessages(readFileSync(what.messages))
      return say({ rate: await measureInserts(what.databaseUrl, what.connections, messages) })
    }
    case 'handler':
      say({ port: await openTwoRowHandler(what.databaseUrl, what.connections) })
      return await new Promise(() => undefined)
    case 'smtp-load': {
      const messages = unpackMessages(readFileSync(what.messages))
      return say(await sendOverSmtp(what.port, what.connections, what, messages, what.maxSeconds))
    }
    case 'http-load': {
      const { path, status, idempotent } = what
      const request = { path, status, idempotent, headers: { Authorization: `Bearer ${what.key}` } }
      const body = (i: number) => JSON.stringify(sampleEmail(what.fromDomain, i))
      return say({ seconds: await postOverHttp(what.port, what.connections, what.count, request, body) })
    }
    case 'nodemailer':
      return say({ done: await sendWithNodemailer(senderOf(what.sender), what.port, what.connections, what.count) })
    case 'sink': {
      const sink = openSmtpSink()
      say({ port: sink.port })
      for await (const line of console) say(await sink.expect(Number(line)))
      return
    }
    default:
      return what satisfies never
  }
}

await run(JSON.parse(process.argv[2] ?? '{}') as ChildTask)
process.exit(0)
