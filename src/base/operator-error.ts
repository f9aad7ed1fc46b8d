/** A command cannot go on, for a reason that its user can mend; the message is a sentence for them. Exit status 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** A command was called in a way it does not know; the message says what is wrong with it. Exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
