import { join } from 'node:path'
import recorded from '../../../../src/servers/http/openapi/examples.json'
import type { OperationExample } from '../../../../src/servers/http/openapi/operation.ts'
import type { RecordedResponse } from './fixtures.ts'
import type { MatrixRequest } from './operations.ts'

const file = join(import.meta.dir, '../../../../src/servers/http/openapi/examples.json')
const examples: Readonly<Record<string, OperationExample | undefined>> = recorded

/** The example of an operation in the OpenAPI document; undefined: it has none. */
export function exampleFor(id: string): OperationExample | undefined {
  return examples[id]
}

/** An example made of a request and its response: one row of each list, and no value that differs in the next run. */
export function exampleOf({ body }: MatrixRequest, { status, text }: RecordedResponse): OperationExample {
  const fixed = JSON.parse(
    withoutVariableValues(JSON.stringify({ ...(body && { request: body }), response: JSON.parse(text) })),
  )
  return { status, ...fixed, response: shortened(fixed.response) }
}

/** Replaces identifiers by numbers in the order of their first appearance, and times and secrets by fixed values. */
function withoutVariableValues(json: string): string {
  const seen: string[] = []
  const number = (found: string) => {
    if (!seen.includes(found)) seen.push(found)
    return String(seen.indexOf(found) + 1)
  }
  return (
    json
      .replaceAll(/\b([a-z]{3})_[0-9a-hjkmnp-tv-z]{26}\b/g, (id, type) => `${type}_01jx${number(id).padStart(22, '0')}`)
      .replaceAll(/\b[0-9a-hjkmnp-tv-z]{26}(?=@)/g, id => `01jx${number(id).padStart(22, '0')}`)
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '5f2d7f0a-3c1e-4b5a-9d8e-7c6b5a493827')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '2026-01-31T08:15:00.000000Z')
      .replaceAll(/[A-Za-z0-9+/]{100,}=*/g, 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A')
      .replaceAll(/(\/invitations\/)[\w-]+/g, '$1TOKEN')
      .replaceAll(/whsec_[A-Za-z0-9+/]+=*/g, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=')
      .replaceAll(/("secret_ends_in":")[^"]*/g, '$1KYo=')
      .replaceAll(/new-[a-z0-9]{6,}/g, 'new')
      // The domain of `./mailroom up`, so that the examples work there as they are.
      .replaceAll('acme.test', 'demo.test')
  )
}

function shortened(response: unknown): unknown {
  if (typeof response !== 'object' || response === null || !('data' in response)) return response
  return Array.isArray(response.data) ? { ...response, data: response.data.slice(0, 1) } : response
}

/** The properties that only one of two values has; null and an empty list match everything. */
export function differences(one: unknown, other: unknown, path = ''): readonly string[] {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length > 0 && other.length > 0 ? differences(one[0], other[0], `${path}[]`) : []
  if (!isRecord(one) || !isRecord(other))
    return one === null || other === null || typeof one === typeof other ? [] : [path]
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return names.flatMap(name => {
    const at = `${path}.${name}`
    return name in one && name in other ? differences(one[name], other[name], at) : [at]
  })
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether this run records the examples instead of comparing them. */
export const isRecording = process.env['MAILROOM_RECORD_EXAMPLES'] === '1'

/** Writes the examples down, in the order of `ids`. */
export async function record(response: Readonly<Record<string, OperationExample>>): Promise<void> {
  await Bun.write(file, `${JSON.stringify(response, null, 2)}\n`)
}
