import { getPriority } from 'node:os'
import { serveTasks } from '../../../src/base/concurrency/worker-tasks.ts'

// The worker of worker-pool.test.ts.

const tasks = {
  double: (value: number): number => value * 2,
  fail(message: string): never {
    throw new TypeError(message)
  },
  loop(_: null): never {
    for (;;);
  },
  exit(_: null): void {
    process.exit(1)
  },
  /** Adds up what the caller answers, until that is null. */
  async sum(first: number, next: (soFar: number) => Promise<number | null>): Promise<number> {
    let sum = first
    for (let more = await next(sum); more !== null; more = await next(sum)) sum += more
    return sum
  },
  threadName: (_: null): string => threadName,
  /** The thread's nice value, on Linux. */
  niceness: (_: null): number => getPriority(0),
}

const threadName = crypto.randomUUID()

export type PoolTasks = typeof tasks

serveTasks(tasks)
