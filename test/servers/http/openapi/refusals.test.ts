import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type RefusalCode, refusalCodes } from '../../../../src/base/refusal.ts'
import { projectRoot } from '../../../harness/cli.ts'
import { apiOperations } from '../../../harness/openapi-document.ts'

/**
 * The refusals of an operation are declared beside the functions that refuse, in constants called `…Refusals`, and its
 * route names those constants. That no operation answers with a code that it does not declare is checked with every
 * response of every test, by `validateResponse`.
 */

/** Whose refusals end no operation of the API's description. */
const undescribed: Readonly<Record<string, string>> = {
  'src/accounts/keys/member-keys.ts': 'the operator’s command creates these keys',
  'src/accounts/sessions/member.ts': 'every request of a member may end so',
  'src/domains/dkim/rotation.ts': 'a background job and the operator’s command rotate keys',
  'src/sending/reports/routes.ts': 'providers call these routes',
  'src/servers/http/error-classification.ts': 'no operation has the path',
  'src/servers/mcp/call-tool.ts': 'a tool’s refusal is in its result',
}
/** May end every operation, or every list with a cursor, so that no function declares them again. */
const ofEveryOperation: readonly RefusalCode[] = ['invalid_request', 'invalid_cursor', 'internal_error', 'unavailable']

const sourceOf = (file: string) => readFileSync(join(projectRoot, file), 'utf8')

/** Where the API's routes are joined, and what serves them. */
const roots = ['src/app/http-features.ts', 'src/servers/http/server.ts']
/** The description of the dashboard's own routes is for the types of its pages, which know one error for all. */
const dashboard = 'src/servers/http/dashboard/'

/** The files that run for requests to the API: `roots`, and what they import, but for types. */
function filesOfTheApi(): readonly string[] {
  const found = new Set(roots)
  for (const file of found)
    for (const [, path = ''] of sourceOf(file).matchAll(/(?<!import type [^\n]*)\bfrom '(\.[^']+\.ts)'/g)) {
      const imported = join(dirname(file), path)
      if (!imported.startsWith(dashboard)) found.add(imported)
    }
  return [...found].filter(file => !(file in undescribed)).sort()
}

const files = filesOfTheApi()

const refusing = files.flatMap(file => {
  const codes = Array.from(sourceOf(file).matchAll(/\brefuse\(\s*'(\w+)'/g), ([, code = '']) => code as RefusalCode)
  const own = [...new Set(codes)].filter(code => !ofEveryOperation.includes(code))
  return own.length === 0 ? [] : [[file, own] as const]
})

describe('the refusals of an operation', () => {
  test.each(refusing)('%s declares what it refuses', async (file, codes) => {
    const module: Readonly<Record<string, unknown>> = await import(join(projectRoot, file))
    const declared = Object.entries(module)
      .filter(([name]) => name.endsWith('Refusals'))
      .flatMap(([, list]) => list as readonly RefusalCode[])
    expect(codes.filter(code => !declared.includes(code))).toEqual([])
  })

  test('are not written out in its route', () => {
    const routes = files.filter(file => file.endsWith('routes.ts'))
    const written = routes.filter(file => refusalCodes.some(code => sourceOf(file).includes(`'${code}'`)))
    expect(routes.length).toBeGreaterThan(10)
    expect(written).toEqual([])
  })

  test('are each a refusal of some function', () => {
    const known = new Set(refusing.flatMap(([, codes]) => codes))
    const declared = apiOperations().flatMap(({ description }) => description['x-refusals'])
    expect(declared.filter(code => !known.has(code) && !ofEveryOperation.includes(code))).toEqual([])
  })
})
