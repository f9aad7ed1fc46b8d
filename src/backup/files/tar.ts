import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { extract, pack } from 'tar-stream'
import { CommandError } from '../../base/operator-error.ts'
import { manifestName } from './names.ts'
import type { BackupSink } from './sink.ts'

/** Writes a backup as one stream: a tar archive of what a folder of backups would contain, with the manifest at its end. */
export function tarSink(id: string, output: NodeJS.WritableStream): BackupSink {
  const archive = pack()
  const written = pipeline(archive, output)
  // The next write reports the error.
  written.catch(() => undefined)
  const write = (name: string, bytes: Uint8Array) =>
    Promise.race([
      written.then(() => {
        throw new CommandError('The stream was closed before the backup was complete.')
      }),
      new Promise<void>((done, fail) =>
        archive.entry({ name, size: bytes.length, mode: 0o600 }, Buffer.from(bytes), error =>
          error ? fail(error) : done(),
        ),
      ),
    ])
  return {
    write,
    async finish(manifest) {
      await write(manifestName(id), manifest)
      archive.finalize()
      await written
    },
    async abandon() {
      archive.destroy()
    },
  }
}

/** Unpacks such a stream into a folder. @throws CommandError when it is not a tar archive or is cut short */
export async function unpackTar(input: NodeJS.ReadableStream, folder: string): Promise<void> {
  const archive = extract()
  const unpacking = (async () => {
    for await (const entry of archive) {
      const { name, type } = entry.header
      if (type !== 'file' || normalize(name).startsWith('..') || !/^(backups|segments)\//.test(name)) {
        entry.resume()
        continue
      }
      const path = join(folder, name)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await pipeline(entry, createWriteStream(path, { mode: 0o600 }))
    }
  })()
  try {
    await Promise.all([pipeline(input, archive), unpacking])
  } catch (error) {
    throw new CommandError(`The stream is not a backup, or is cut short: ${(error as Error).message}.`)
  }
}
