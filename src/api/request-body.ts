import { Refusal, refuse } from '../base/refusal.ts'
import { measureJson } from './json/complexity.ts'

/** The largest request body, in bytes (SPEC section 8). */
export const maxBodyBytes = 16 * 1024 * 1024
const maxDepth = 64
/** No operation needs as many; parsing them takes ten milliseconds. */
const maxValues = 100_000
/** A smaller body is parsed without measuring it first: it cannot cost much. */
const unmeasuredBytes = 64 * 1024
const noBytes = new Uint8Array(0)

/** Memory for a body up to this size is reserved at once; for a larger one, as its chunks arrive. */
const atOnceBytes = 256 * 1024

/** The refusals of reading a JSON body, beyond `invalid_request`. */
export const bodyRefusals = ['invalid_json', 'payload_too_large', 'unsupported_media_type'] as const

/**
 * The body's bytes; empty without a body. `reserveMemory` is called before bytes are held in memory.
 * @param arrivalMs how long the body may take to arrive
 * @throws Refusal `payload_too_large` past 16 MiB, declared or received; `invalid_request` when it arrives too slowly
 */
export async function readBody(
  request: Request,
  reserveMemory: (bytes: number) => void,
  arrivalMs = 60_000,
): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  const length = Number(declared)
  if (length > maxBodyBytes) throw tooLarge()
  if (declared !== null && length <= atOnceBytes) {
    if (length === 0) return noBytes
    reserveMemory(length)
    return new Uint8Array(await withArrivalTimeout(request, request.arrayBuffer(), arrivalMs))
  }
  if (!request.body || (declared === null && !request.headers.has('transfer-encoding'))) return noBytes
  const reader = request.body.getReader()
  try {
    return await withArrivalTimeout(request, readCounted(reader, reserveMemory), arrivalMs)
  } catch (error) {
    // The server reads on until the client has written all, so that it gets to read the refusal.
    if (error instanceof Refusal && error.code === 'payload_too_large') reader.releaseLock()
    // Otherwise the rest of the body would still be buffered.
    else void reader.cancel().catch(() => undefined)
    throw error
  }
}

type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'>

async function readCounted(reader: BodyReader, reserveMemory: (bytes: number) => void): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks, length)
    length += value.length
    if (length > maxBodyBytes) throw tooLarge()
    reserveMemory(value.length)
    chunks.push(value)
  }
}

function tooLarge() {
  return refuse('payload_too_large', { message: `The request body is larger than ${maxBodyBytes} bytes (16 MiB).` })
}

/** The requests of which more of the body is awaited. */
const arriving = new WeakSet<Request>()

/** Is more of its body awaited? Then nothing has been done for the request yet. */
export function isBodyArriving(request: Request): boolean {
  return arriving.has(request)
}

async function withArrivalTimeout<Body>(request: Request, body: Promise<Body>, withinMs: number): Promise<Body> {
  arriving.add(request)
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
    arriving.delete(request)
  }
}

/** @throws Refusal `unsupported_media_type` unless the Content-Type is JSON in UTF-8, without Content-Encoding */
export function requireJsonContentType(headers: Headers): void {
  const type = headers.get('content-type') ?? ''
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type))
    throw refuse('unsupported_media_type', {
      message: `The Content-Type is ${type === '' ? 'absent' : `"${type.slice(0, 100)}"`}; send application/json.`,
    })
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity')
    throw refuse('unsupported_media_type', {
      message: `The Content-Encoding is "${encoding.slice(0, 100)}"; send the body unencoded.`,
    })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses a JSON body. `dropNulls` removes the properties that are null.
 * @throws Refusal `invalid_json`; `invalid_request` for more than 64 levels or 100,000 values, a property `__proto__`, and
 * numbers out of the range of a double
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

/** To be called before JSON is parsed. @throws Refusal `invalid_request` past 64 levels or 100,000 values */
export function requireSimpleJson(bytes: Uint8Array): void {
  if (bytes.length <= unmeasuredBytes) return
  const { depth, values } = measureJson(bytes, { depth: maxDepth, values: maxValues })
  if (depth > maxDepth) throw tooDeep()
  if (values > maxValues) throw invalid('', `holds more than ${maxValues} values`)
}

function tooDeep() {
  return invalid('', `is nested deeper than ${maxDepth} levels`)
}

function inspect(value: unknown, path: string, depth: number, dropNulls: boolean): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalid(path, 'is a number out of range')
  if (typeof value !== 'object' || value === null) return
  if (depth === maxDepth) throw tooDeep()
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) inspect(value[i], `${path}[${i}]`, depth + 1, dropNulls)
    return
  }
  const properties = value as Record<string, unknown>
  for (const name of Object.keys(properties)) {
    const within = path === '' ? name : `${path}.${name}`
    if (name === '__proto__') throw invalid(within, 'is not an allowed property name')
    if (dropNulls && properties[name] === null) delete properties[name]
    else inspect(properties[name], within, depth + 1, dropNulls)
  }
}

function invalid(path: string, problem: string) {
  return refuse('invalid_request', {
    message: `${path === '' ? 'The request body' : `\`${path}\``} ${problem}.`,
    ...(path === '' ? {} : { param: path }),
  })
}
