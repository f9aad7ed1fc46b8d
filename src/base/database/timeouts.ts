import { hourMs, minuteMs } from '../clock.ts'

/** How long the database gets to answer. */
export interface DatabaseTimeouts {
  /** For a statement, and for a connection to run it on, in milliseconds. */
  readonly statementMs: number
  /** For a transaction, from BEGIN to the answer to COMMIT, in milliseconds. */
  readonly transactionMs: number
  /**
   * What becomes of a statement that takes longer. `fail`: its connection is closed. `ask`: the server is asked over
   * another connection whether it is still working on the statement, which may then go on.
   */
  readonly overdue: 'fail' | 'ask'
}

/**
 * `request`: for what somebody waits for. `background`: for work that may take long by its nature, such as migrations,
 * backups, deletions and the building of indexes; a database that is silent is noticed as early.
 */
export type DatabaseWorkload = 'request' | 'background'

const statementMs = 15_000

export function timeoutsFor(workload: DatabaseWorkload, ms: number = statementMs): DatabaseTimeouts {
  return workload === 'request'
    ? { statementMs: ms, transactionMs: Math.min(4 * ms, minuteMs), overdue: 'fail' }
    : { statementMs: ms, transactionMs: 6 * hourMs, overdue: 'ask' }
}

/**
 * What a session of a request sets, so that the server itself gives up what nobody waits for any more: a wait for a lock, of
 * which three are still in time, and in MariaDB any statement and a transaction that nothing comes for. MySQL takes what
 * begins with M! for a comment.
 */
export function sessionTimeouts({ statementMs, transactionMs, overdue }: DatabaseTimeouts): string {
  if (overdue === 'ask') return ''
  const [statement, transaction] = [statementMs / 1000, Math.ceil(transactionMs / 1000)]
  const lockWait = Math.max(1, Math.floor(statement / 3))
  return `, innodb_lock_wait_timeout = ${lockWait}
    /*M! , max_statement_time = ${statement}, idle_transaction_timeout = ${transaction} */`
}
