import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pathsWithoutKey } from '../../client/src/api.ts'
import { version as ofMailroom } from '../../src/base/version.ts'
import { projectRoot } from '../harness/cli.ts'
import { openApiDocument } from '../harness/openapi-document.ts'
import { startUp, temporaryFolder, type UpProcess } from '../harness/up.ts'

/** The package as it is published: built, packed, and installed into a project with nothing else in it. */
const client = join(projectRoot, 'client')
const maxGzipBytes = 8 * 1024

let folder: string
let upFolder: ReturnType<typeof temporaryFolder>
let up: UpProcess

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mailroom-client-'))
  upFolder = temporaryFolder()
  const installed = packAndInstall()
  up = await startUp(upFolder.path)
  await installed
}, 120_000)
afterAll(async () => {
  await up?.end()
  upFolder?.remove()
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

async function run(command: string[], { cwd = folder, env = {} as Record<string, string> } = {}): Promise<string> {
  const running = Bun.spawn(command, { cwd, env: { ...process.env, ...env }, stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text()])
  if ((await running.exited) !== 0) throw new Error(`${command.join(' ')}:\n${out}\n${err}`)
  return out
}

async function packAndInstall(): Promise<void> {
  const tsc = join(projectRoot, 'node_modules/.bin/tsc')
  rmSync(join(client, 'build'), { recursive: true, force: true })
  await run([tsc, '-p', 'tsconfig.build.json'], { cwd: client })
  const [{ filename }] = JSON.parse(await run(['npm', 'pack', '--json', '--pack-destination', folder], { cwd: client }))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  await run(['npm', 'install', '--offline', '--no-audit', '--no-fund', `./${filename}`])
}

/** Prints what it did, as JSON. */
const program = `
  import { Mailroom, MailroomError } from '@mailroom/client'
  const mailroom = new Mailroom({ url: process.env.MAILROOM_URL, key: process.env.MAILROOM_KEY })
  const email = { from: 'Demo <hello@demo.test>', to: 'you@friend.test', subject: 'Hello', text: 'Hello.' }
  const { id, status } = await mailroom.emails.send({
    ...email,
    attachments: [{ filename: 'a.txt', content: new TextEncoder().encode('A note.') }],
  })
  let sent = await mailroom.emails.get(id)
  for (const until = Date.now() + 20_000; sent.status !== 'sent' && Date.now() < until; sent = await mailroom.emails.get(id))
    await new Promise(resolve => setTimeout(resolve, 50))
  const { attachments } = await mailroom.emails.content(id)
  const note = await (await mailroom.emails.attachment(id, attachments[0].id)).text()
  const batch = await mailroom.emails.sendBatch([email, { ...email, to: 'nobody' }, email])
  const ids = []
  for await (const one of mailroom.emails.list({ limit: 1, recipient: 'you@friend.test' })) ids.push(one.id)
  const error = await mailroom.emails.send({ ...email, from: 'me@other.test' }).catch(thrown => thrown)
  const { data: domains } = await mailroom.domains.list()
  console.log(JSON.stringify({
    status,
    became: sent.status,
    note,
    batch: batch.data.map(one => one.status === 'accepted' ? one.email.status : one.error.param),
    listed: new Set(ids).size,
    isLast: ids.includes(id),
    error: [error instanceof MailroomError, error.code, error.requirement, error.param, /^req_/.test(error.requestId)],
    domains: domains.map(({ domain }) => domain),
  }))`

const printed = {
  status: 'queued',
  became: 'sent',
  note: 'A note.',
  batch: ['queued', 'emails[1].to', 'queued'],
  error: [true, 'domain_not_verified', 'verify_domain', 'from', true],
  domains: ['demo.test'],
  isLast: true,
}

function hasNode20(): boolean {
  const node = Bun.which('node')
  if (node === null || Bun.which('npm') === null) return false
  return Number(Bun.spawnSync([node, '-p', 'process.versions.node']).stdout.toString().split('.')[0]) >= 20
}

describe('installed into an empty project, the package', () => {
  const runtimes = [
    ['node', 'node'],
    ['bun', process.execPath],
  ] as const
  test.skipIf(!hasNode20()).each(runtimes)(
    'sends and reads mail under %s',
    async (name, executable) => {
      const file = join(folder, `${name}.mjs`)
      writeFileSync(file, program)
      const env = { MAILROOM_URL: up.file.http, MAILROOM_KEY: up.file.key }
      const result = JSON.parse(await run([executable, file], { env }))
      expect(result).toMatchObject(printed)
      expect(result.listed).toBeGreaterThanOrEqual(3)
    },
    60_000,
  )

  test('has types that a strict program is checked by, with nothing but the DOM’s', async () => {
    const source = `
      import { Mailroom, MailroomError, verifyWebhook, type Schemas } from '@mailroom/client'
      const mailroom = new Mailroom({ url: 'https://mail.example', key: 'mrk_1' })
      const accepted: Schemas['SendAccepted'] = await mailroom.emails.send({ from: 'a@b.c', to: ['d@e.f'], subject: 'S', text: 'T' })
      const status: 'queued' | 'scheduled' = accepted.status
      for await (const message of mailroom.inbox.list({ folder: 'spam' })) message.from.address.toUpperCase()
      const page = await mailroom.suppressions.list()
      const cursor: string | null = page.next_cursor
      const { data } = await mailroom.emails.sendBatch([{ from: 'a@b.c', to: 'd@e.f', template: 't' }], { onError: 'stop' })
      for (const one of data) if (one.status === 'refused') one.error.code.toUpperCase(); else one.email.id.toUpperCase()
      const failed = (error: unknown) => error instanceof MailroomError && error.code === 'quota_exceeded'
      // @ts-expect-error: an email needs recipients
      await mailroom.emails.send({ from: 'a@b.c', subject: 'S', text: 'T' })
      // @ts-expect-error: there is no such folder
      await mailroom.inbox.move('msg_1', 'attic')
      // @ts-expect-error: there is no such code
      const never = (error: MailroomError) => error.code === 'no_such_code'
      export { status, cursor, failed, never, verifyWebhook }`
    writeFileSync(join(folder, 'program.ts'), source)
    const options = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--target', 'es2022', '--types', '']
    const modules = [
      '--module',
      'nodenext',
      '--moduleResolution',
      'nodenext',
      '--lib',
      'es2022,dom,dom.iterable,dom.asynciterable',
    ]
    await run([join(projectRoot, 'node_modules/.bin/tsc'), ...options, ...modules, '--ignoreConfig', 'program.ts'])
  }, 60_000)

  test('has its build and its README, and no dependency', () => {
    const installed = join(folder, 'node_modules/@mailroom/client')
    expect(readdirSync(installed).sort()).toEqual(['README.md', 'build', 'package.json'])
    const { dependencies, peerDependencies, version } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    )
    expect([dependencies, peerDependencies, version]).toEqual([undefined, undefined, ofMailroom])
    expect(readdirSync(join(folder, 'node_modules/@mailroom'))).toEqual(['client'])
  })
})

test(`the client has at most ${maxGzipBytes} bytes, minified and compressed`, async () => {
  const built = await Bun.build({ entrypoints: [join(client, 'src/index.ts')], minify: true, target: 'browser' })
  const [output] = built.outputs
  if (!output || built.outputs.length > 1) throw new Error('expected one file')
  const bytes = gzipSync(await output.arrayBuffer()).length
  process.stdout.write(`the client: ${bytes} bytes, minified and compressed\n`)
  expect(bytes).toBeLessThanOrEqual(maxGzipBytes)
})

/** Operations that are no application's: of another protocol. */
const excluded = ['post /v1/mcp']

const sources = [...new Bun.Glob('src/**/*.ts').scanSync(client)]
  .filter(file => !file.includes('generated'))
  .map(file => readFileSync(join(client, file), 'utf8'))
  .join('\n')

const called = new Set([
  ...Array.from(sources.matchAll(/api\.call\(\s*'(\w+)',\s*'([^']+)'/g), ([, method, path]) => `${method} ${path}`),
  ...Array.from(sources.matchAll(/api\.download\(\s*'([^']+)'/g), ([, path]) => `get ${path}`),
])

const operations = Object.entries(openApiDocument().paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
)
const ofApplications = operations.filter(({ path, name }) => path.startsWith('/v1/') && !excluded.includes(name))

test('the client has every operation of the API', () => {
  expect(ofApplications.map(({ name }) => name).filter(name => !called.has(name))).toEqual([])
})

test('the client sends an Idempotency-Key with all that change something, but for those that refuse it', () => {
  const refusing = ofApplications.filter(
    ({ name, operation }) =>
      !name.startsWith('get ') &&
      !operation.parameters.some(one => '$ref' in one && String(one.$ref).endsWith('/IdempotencyKey')),
  )
  expect(refusing.map(({ path }) => path).sort()).toEqual([...pathsWithoutKey].sort())
  expect(refusing.filter(({ name }) => !name.startsWith('post '))).toEqual([])
})
