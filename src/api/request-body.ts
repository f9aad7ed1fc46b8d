import { refuse } from '../base/refusal.ts'
import { measureJson } from './json-complexity.ts'

/** SPEC section 8: the largest request body, in bytes. */
export const maxBodyBytes = 16 * 1024 * 1024
const maxDepth = 64
/** No operation takes as many; parsing them takes ten milliseconds. */
const maxValues = 100_000
/** Less cannot hold what costs much to parse. */
const simpleBytes = 64 * 1024
const nothing = new Uint8Array(0)

/** Up to so many are read in one go; of a larger body only what has come takes room. */
const inOneGoBytes = 256 * 1024

/** The refusals of reading a JSON body, beyond `invalid_request`. */
export const bodyRefusals = ['invalid_json', 'payload_too_large', 'unsupported_media_type'] as const

/**
 * The body's bytes, empty where there is none; `takeRoom` is told how many before they are kept.
 * @param arrivalMs how long it may take to come in
 * @throws Refusal `payload_too_large` past 16 MiB, whether declared or found while counting; `invalid_request` when it
 * takes too long.
 */
export async function readBody(
  request: Request,
  takeRoom: (bytes: number) => void,
  arrivalMs = 60_000,
): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  const length = Number(declared)
  if (length > maxBodyBytes) throw tooLarge()
  if (declared !== null && length <= inOneGoBytes) {
    if (length === 0) return nothing
    takeRoom(length)
    return new Uint8Array(await withArrivalTimeout(request.arrayBuffer(), arrivalMs))
  }
  if (!request.body || (declared === null && !request.headers.has('transfer-encoding'))) return nothing
  const reader = request.body.getReader()
  try {
    return await withArrivalTimeout(readCounted(reader, takeRoom), arrivalMs)
  } finally {
    // Otherwise what still comes would go on taking room.
    void reader.cancel().catch(() => undefined)
  }
}

type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'>

async function readCounted(reader: BodyReader, takeRoom: (bytes: number) => void): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks, length)
    length += value.length
    if (length > maxBodyBytes) throw tooLarge()
    takeRoom(value.length)
    chunks.push(value)
  }
}

function tooLarge() {
  return refuse('payload_too_large', { message: `The request body is larger than ${maxBodyBytes} bytes (16 MiB).` })
}

async function withArrivalTimeout<Body>(body: Promise<Body>, withinMs: number): Promise<Body> {
  let timer: Timer | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          refuse('invalid_request', { message: `The request body did not arrive within ${withinMs / 1000} seconds.` }),
        ),
      withinMs,
    )
  })
  try {
    return await Promise.race([body, late])
  } finally {
    clearTimeout(timer)
  }
}

/** @throws Refusal `unsupported_media_type` when a body that is there is not plain JSON. */
export function requireJsonContentType(headers: Headers): void {
  const type = headers.get('content-type') ?? ''
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type))
    throw refuse('unsupported_media_type', {
      message: `The Content-Type is ${type === '' ? 'absent' : `"${type.slice(0, 100)}"`}; send application/json.`,
    })
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity')
    throw refuse('unsupported_media_type', {
      message: `The Content-Encoding is "${encoding.slice(0, 100)}"; send the body as it is.`,
    })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The JSON value that the bytes hold. With `dropNulls` a property that is null is as if it were absent.
 * @throws Refusal `invalid_json`; `invalid_request` for what no operation takes: nesting past 64 levels, more
 * than 100,000 values, `__proto__`, numbers past the range of a double.
 */
export function readJson(bytes: Uint8Array, dropNulls: boolean): unknown {
  requireSimpleJson(bytes)
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch (cause) {
    throw refuse('invalid_json', { message: 'The request body is not valid JSON in UTF-8.', cause })
  }
  inspect(value, '', 0, dropNulls)
  return value
}

/** To be asked before JSON is parsed. @throws Refusal `invalid_request` past 64 levels or 100,000 values. */
export function requireSimpleJson(bytes: Uint8Array): void {
  if (bytes.length <= simpleBytes) return
  const { depth, values } = measureJson(bytes, { depth: maxDepth, values: maxValues })
  if (depth > maxDepth) throw tooDeep()
  if (values > maxValues) throw unfit('', `holds more than ${maxValues} values`)
}

function tooDeep() {
  return unfit('', `is nested deeper than ${maxDepth} levels`)
}

function inspect(value: unknown, path: string, depth: number, dropNulls: boolean): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw unfit(path, 'is a number out of range')
  if (typeof value !== 'object' || value === null) return
  if (depth === maxDepth) throw tooDeep()
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) inspect(value[i], `${path}[${i}]`, depth + 1, dropNulls)
    return
  }
  const properties = value as Record<string, unknown>
  for (const name of Object.keys(properties)) {
    const within = path === '' ? name : `${path}.${name}`
    if (name === '__proto__') throw unfit(within, 'is not a property name that is taken')
    if (dropNulls && properties[name] === null) delete properties[name]
    else inspect(properties[name], within, depth + 1, dropNulls)
  }
}

function unfit(path: string, what: string) {
  return refuse('invalid_request', {
    message: `${path === '' ? 'The request body' : `\`${path}\``} ${what}.`,
    ...(path === '' ? {} : { param: path }),
  })
}
