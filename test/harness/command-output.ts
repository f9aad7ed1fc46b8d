import type { Command } from '../../src/cli/command.ts'

export interface CapturedOutput {
  // biome-ignore lint/suspicious/noExplicitAny: commands output every shape
  readonly json: any
  readonly text: string
  readonly status: number
}

/** Runs a command in this process and returns its output. @throws its usage and other errors */
export async function outputOf(
  command: Command,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<CapturedOutput> {
  const output = await command.run(args, settings)
  if (!output) throw new Error('the command has no output')
  return { json: JSON.parse(JSON.stringify(output.json)), text: output.text, status: output.status ?? 0 }
}
