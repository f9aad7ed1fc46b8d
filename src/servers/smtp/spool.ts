import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { limitConcurrency } from '../../base/concurrency/semaphore.ts'
import { releaseMemory } from '../../base/memory/release-memory.ts'
import type { MessageSource } from '../../mail/message-source.ts'
import type { DataSink } from './data-decoder.ts'

/** A larger message is written to a file. */
const maxMemoryBytes = 256 * 1024
/** Past this total of all messages under way, smaller messages are written to files as well. */
const maxTotalMemoryBytes = 64 * 1024 * 1024
/** Files are written in chunks of about this size. */
const chunkBytes = 64 * 1024
/** After so many chunks, small ones are copied together: the overhead of each is larger than its bytes. */
const maxUncopiedChunks = 16
const smallChunkBytes = 4096
/** Bounds what is read in one turn of the event loop: a session that waits to write does not read from its client. */
const maxConcurrentWrites = 8

const spoolFileName = /^smtp-(\d+)-[0-9a-z]+$/

/** Holds messages from DATA until they are answered. */
export interface SpoolFolder {
  open(id: string, maxBytes: number): Spool
}

/**
 * The spool in `path`, which is created when it is absent. Removes the files of processes that no longer run; several
 * processes of one machine may share the folder.
 */
export function openSpoolFolder(path: string): SpoolFolder {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(path)) {
    const pid = Number(spoolFileName.exec(name)?.[1])
    if (pid && (pid === process.pid || !isAlive(pid))) rmSync(join(path, name), { force: true })
  }
  const shared = { bytes: 0, limitWrites: limitConcurrency(maxConcurrentWrites) }
  return { open: (id, maxBytes) => new Spool(join(path, `smtp-${process.pid}-${id}`), maxBytes, shared) }
}

/** Shared by all messages under way: the bytes in memory, and the limit of concurrent writes. */
interface SharedBuffers {
  bytes: number
  readonly limitWrites: ReturnType<typeof limitConcurrency>
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM'
  }
}

/** The bytes of one message during DATA. Of a message past `maxBytes` the size is counted, and no byte is kept. */
export class Spool implements DataSink {
  /** All bytes that came, kept or not. */
  size = 0
  private chunks: Buffer[] = []
  private memoryBytes = 0
  /** The chunk that small ones are copied to, and its bytes in use. */
  private collected: Buffer | undefined
  private collectedBytes = 0
  private file: Promise<FileHandle> | undefined
  private writing: Promise<void> | undefined
  private writeError: unknown
  private isDiscarded = false
  private readonly path: string
  private readonly maxBytes: number
  private readonly shared: SharedBuffers

  constructor(path: string, maxBytes: number, shared: SharedBuffers) {
    this.path = path
    this.maxBytes = maxBytes
    this.shared = shared
  }

  get isTooLarge(): boolean {
    return this.size > this.maxBytes
  }

  write(bytes: Buffer): void {
    this.size += bytes.length
    if (this.isDiscarded) return
    if (this.isTooLarge || this.writeError !== undefined) {
      this.dropBytes()
      return
    }
    this.keep(bytes)
    const isLarge = this.size > maxMemoryBytes || this.shared.bytes > maxTotalMemoryBytes
    if (isLarge && !this.file) this.openFile()
    if (this.file && this.memoryBytes >= chunkBytes && !this.writing) this.startWriting()
  }

  /** Resolves when it takes more bytes; undefined: it takes them now. */
  backpressure(): Promise<void> | undefined {
    return this.writing
  }

  /** The message, once all of it came. @throws the error of writing the file */
  async finish(): Promise<MessageSource> {
    if (!this.file) return { kind: 'memory', bytes: this.takeChunks(), size: this.size }
    await this.writing
    if (this.memoryBytes > 0) this.startWriting()
    await this.writing
    if (this.writeError !== undefined) throw this.writeError
    return { kind: 'file', path: this.path, size: this.size }
  }

  /** Drops the bytes and removes the file. To be called once, at the end. */
  async discard(): Promise<void> {
    this.dropBytes()
    if (!this.file) return
    await this.writing
    const file = await this.file.catch(() => undefined)
    await file?.close()
    await rm(this.path, { force: true })
  }

  private openFile(): void {
    this.file = open(this.path, 'wx', 0o600)
    this.file.catch(error => {
      this.writeError ??= error
    })
  }

  private keep(bytes: Buffer): void {
    this.memoryBytes += bytes.length
    this.shared.bytes += bytes.length
    if (this.chunks.length < maxUncopiedChunks || bytes.length >= smallChunkBytes) {
      this.finishCollected()
      this.chunks.push(bytes)
      return
    }
    if (this.collected && this.collectedBytes + bytes.length > this.collected.length) this.finishCollected()
    this.collected ??= Buffer.allocUnsafe(chunkBytes)
    bytes.copy(this.collected, this.collectedBytes)
    this.collectedBytes += bytes.length
  }

  private finishCollected(): void {
    if (this.collected) this.chunks.push(this.collected.subarray(0, this.collectedBytes))
    this.collected = undefined
    this.collectedBytes = 0
  }

  private takeChunks(): Buffer {
    this.finishCollected()
    const only = this.chunks.length === 1 ? this.chunks[0] : undefined
    const bytes = only ?? Buffer.concat(this.chunks, this.memoryBytes)
    this.chunks = []
    return bytes
  }

  private startWriting(): void {
    const written = this.memoryBytes
    const bytes = this.takeChunks()
    this.memoryBytes = 0
    this.writing = this.shared
      .limitWrites(() => this.append(bytes))
      .catch(error => {
        this.writeError ??= error
      })
      .finally(() => {
        this.shared.bytes -= written
        this.writing = undefined
      })
  }

  private async append(bytes: Buffer): Promise<void> {
    const file = await this.file
    for (let at = 0; file && at < bytes.length; ) {
      const { bytesWritten } = await file.write(bytes, at)
      at += bytesWritten
    }
    releaseMemory(bytes)
  }

  private dropBytes(): void {
    this.isDiscarded = true
    this.shared.bytes -= this.memoryBytes
    this.memoryBytes = 0
    this.chunks = []
    this.collected = undefined
    this.collectedBytes = 0
  }
}
