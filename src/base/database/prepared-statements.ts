import type { FieldPacket, PoolConnection, QueryError } from 'mysql2'
import { releaseMemory } from '../memory/release-memory.ts'
import { type CommandQueue, isAwaitingReplies, type QueuedCommand, sendAhead } from './pipelining.ts'

/** What mysql2 says of a parameter of a prepared statement. */
interface ParameterDefinition {
  readonly columnType: number
  readonly flags: number
}

/** What mysql2 keeps of a prepared statement for as long as it stays prepared. */
interface KeptStatement {
  parameters: readonly ParameterDefinition[]
  columns: readonly unknown[]
  execute(parameters: readonly unknown[], done: StatementDone): QueuedCommand
}

const minLongBytes = 256 * 1024

type StatementDone = (error: QueryError | null, rows: unknown, fields: FieldPacket[] | undefined) => void

/** What mysql2 does not declare of a connection. */
interface StatementCache extends CommandQueue {
  readonly _statements: { get(key: string): KeptStatement | undefined }
  readonly constructor: { statementKey(options: { readonly sql: string }): string }
  /** Called for each packet, when it is sent. */
  write(packet: Buffer): void
}

/**
 * Runs a statement, prepared. One that is prepared already is sent at once, whether those before it have their replies or not;
 * the server still runs one after the other. mysql2 keeps the last 128 of each connection, and with each a description of every
 * parameter that refers to the packet it came in: those of an insert of many rows take hundreds of kilobytes. Of these it reads
 * only the type, so that is what is left of them.
 */
export function executePrepared(
  connection: PoolConnection,
  statement: string,
  parameters: readonly unknown[],
  done: StatementDone,
): void {
  const cache = connection as unknown as StatementCache
  const kept = cache._statements.get(cache.constructor.statementKey({ sql: statement }))
  if (kept && !parameters.includes(undefined)) {
    const isAhead = isAwaitingReplies(cache)
    const send = (whenDone: StatementDone) => {
      const queued = kept.execute(parameters, whenDone)
      if (isAhead) sendAhead(cache, queued)
    }
    if (hasLong(parameters)) sendLong(cache, send, done)
    else send(done)
    return
  }
  // On a connection that is closed the callback is called before there is a command.
  let command: { readonly statement?: KeptStatement } | undefined
  command = connection.execute(statement, parameters as never[], (error, rows, fields) => {
    if (command?.statement) shorten(command.statement)
    done(error, rows, fields)
  }) as object
}

/** Is there a parameter so long that it is worth it to free the packet at once? A loop, since every statement is looked at. */
function hasLong(parameters: readonly unknown[]): boolean {
  for (const parameter of parameters)
    if (typeof parameter === 'object' && parameter instanceof Uint8Array && parameter.length >= minLongBytes)
      return true
  return false
}

/** Frees the packets that `send` sends once the server has replied: then it has read them. */
function sendLong(connection: StatementCache, send: (done: StatementDone) => void, done: StatementDone): void {
  const packets: Buffer[] = []
  const { write } = connection
  connection.write = packet => {
    packets.push(packet)
    write.call(connection, packet)
  }
  try {
    send((error, rows, fields) => {
      if (!error) for (const packet of packets) releaseMemory(packet)
      done(error, rows, fields)
    })
  } finally {
    connection.write = write
  }
}

const definitions = new Map<number, ParameterDefinition>()

/** Definitions with the same type are the same object. */
function shorten(kept: KeptStatement): void {
  if (kept.parameters[0] && definitions.get(keyOf(kept.parameters[0])) === kept.parameters[0]) return
  kept.columns = []
  kept.parameters = kept.parameters.map(parameter => {
    const key = keyOf(parameter)
    const known = definitions.get(key) ?? { columnType: parameter.columnType, flags: parameter.flags }
    definitions.set(key, known)
    return known
  })
}

/** The flags have two bytes. */
function keyOf({ columnType, flags }: ParameterDefinition): number {
  return columnType * 0x1_0000 + flags
}
