import type { Command } from '../../src/cli/command.ts'

export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: commands answer in every shape
  readonly json: any
  readonly text: string
  readonly status: number
}

/** What a command tells, without a process of its own; it throws what it would complain of. */
export async function told(
  command: Command,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<Answer> {
  const answer = await command.run(args, settings)
  if (!answer) throw new Error('it told nothing')
  return { json: JSON.parse(JSON.stringify(answer.json)), text: answer.text, status: answer.status ?? 0 }
}
