import { UsageError } from '../base/operator-error.ts'
import { version } from '../base/version.ts'
import { complain, describeFailure, sentence } from './command/failure.ts'
import { suggest } from './command/suggestion.ts'
import type { Command } from './command.ts'
import { commandNames, loadCommand } from './commands.ts'
import { workerCommand } from './processes/messages.ts'

/** Runs the command that `args` name. The exit status: 0 done, 1 failed, 2 wrong arguments or settings. */
async function run(args: readonly string[]): Promise<number> {
  const [name = '', ...rest] = args
  if (name === '--version') return print(version)
  if (name === workerCommand) return (await import('./processes/worker.ts')).runWorker(rest[0])
  const group = await loadCommand(name)
  if (!group) return complain(`there is no command "${name}"${suggest(name, commandNames)}`, 2)
  const { command, args: commandArgs } = group.resolve(rest.filter(arg => arg !== '--json'))
  if (rest.includes('--help') || rest.includes('-h')) return print(rest[0]?.startsWith('-') ? group.help : command.help)
  const format = rest.includes('--json') ? 'json' : 'text'
  try {
    const output = await command.run(commandArgs, process.env, format)
    if (!output) return 0
    await print(format === 'json' ? JSON.stringify(output.json) : output.text)
    return output.status ?? 0
  } catch (error) {
    if (error instanceof UsageError) return complain(`${sentence(error.message)}\n\n${usageHint(command)}`, 2)
    const failure = describeFailure(error)
    if (failure) return complain(failure.text, failure.status)
    throw error
  }
}

/** How to call a command; of a group, only where to read that. */
function usageHint({ name, usage }: Command): string {
  const more = `./mailroom ${name} --help says more.`
  return usage.length > 1 ? more : `${usage[0]}\n\n${more}`
}

async function print(text: string): Promise<number> {
  if (text) await Bun.write(Bun.stdout, `${text}\n`)
  return 0
}

// Exits at once: what is still pending then, such as a timeout of something that has ended, is not waited for.
void run(process.argv.slice(2)).then(status => process.exit(status))
