import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { settingsDocument } from '../src/base/config/config.ts'
import { projectRoot } from './harness/cli.ts'
import { blocksBelow, forThisMailroom, outputOf } from './harness/document-programs.ts'
import { until } from './harness/until.ts'
import { startUp, temporaryFolder, type UpProcess } from './harness/up.ts'

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8')
const readme = read('README.md')
const folders = ['.', 'docs', 'docker', 'systemd', 'client']
const documents = folders.flatMap(folder =>
  [...new Bun.Glob('*.md').scanSync(join(projectRoot, folder))].map(file => join(folder, file)).sort(),
)

test('the documents are found', () => {
  expect(documents).toEqual(
    expect.arrayContaining(['README.md', 'docs/api.md', 'docker/README.md', 'systemd/README.md', 'client/README.md']),
  )
})

test('docs/settings.md is what `bun test/harness/write-settings.ts` writes', () => {
  expect(read('docs/settings.md')).toBe(settingsDocument())
})

test('docs/architecture.md names every folder of src', () => {
  const architecture = read('docs/architecture.md')
  const folders = [...new Bun.Glob('*/**').scanSync(join(projectRoot, 'src'))].map(file => file.split('/')[0])
  for (const folder of new Set(folders)) expect(architecture).toContain(`\`src/${folder}\``)
})

test('the README has at most 170 lines', () => {
  expect(readme.split('\n').length).toBeLessThanOrEqual(170)
})

/** A heading's anchor as Markdown hosts make it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

function anchorsIn(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading))
}

test.each(documents)('the links of %s lead somewhere', document => {
  const links = [...read(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  for (const link of links.filter(target => !/^[a-z]+:/.test(target))) {
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? document : relative(projectRoot, join(projectRoot, dirname(document), path))
    expect({ link, isThere: existsSync(join(projectRoot, target)) }).toEqual({ link, isThere: true })
    if (anchor !== undefined)
      expect({ link, anchors: anchorsIn(read(target)) }).toMatchObject({ anchors: expect.arrayContaining([anchor]) })
  }
})

test.each(documents)('the files and folders that %s names exist', document => {
  const named = [...read(document).matchAll(/`((?:src|test|docs|docker|systemd|client)\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  )
  for (const path of named.filter(path => path !== 'docker/mailroom.env'))
    expect({ path, isThere: existsSync(join(projectRoot, path)) }).toEqual({ path, isThere: true })
})

test('the commands of the README, and the first calls of docs/api.md, work as they are written', async () => {
  const blocks = blocksBelow(readme, 'Try it', 'bash')
  const [start, takeKey = '', sendIn = '', readInbox = '', sendOut = '', submit = '', readSent = '', ...others] = blocks
  expect([start, others]).toEqual(['./mailroom up\n', []])

  const folder = temporaryFolder()
  let up: UpProcess | undefined
  try {
    const running = await startUp(folder.path)
    up = running
    const run = (command: string) => runAsWritten(`${takeKey}\n${command}`, running, folder.path)

    expect(await run(sendIn)).toBe('')
    const inbox = JSON.parse(await run(readInbox))
    expect(inbox.data).toEqual([
      expect.objectContaining({
        subject: 'Hello',
        from: { address: 'you@friend.test', name: '' },
        address: 'hello@demo.test',
        mailbox_id: running.file.mailbox_id,
        scan: 'clean',
      }),
    ])

    const accepted = JSON.parse(await run(sendOut))
    expect(accepted.status).toBe('queued')
    expect(await run(submit)).toBe('')
    const [inTypeScript = ''] = blocksBelow(readme, 'Try it', 'ts')
    expect(await runProgram('ts', inTypeScript, running, folder.path)).toContain('queued')
    const [inPython = ''] = blocksBelow(readme, 'Try it', 'python')
    expect(JSON.parse(await runProgram('py', inPython, running, folder.path)).status).toBe('queued')
    await until(async () => {
      const sent = JSON.parse(await run(readSent)).data
      const subjects = ['Hello back', 'Hello back', 'Hello again', 'Hello back']
      expect(sent.map((each: { subject: string }) => each.subject)).toEqual(subjects)
      expect(sent.at(-1)).toMatchObject({ id: accepted.id, to: ['you@friend.test'] })
      return sent.every((each: { status: string }) => each.status === 'sent')
    })

    const api = read('docs/api.md')
    const [variables = '', , sendAgain = ''] = blocksBelow(api, 'First calls', 'bash')
    const [send = ''] = sendAgain.split('\ncurl')
    const first = JSON.parse(await run(`${variables}\n${send}`))
    const [firstCalls = ''] = blocksBelow(api, 'First calls', 'ts')
    expect(await runProgram('ts', firstCalls, running, folder.path)).toContain('you@friend.test Hello\n')
    const [firstCallsInPython = ''] = blocksBelow(api, 'First calls', 'python')
    expect(await runProgram('py', firstCallsInPython, running, folder.path)).toContain('you@friend.test Hello\n')
    const refused = firstCallsInPython.replaceAll('hello@demo.test', 'hello@other.test')
    await expect(runProgram('py', refused, running, folder.path)).rejects.toThrow('domain_not_verified: ')
    const [batch = ''] = blocksBelow(api, 'Batches', 'bash')
    const entries: readonly { status: string }[] = JSON.parse(await run(`${variables}\n${batch}`)).data
    expect(entries.map(({ status }) => status)).toEqual(['accepted', 'refused'])
    const [withResend = ''] = blocksBelow(api, 'Coming from Resend', 'ts')
    const printing = `${withResend}\nconsole.log(JSON.stringify({ data, error }))`
    expect(JSON.parse(await runProgram('ts', printing, running, folder.path))).toMatchObject({
      data: { status: 'queued' },
      error: null,
    })
    expect(JSON.parse(await run(`${variables}\n${send}`))).toEqual(first)
  } finally {
    await up?.end()
    folder.remove()
  }
})

/** Runs commands of a document as they stand there, but for where this Mailroom keeps its files and listens. */
function runAsWritten(commands: string, up: UpProcess, folder: string): Promise<string> {
  return outputOf(['bash', '-euo', 'pipefail', '-c', forThisMailroom(commands, up, folder)], { folder })
}

/** Runs a program of a document with the key of this Mailroom. */
function runProgram(language: 'ts' | 'py', program: string, up: UpProcess, folder: string): Promise<string> {
  const here = forThisMailroom(program, up, folder)
    .replaceAll('order-1042', `order-${crypto.randomUUID()}`)
    .replace("from 'resend'", `from '${import.meta.resolve('resend')}'`)
    .replace("from '@mailroom/client'", `from '${join(projectRoot, 'client/src/index.ts')}'`)
  const environment = { MAILROOM_KEY: up.file.key }
  if (language === 'py') return outputOf(['python3', '-c', here], { folder, environment })
  const path = join(folder, 'program.ts')
  writeFileSync(path, here)
  return outputOf([process.execPath, path], { folder, environment })
}
