import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { settingsTable } from '../src/base/config/config.ts'
import { projectRoot } from './harness/cli.ts'
import { childEnvironment, startUp, temporaryFolder, type UpProcess } from './harness/up.ts'

const readme = readFileSync(join(projectRoot, 'README.md'), 'utf8')

test('the README holds the table of settings as the program has them', () => {
  const [, table] = /<!-- settings:[^\n]*-->\n([\s\S]*?)\n<!-- \/settings -->/.exec(readme) ?? []
  expect(table).toBe(settingsTable())
})

test('the README names every folder of src', () => {
  const folders = [...new Bun.Glob('*/*').scanSync(join(projectRoot, 'src'))].map(file => file.split('/')[0])
  for (const folder of new Set(folders)) expect(readme).toContain(`\`src/${folder}\``)
})

/** The commands of a section, block by block. */
function commandsOf(title: string): readonly string[] {
  const [, section] = new RegExp(`^## ${title}\\n([\\s\\S]*?)^## `, 'm').exec(readme) ?? []
  return [...(section ?? '').matchAll(/^```bash\n([\s\S]*?)^```/gm)].map(match => match[1] ?? '')
}

test('the first message goes in, and one goes out, by the very commands of the README', async () => {
  const [start, takeKey = '', sendIn = '', readInbox = '', sendOut = '', readSent = '', ...others] = commandsOf(
    'A first message in, and one out',
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
    for (const deadline = Date.now() + 10_000; ; await Bun.sleep(100)) {
      const [sent] = JSON.parse(await run(readSent)).data
      expect(sent).toMatchObject({ id: accepted.id, subject: 'Hello back', to: ['you@friend.test'] })
      if (sent.status === 'sent') break
      expect(Date.now()).toBeLessThan(deadline)
    }
  } finally {
    await up?.end()
    folder.remove()
  }
})

/** Runs commands of the README as they stand there, but for where this Mailroom keeps its files and listens. */
async function runAsWritten(commands: string, up: UpProcess, folder: string): Promise<string> {
  const here = commands
    .replaceAll('http://127.0.0.1:8080', up.file.http)
    .replaceAll('127.0.0.1:2525', up.file.smtp)
    .replaceAll('var/up.json', join(folder, 'up.json'))
  const running = Bun.spawn(['bash', '-euo', 'pipefail', '-c', here], {
    env: childEnvironment({}),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text()])
  expect([await running.exited, err]).toEqual([0, ''])
  return out
}
