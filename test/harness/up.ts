import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readJsonFile, type UpFile } from '../../src/cli/up/folder.ts'
import { projectRoot } from './cli.ts'
import { makeMemoryFolder } from './memory-folder.ts'
import { until } from './until.ts'

/** A temporary folder for `--var`, outside the project. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = makeMemoryFolder('mailroom-up-')
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** The environment for a `./mailroom` process: only the given settings, and the current Bun first in PATH. */
export function childEnvironment(settings: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('MAILROOM_'))
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
  return { ...Object.fromEntries(others), PATH: path, ...settings }
}

/** A running `./mailroom up`. */
export interface UpProcess {
  readonly file: UpFile
  /** Its output so far. */
  printed(): string
  kill(): void
  /** Sends SIGTERM. Resolves to its exit status. */
  end(): Promise<number>
}

const startMs = 60_000

/** Runs `./mailroom up` in `folder`, on free ports unless `more` has others. Resolves once it is ready. */
export async function startUp(
  folder: string,
  args: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Promise<UpProcess> {
  const settings = {
    MAILROOM_HTTP_LISTEN: '127.0.0.1:0',
    MAILROOM_SMTP_LISTEN: '127.0.0.1:0',
    MAILROOM_SUBMISSION_LISTEN: '127.0.0.1:0',
    ...more,
  }
  const running = Bun.spawn([join(projectRoot, 'mailroom'), 'up', '--var', folder, ...args], {
    cwd: '/',
    env: childEnvironment(settings),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let printed = ''
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const bytes of stream) printed += decoder.decode(bytes, { stream: true })
  }
  void read(running.stdout)
  void read(running.stderr)

  // A run that was killed may have left its file.
  const readReadyFile = () => {
    const file = readJsonFile<UpFile>(join(folder, 'up.json'))
    if (file?.pid === running.pid) return file
    if (running.exitCode !== null) throw new Error(`./mailroom up ended:\n${printed}`)
    return undefined
  }
  const file = await until(readReadyFile, {
    what: './mailroom up is ready',
    withinMs: startMs,
    details: () => printed,
  }).catch(error => {
    running.kill('SIGKILL')
    throw error
  })
  return {
    file,
    printed: () => printed,
    kill: () => running.kill('SIGKILL'),
    end: () => {
      running.kill('SIGTERM')
      return running.exited
    },
  }
}
