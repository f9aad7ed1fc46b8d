import { auditCommand } from './audit.ts'
import { backupCommand } from './backup.ts'
import { benchCommand } from './bench.ts'
import { brandCommand } from './brand.ts'
import { certificateCommand } from './certificate.ts'
import { listingText } from './command/help.ts'
import type { Command } from './command.ts'
import { doctorCommand } from './doctor.ts'
import { domainCommand } from './domain.ts'
import { keyCommand } from './key.ts'
import { memberCommand } from './member.ts'
import { messagesCommand } from './messages.ts'
import { migrateCommand } from './migrate.ts'
import { operatorCommand } from './operator.ts'
import { orgCommand } from './org.ts'
import { quarantineCommand } from './quarantine.ts'
import { queueCommand } from './queue.ts'
import { restoreCommand } from './restore.ts'
import { retentionCommand } from './retention.ts'
import { serveCommand } from './serve.ts'
import { sessionCommand } from './session.ts'
import { suppressionsCommand } from './suppressions.ts'
import { upCommand } from './up.ts'

/** What the script `./mailroom` does itself. */
const scriptCommands = [
  { call: 'test [FILE...]', summary: 'Run all tests, or those in some files' },
  { call: 'check', summary: 'Run the checks: types, style, unused code' },
  {
    call: 'prepare [--production]',
    summary: 'Only find or install Bun and the libraries; --production leaves out what only the tests need',
  },
]

const sections: readonly { readonly title: string; readonly commands: readonly Command[] }[] = [
  { title: 'Run', commands: [upCommand, serveCommand, migrateCommand, doctorCommand, certificateCommand] },
  {
    title: 'Accounts',
    commands: [orgCommand, memberCommand, operatorCommand, sessionCommand, keyCommand, brandCommand, domainCommand],
  },
  { title: 'Mail', commands: [queueCommand, quarantineCommand, suppressionsCommand, messagesCommand] },
  { title: 'Data', commands: [backupCommand, restoreCommand, retentionCommand, auditCommand] },
]

/** Every command of this program by its first word. */
export const commands: ReadonlyMap<string, Command> = new Map(
  [...sections.flatMap(section => section.commands), benchCommand].map(command => [command.name, command]),
)

/**
 * What `./mailroom --help` prints. The script prints it from commands.txt, so that it needs nothing installed:
 * bun --print "(await import('./src/cli/commands.ts')).commandList()" >src/cli/commands.txt
 */
export function commandList(): string {
  return [
    'Mailroom sends and receives mail: an HTTP API, an SMTP server and a relay in one process.',
    ...sections.map(({ title, commands }) => `${title}\n${listingText(commands.flatMap(command => command.listing))}`),
    `Development\n${listingText([...scriptCommands, ...benchCommand.listing])}`,
    'Each command has its own --help. Those that print a result print it as JSON with --json. Begin with ./mailroom up.',
  ].join('\n\n')
}
