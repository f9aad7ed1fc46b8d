import type { Command } from '../../src/cli/command.ts'

export interface CapturedOutput {
  // biome-ignore lint/suspicious/noExplicitAny: commands answer in every shape
  readonly json: any
  readonly text: string
  readonly status: number
}

/** What a command tells, without a process of its own; it throws what it would complain of. */
export async function outputOf(
  command: Command,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<CapturedOutput> {
  const answer = await command.run(args, settings)
  if (!answer) throw new Error('it told nothing')
  return { json: JSON.parse(JSON.stringify(answer.json)), text: answer.text, status: answer.status ?? 0 }
}
