import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { settingsDocument } from '../src/base/config/config.ts'
import { projectRoot } from './harness/cli.ts'
import { until } from './harness/until.ts'
import { childEnvironment, startUp, temporaryFolder, type UpProcess } from './harness/up.ts'

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8')
const readme = read('README.md')
const folders = ['.', 'docs', 'docker', 'systemd']
const documents = folders.flatMap(folder =>
  [...new Bun.Glob('*.md').scanSync(join(projectRoot, folder))].map(file => join(folder, file)).sort(),
)

test('the documents are found', () => {
  expect(documents).toEqual(
    expect.arrayContaining(['README.md', 'docs/api.md', 'docker/README.md', 'systemd/README.md']),
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
  const named = [...read(document).matchAll(/`((?:src|test|docs|docker|systemd)\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  )
  for (const path of named.filter(path => path !== 'docker/mailroom.env'))
    expect({ path, isThere: existsSync(join(projectRoot, path)) }).toEqual({ path, isThere: true })
})

/** The code blocks of a language below a heading of a document. */
function blocksOf(markdown: string, language: string, title: string): readonly string[] {
  const [, section] = new RegExp(`^## ${title}\\n([\\s\\S]*?)^## `, 'm').exec(markdown) ?? []
  return [...(section ?? '').matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, block]) => block ?? '',
  )
}

test('the commands of the README, and the first calls of docs/api.md, work as they are written', async () => {
  const [start, takeKey = '', sendIn = '', readInbox = '', sendOut = '', readSent = '', ...others] = blocksOf(
    readme,
    'bash',
    'Try it',
  )
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
    await until(async () => {
      const [sent] = JSON.parse(await run(readSent)).data
      expect(sent).toMatchObject({ id: accepted.id, subject: 'Hello back', to: ['you@friend.test'] })
      return sent.status === 'sent'
    })

    const api = read('docs/api.md')
    const [variables = '', , sendAgain = ''] = blocksOf(api, 'bash', 'First calls')
    const [send = ''] = sendAgain.split('\ncurl')
    const first = JSON.parse(await run(`${variables}\n${send}`))
    const [program = ''] = blocksOf(api, 'ts', 'First calls')
    const output = await runProgram(program, running, folder.path)
    expect(output).toContain('you@friend.test Hello')
    expect(JSON.parse(await run(`${variables}\n${send}`))).toEqual(first)
  } finally {
    await up?.end()
    folder.remove()
  }
})

/** Runs commands of a document as they stand there, but for where this Mailroom keeps its files and listens. */
async function runAsWritten(commands: string, up: UpProcess, folder: string): Promise<string> {
  const here = commands
    .replaceAll('http://127.0.0.1:8080', up.file.http)
    .replaceAll('127.0.0.1:2525', up.file.smtp)
    .replaceAll('var/up.json', join(folder, 'up.json'))
  return await outputOf(['bash', '-euo', 'pipefail', '-c', here], {})
}

/** Runs a TypeScript program of a document with the key of this Mailroom. */
async function runProgram(program: string, up: UpProcess, folder: string): Promise<string> {
  const path = join(folder, 'first-calls.ts')
  writeFileSync(path, program.replaceAll('http://127.0.0.1:8080', up.file.http).replaceAll('order-1042', 'order-1043'))
  return await outputOf([process.execPath, path], { MAILROOM_KEY: up.file.key })
}

async function outputOf(command: string[], settings: Readonly<Record<string, string>>): Promise<string> {
  const running = Bun.spawn(command, { env: childEnvironment(settings), stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text()])
  expect([await running.exited, err]).toEqual([0, ''])
  return out
}
