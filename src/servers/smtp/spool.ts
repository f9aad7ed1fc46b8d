import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { limitConcurrency } from '../../base/concurrency/semaphore.ts'
import type { MessageSource } from '../../mail/message-source.ts'
import type { DataSink } from './data-decoder.ts'

/** A message stays in memory up to this; past it, it goes to a file. */
const maxMemoryBytes = 256 * 1024
/** What all messages under way may hold in memory together; past it they go to files earlier. */
const maxMemoryBytesInAll = 64 * 1024 * 1024
/** A file is written in pieces of about this size. */
const pieceBytes = 64 * 1024
/** So many pieces are kept as they came; after them small ones are gathered, since each costs more than it holds. */
const maxLoosePieces = 16
const smallPieceBytes = 4096
/** Who waits to write takes nothing from its client: so many pieces at most come in one turn of the event loop. */
const maxWritesAtOnce = 8

const fileForm = /^smtp-(\d+)-[0-9a-z]+$/

/** Where messages are kept while they come in and until they are answered. */
export interface SpoolFolder {
  open(id: string, maxBytes: number): Spool
}

/**
 * The spool in `path`, which is made when it is absent. Files that a process left behind which is no longer there are
 * removed; processes on one machine may share the folder.
 */
export function openSpoolFolder(path: string): SpoolFolder {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(path)) {
    const pid = Number(fileForm.exec(name)?.[1])
    if (pid && (pid === process.pid || !isAlive(pid))) rmSync(join(path, name), { force: true })
  }
  const shared = { bytes: 0, inTurn: limitConcurrency(maxWritesAtOnce) }
  return { open: (id, maxBytes) => new Spool(join(path, `smtp-${process.pid}-${id}`), maxBytes, shared) }
}

/** What the messages under way share: the bytes that they hold in memory, and the turns to write to files. */
interface SharedBuffers {
  bytes: number
  readonly inTurn: ReturnType<typeof limitConcurrency>
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM'
  }
}

/** The bytes of one message while they come in. What goes past `maxBytes` is counted but not kept, and neither is the rest. */
export class Spool implements DataSink {
  /** All that came, kept or not. */
  size = 0
  private pieces: Buffer[] = []
  private memoryBytes = 0
  /** Room for small pieces, and how much of it is used. */
  private gathering: Buffer | undefined
  private gathered = 0
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
      this.letGo()
      return
    }
    this.hold(bytes)
    const isMuch = this.size > maxMemoryBytes || this.shared.bytes > maxMemoryBytesInAll
    if (isMuch && !this.file) this.openFile()
    if (this.file && this.memoryBytes >= pieceBytes && !this.writing) this.startWriting()
  }

  /** Resolves when more may be written; undefined: now. */
  backpressure(): Promise<void> | undefined {
    return this.writing
  }

  /** The message, once all of it came. @throws what kept the file from being written. */
  async finish(): Promise<MessageSource> {
    if (!this.file) return { kind: 'memory', bytes: this.takePieces(), size: this.size }
    await this.writing
    if (this.memoryBytes > 0) this.startWriting()
    await this.writing
    if (this.writeError !== undefined) throw this.writeError
    return { kind: 'file', path: this.path, size: this.size }
  }

  /** Forgets the bytes and removes the file. To be called once, at the end. */
  async discard(): Promise<void> {
    this.letGo()
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

  private hold(bytes: Buffer): void {
    this.memoryBytes += bytes.length
    this.shared.bytes += bytes.length
    if (this.pieces.length < maxLoosePieces || bytes.length >= smallPieceBytes) {
      this.seal()
      this.pieces.push(bytes)
      return
    }
    if (this.gathering && this.gathered + bytes.length > this.gathering.length) this.seal()
    this.gathering ??= Buffer.allocUnsafe(pieceBytes)
    bytes.copy(this.gathering, this.gathered)
    this.gathered += bytes.length
  }

  private seal(): void {
    if (this.gathering) this.pieces.push(this.gathering.subarray(0, this.gathered))
    this.gathering = undefined
    this.gathered = 0
  }

  private takePieces(): Buffer {
    this.seal()
    const only = this.pieces.length === 1 ? this.pieces[0] : undefined
    const bytes = only ?? Buffer.concat(this.pieces, this.memoryBytes)
    this.pieces = []
    return bytes
  }

  private startWriting(): void {
    const written = this.memoryBytes
    const bytes = this.takePieces()
    this.memoryBytes = 0
    this.writing = this.shared
      .inTurn(() => this.append(bytes))
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
    letGoOf(bytes)
  }

  private letGo(): void {
    this.isDiscarded = true
    this.shared.bytes -= this.memoryBytes
    this.memoryBytes = 0
    this.pieces = []
    this.gathering = undefined
    this.gathered = 0
  }
}

/**
 * Gives the memory of a large piece back at once; nobody has it any more but us. With many clients at the same time the
 * collector would come hundreds of megabytes later.
 */
function letGoOf({ buffer, byteLength }: Buffer): void {
  if (byteLength >= pieceBytes && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}
