import { listingText } from './command/help.ts'
import type { Command } from './command.ts'

type Loader = () => Promise<Command>

/** The file of a command is loaded when the command is called, so that none waits for what only others need. */
const sections = {
  Run: {
    up: async () => (await import('./up.ts')).upCommand,
    serve: async () => (await import('./serve.ts')).serveCommand,
    migrate: async () => (await import('./migrate.ts')).migrateCommand,
    doctor: async () => (await import('./doctor.ts')).doctorCommand,
    certificate: async () => (await import('./certificate.ts')).certificateCommand,
  },
  Accounts: {
    org: async () => (await import('./org.ts')).orgCommand,
    member: async () => (await import('./member.ts')).memberCommand,
    operator: async () => (await import('./operator.ts')).operatorCommand,
    session: async () => (await import('./session.ts')).sessionCommand,
    key: async () => (await import('./key.ts')).keyCommand,
    brand: async () => (await import('./brand.ts')).brandCommand,
    domain: async () => (await import('./domain.ts')).domainCommand,
  },
  Mail: {
    queue: async () => (await import('./queue.ts')).queueCommand,
    quarantine: async () => (await import('./quarantine.ts')).quarantineCommand,
    suppressions: async () => (await import('./suppressions.ts')).suppressionsCommand,
    webhook: async () => (await import('./webhook.ts')).webhookCommand,
    senders: async () => (await import('./senders.ts')).sendersCommand,
    messages: async () => (await import('./messages.ts')).messagesCommand,
  },
  Data: {
    backup: async () => (await import('./backup.ts')).backupCommand,
    restore: async () => (await import('./restore.ts')).restoreCommand,
    retention: async () => (await import('./retention.ts')).retentionCommand,
    audit: async () => (await import('./audit.ts')).auditCommand,
  },
  Development: {
    bench: async () => (await import('./bench.ts')).benchCommand,
  },
} satisfies Readonly<Record<string, Readonly<Record<string, Loader>>>>

/** What the script `./mailroom` does itself; part of Development. */
const scriptCommands = [
  { call: 'test [FILE...]', summary: 'Run all tests, or those in some files' },
  { call: 'check', summary: 'Run the checks: types, style, unused code' },
  {
    call: 'prepare [--production]',
    summary: 'Only find or install Bun and the libraries; --production leaves out what only the tests need',
  },
]

const loaders: ReadonlyMap<string, Loader> = new Map(
  Object.values(sections).flatMap(section => Object.entries(section)),
)

/** The first words of all commands of this program. */
export const commandNames: readonly string[] = [...loaders.keys()]

/** The command or group whose first word is `name`; undefined: there is none. */
export async function loadCommand(name: string): Promise<Command | undefined> {
  return loaders.get(name)?.()
}

/**
 * What `./mailroom --help` prints. The script prints it from commands.txt, so that it needs nothing installed:
 * bun --print "await (await import('./src/cli/commands.ts')).commandList()" >src/cli/commands.txt
 */
export async function commandList(): Promise<string> {
  const listings = await Promise.all(
    Object.entries(sections).map(async ([title, section]) => {
      const commands = await Promise.all(Object.values(section).map(load => load()))
      const own = title === 'Development' ? scriptCommands : []
      return `${title}\n${listingText([...own, ...commands.flatMap(command => command.listing)])}`
    }),
  )
  return [
    'Mailroom sends and receives mail: an HTTP API, an SMTP server and a relay in one process.',
    ...listings,
    'Each command has its own --help. Those that print a result print it as JSON with --json. Begin with ./mailroom up.',
  ].join('\n\n')
}
