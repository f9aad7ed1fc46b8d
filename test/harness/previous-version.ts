import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from './cli.ts'

/** A checkout of the previous version, with the current node_modules. */
export interface PreviousVersion {
  readonly path: string
  remove(): void
}

/**
 * Unpacks the previous version from the repository's history; its commit is in `test/fixtures/previous-version`.
 * @throws when the history does not contain it, as in a shallow clone
 */
export function unpackPreviousVersion(): PreviousVersion {
  const commit = readFileSync(join(projectRoot, 'test/fixtures/previous-version'), 'utf8').trim()
  const path = mkdtempSync(join(tmpdir(), 'mailroom-previous-'))
  const unpacked = Bun.spawnSync([
    '/bin/sh',
    '-c',
    'git -C "$1" archive "$2" | tar -x -C "$3"',
    'sh',
    projectRoot,
    commit,
    path,
  ])
  if (unpacked.stderr.length > 0)
    throw new Error(`${commit} is needed from the history (git fetch --unshallow brings it): ${unpacked.stderr}`)
  // Otherwise it would install its own libraries into our node_modules.
  for (const file of ['package.json', 'bun.lock']) cpSync(join(projectRoot, file), join(path, file))
  symlinkSync(join(projectRoot, 'node_modules'), join(path, 'node_modules'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
