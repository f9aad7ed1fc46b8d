/** Where a backup is written to: a folder (folder.ts) or a stream (tar.ts). */
export interface BackupSink {
  /** Writes a file under a name that is not in use; it is durable then, as far as the sink allows. */
  write(name: string, bytes: Uint8Array): Promise<void>
  /** Writes the manifest, which completes the backup. */
  finish(manifest: Uint8Array): Promise<void>
  /** Removes what was written, where that is possible. */
  abandon(): Promise<void>
}
