/** What mysql2 does not declare of a command: what is sent to the server, and what is done with its reply. */
export interface QueuedCommand {
  /** What the next packet of the reply is given to; null: it was not sent yet, or has all of its reply. */
  next: unknown
  start(packet: undefined, connection: CommandQueue): unknown
  /** @param packet absent: it is this command's turn. True: the command has ended */
  execute(packet: unknown, connection: CommandQueue): boolean
}

/** What mysql2 does not declare of a connection: it sends each command once the one before has its reply. */
export interface CommandQueue {
  /** The command whose reply comes next. */
  readonly _command?: QueuedCommand | null
  readonly _commands: { peekBack(): QueuedCommand | undefined }
  /** The number of the next packet, within its command. */
  sequenceId: number
}

/** Whether all commands of the connection were sent, and the last has no reply yet: then the next may be sent at once. */
export function isAwaitingReplies({ _command, _commands }: CommandQueue): boolean {
  const last = _commands.peekBack() ?? _command
  return last != null && last.next !== null
}

/**
 * Sends a command that was queued after others, without waiting for their replies (see {@link isAwaitingReplies}). The server
 * reads one after the other, and replies in the same order; mysql2 gives the replies to its commands in this order as well.
 */
export function sendAhead(connection: CommandQueue, command: QueuedCommand): void {
  const { sequenceId } = connection
  connection.sequenceId = 0
  command.next = command.start(undefined, connection)
  const replySequenceId = connection.sequenceId
  connection.sequenceId = sequenceId
  const execute = command.execute.bind(command)
  command.execute = (packet, own) => {
    if (packet) return execute(packet, own)
    own.sequenceId = replySequenceId
    return command.next === null
  }
}
