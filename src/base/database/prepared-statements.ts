import type { FieldPacket, PoolConnection, QueryError } from 'mysql2'

/** What mysql2 says of a parameter of a prepared statement. */
interface ParameterDefinition {
  readonly columnType: number
  readonly flags: number
}

/** What mysql2 keeps of a prepared statement for as long as it stays prepared. */
interface KeptStatement {
  parameters: readonly ParameterDefinition[]
  columns: readonly unknown[]
}

/**
 * Runs a statement, prepared. mysql2 keeps the last 128 of each connection, and with each a description of every parameter that
 * refers to the packet it came in: those of an insert of many rows take hundreds of kilobytes. Of these it reads only the type,
 * so that is what is left of them.
 */
export function executePrepared(
  connection: PoolConnection,
  statement: string,
  parameters: readonly unknown[],
  done: (error: QueryError | null, rows: unknown, fields: FieldPacket[] | undefined) => void,
): void {
  // On a connection that is closed the callback is called before there is a command.
  let command: { readonly statement?: KeptStatement } | undefined
  command = connection.execute(statement, parameters as never[], (error, rows, fields) => {
    if (command?.statement) shorten(command.statement)
    done(error, rows, fields)
  }) as object
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
