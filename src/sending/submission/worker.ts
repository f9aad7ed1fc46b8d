import { serveTasks } from '../../base/concurrency/worker-tasks.ts'
import { type MessageReading, readMessage } from './read-message.ts'

// What the thread of message-reader.ts does, one task after the other.

const tasks = {
  /** A Buffer arrives in a worker as a plain Uint8Array. */
  read: (message: Uint8Array): Promise<MessageReading> =>
    readMessage(Buffer.from(message.buffer, message.byteOffset, message.byteLength)),
}

export type MessageTasks = typeof tasks

serveTasks(tasks)
