import { afterAll, beforeEach, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findLocatedSources, sourcesFolder } from '../../src/cli/program/sources.ts'
import { projectRoot } from '../harness/cli.ts'
import { childEnvironment } from '../harness/up.ts'

/** A checkout whose program says only which file it is. */
const checkout = mkdtempSync(join(tmpdir(), 'mailroom-program-'))
const source = 'src/cli/cli.ts'
const built = 'build/program/cli/cli.js'

afterAll(() => rmSync(checkout, { recursive: true, force: true }))

beforeEach(() => {
  for (const folder of ['src', 'build']) rmSync(join(checkout, folder), { recursive: true, force: true })
  for (const file of ['mailroom', 'package.json', 'bun.lock', 'src/cli/commands.txt'])
    cpSync(join(projectRoot, file), join(checkout, file), { preserveTimestamps: true })
  cpSync(join(projectRoot, 'bun.lock'), join(checkout, 'node_modules/.mailroom-lock'))
  write(source)
})

function write(file: string): void {
  mkdirSync(dirname(join(checkout, file)), { recursive: true })
  writeFileSync(join(checkout, file), `console.log('${file}', ...process.argv.slice(2))\n`)
}

/** Two changes at once would have the same time. */
async function writeLater(file: string): Promise<void> {
  await Bun.sleep(20)
  write(file)
}

function run(): string {
  const command = [join(checkout, 'mailroom'), 'org', 'list']
  return Bun.spawnSync(command, { env: childEnvironment({}) }).stdout.toString()
}

test('the sources run where nothing is built', () => {
  expect(run()).toBe(`${source} org list\n`)
})

test('what is built of them runs in their place', async () => {
  await writeLater(built)
  expect(run()).toBe(`${built} org list\n`)
})

test('a source that is newer than the build makes the sources run, one of the dashboard does not', async () => {
  await writeLater(built)
  await writeLater('src/dashboard/main.tsx')
  expect(run()).toBe(`${built} org list\n`)
  await writeLater('src/base/clock.ts')
  expect(run()).toBe(`${source} org list\n`)
})

test('so does a source that was copied here later with the time of an earlier change', async () => {
  await writeLater(built)
  await Bun.sleep(20)
  cpSync(join(projectRoot, 'src/base/clock.ts'), join(checkout, 'src/base/clock.ts'), { preserveTimestamps: true })
  expect(run()).toBe(`${source} org list\n`)
})

test('without sources, as in an image, what is built runs', async () => {
  await writeLater(built)
  await Bun.sleep(20)
  cpSync(join(projectRoot, 'src/cli/commands.txt'), join(checkout, 'src/cli/commands.txt'))
  for (const gone of [source, 'bun.lock', 'node_modules']) rmSync(join(checkout, gone), { recursive: true })
  expect(run()).toBe(`${built} org list\n`)
})

test('every worker thread and worker process is built', () => {
  const workers = findLocatedSources().flatMap(source => source.workers)
  const serving = [...new Bun.Glob('**/*.ts').scanSync(sourcesFolder)]
    .map(file => join(sourcesFolder, file))
    .filter(path => /^(?:serveTasks|void runWorker)\b/m.test(readFileSync(path, 'utf8')))
  expect(serving.length).toBeGreaterThan(3)
  expect(workers.toSorted()).toEqual(serving.toSorted())
})
