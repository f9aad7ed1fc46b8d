import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server'
import { type RequestContext, setRequestContext } from '../../api/request-context.ts'
import { refuse } from '../../base/refusal.ts'
import { eventCursor } from '../../events/cursor.ts'
import { type ToolArguments, type ToolCallDeps, tryCall } from './call-tool.ts'
import { fencedResult } from './untrusted-content.ts'

const defaultSeconds = 30
const maxSeconds = 55

/** A tool that waits for mail: an answer, or a code that a site sends. */
export const waitForMessageTool: ListedTool = {
  name: 'wait_for_message',
  title: 'Wait for a message',
  description:
    'Waits until a message comes that matches, and returns it as lists show it, with the new part of its text (reply_text; get_message has all). Only messages that come after the call count: for one that may come before, call it with seconds 0 first, and pass next_after as after. Not found in time: found is false, and next_after goes on.',
  inputSchema: {
    type: 'object',
    properties: {
      mailbox: { type: 'string', minLength: 1, description: 'A mailbox id, or the address that the message is for.' },
      from: { type: 'string', minLength: 1, description: 'A part of the name or address of the sender.' },
      subject: { type: 'string', minLength: 1, description: 'A part of the subject.' },
      seconds: {
        type: 'integer',
        minimum: 0,
        maximum: maxSeconds,
        default: defaultSeconds,
        description: 'How long to wait.',
      },
      after: { type: 'string', minLength: 1, description: 'next_after of an earlier call, or of list_events.' },
    },
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      untrusted: { const: true, description: 'The result contains text from outside, between <untrusted> tags.' },
      fence: { type: 'string' },
      found: { type: 'boolean' },
      message: { type: ['object', 'null'] },
      next_after: { type: 'string' },
    },
    required: ['untrusted', 'fence', 'found', 'message', 'next_after'],
  },
  annotations: { title: 'Wait for a message', readOnlyHint: true, idempotentHint: true, openWorldHint: false },
}

/** Which messages match; what is absent does not matter. */
interface MessageCriteria {
  readonly mailbox: string | undefined
  readonly from: string | undefined
  readonly subject: string | undefined
}

/** What the feed gives out of a message. */
interface MessageEventData {
  readonly address: string
  readonly mailbox_id: string | null
  readonly from: { readonly address: string; readonly name: string }
  readonly subject: string
}

interface MessageEvents {
  readonly data: readonly { readonly sequence: number; readonly data: MessageEventData }[]
  readonly next_after: string
}

/** Waits by requests to the feed of events, which checks what the key may see, each time. Never rejects. */
export function waitForMessage(
  deps: ToolCallDeps,
  args: ToolArguments,
  context: RequestContext,
): Promise<CallToolResult> {
  return tryCall(deps, waitForMessageTool.name, context, async () => {
    const criteria = {
      mailbox: readText(args, 'mailbox'),
      from: readText(args, 'from'),
      subject: readText(args, 'subject'),
    }
    const endsAtMs = performance.now() + readSeconds(args) * 1000
    const read = (after: string | undefined, seconds: number) => readEvents(deps, context, after, seconds)
    let after = readText(args, 'after') ?? (await read(undefined, 0)).next_after
    for (;;) {
      const seconds = Math.max(0, Math.ceil((endsAtMs - performance.now()) / 1000))
      const page = await read(after, seconds)
      const match = page.data.find(event => matchesCriteria(event.data, criteria))
      if (match) return found(match.data, eventCursor(match.sequence))
      after = page.next_after
      // Nothing came in the time that was left, or the server stops.
      if (page.data.length === 0) return found(null, after)
    }
  })
}

function found(message: MessageEventData | null, nextAfter: string): CallToolResult {
  return fencedResult({ found: message !== null, message, next_after: nextAfter }, ['next_after'])
}

async function readEvents(
  { dispatch }: ToolCallDeps,
  context: RequestContext,
  after: string | undefined,
  seconds: number,
): Promise<MessageEvents> {
  const query = new URLSearchParams({ types: 'message.received,message.released', limit: '200', wait: String(seconds) })
  if (after !== undefined) query.set('after', after)
  const request = new Request(`http://localhost/v1/events?${query}`)
  setRequestContext(request, context)
  return (await (await dispatch(request)).json()) as MessageEvents
}

function matchesCriteria(message: MessageEventData, { mailbox, from, subject }: MessageCriteria): boolean {
  const has = (text: string, part: string | undefined) =>
    part === undefined || text.toLowerCase().includes(part.toLowerCase())
  const isFor =
    mailbox === undefined || message.mailbox_id === mailbox || message.address.toLowerCase() === mailbox.toLowerCase()
  return isFor && has(`${message.from.name} <${message.from.address}>`, from) && has(message.subject, subject)
}

function readText(args: ToolArguments, name: string): string | undefined {
  const value = args[name]
  if (value === undefined || (typeof value === 'string' && value !== '')) return value as string | undefined
  throw refuse('invalid_request', { message: `\`${name}\` is not a string.`, param: name })
}

function readSeconds({ seconds = defaultSeconds }: ToolArguments): number {
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 0 && seconds <= maxSeconds) return seconds
  throw refuse('invalid_request', {
    message: `\`seconds\` is ${JSON.stringify(seconds)}; expected a whole number from 0 to ${maxSeconds}.`,
    param: 'seconds',
  })
}
