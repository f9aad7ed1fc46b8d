import { join } from 'node:path'
import { until } from './until.ts'
import { childEnvironment, type UpProcess } from './up.ts'

/** The code blocks of a language in a document, below the heading with this title. */
export function blocksBelow(markdown: string, title: string, language: string): readonly string[] {
  const [, section = ''] = new RegExp(`^#+ ${title}\\n([\\s\\S]*?)(?=^#{2,} |(?![\\s\\S]))`, 'm').exec(markdown) ?? []
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, block]) => block ?? '',
  )
}

/** A command or program of a document for this Mailroom: where it listens, and where its files are. */
export function forThisMailroom(text: string, up: UpProcess, folder: string): string {
  return text
    .replaceAll('http://127.0.0.1:8080', up.file.http)
    .replaceAll('127.0.0.1:2525', up.file.smtp)
    .replaceAll('127.0.0.1:2587', up.file.submission ?? '')
    .replaceAll('var/up.json', join(folder, 'up.json'))
}

export interface ProgramOptions {
  readonly folder: string
  readonly environment?: Readonly<Record<string, string>>
  readonly input?: string
}

/** Runs a program to its end, and gives its output. @throws when it complains, or ends with another status than 0 */
export async function outputOf(command: readonly string[], options: ProgramOptions): Promise<string> {
  const { folder, environment = {}, input } = options
  const running = Bun.spawn([...command], {
    cwd: folder,
    env: childEnvironment(environment),
    stdin: input === undefined ? 'ignore' : new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text()])
  const status = await running.exited
  if (status !== 0 || err !== '') throw new Error(`${command[0]} ended with ${status}:\n${out}${err}`)
  return out
}

/** A program that runs until it is stopped. */
export interface RunningProgram {
  /** Its output so far. */
  readonly output: () => string
  /** Resolves once it has printed this. */
  readonly printed: (text: string) => Promise<unknown>
  readonly stop: () => Promise<void>
}

/** Starts a program that has no end of its own. */
export function startProgram(command: readonly string[], { folder, environment = {} }: ProgramOptions): RunningProgram {
  const running = Bun.spawn([...command], {
    cwd: folder,
    env: childEnvironment(environment),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let output = ''
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const bytes of stream) output += decoder.decode(bytes, { stream: true })
  }
  const reading = Promise.all([read(running.stdout), read(running.stderr)])
  return {
    output: () => output,
    printed: text => until(() => output.includes(text), { what: `it prints ${text}`, details: () => output }),
    async stop() {
      running.kill('SIGKILL')
      await reading
    },
  }
}
