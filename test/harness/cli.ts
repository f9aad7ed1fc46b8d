import { join } from 'node:path'

export const projectRoot = join(import.meta.dir, '../..')

/** What `./mailroom` runs. A run of all tests has built the program before, and names it here. */
export const program = process.env['MAILROOM_TEST_PROGRAM'] ?? join(projectRoot, 'src/cli/cli.ts')

export interface CliResult {
  readonly status: number
  readonly out: string
  readonly err: string
}

/** Runs a command as `./mailroom` does, with only these settings. */
export async function runCommand(
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<CliResult> {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('MAILROOM_'))
  const running = Bun.spawn([process.execPath, '--no-env-file', program, ...args], {
    cwd: '/',
    env: { ...Object.fromEntries(others), ...settings },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, status] = await Promise.all([
    new Response(running.stdout).text(),
    new Response(running.stderr).text(),
    running.exited,
  ])
  return { status, out, err }
}
