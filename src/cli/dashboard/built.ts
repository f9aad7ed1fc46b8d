import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readManifest } from '../../servers/http/dashboard/manifest.ts'
import { checkoutFolder, sourcesFolder } from './paths.ts'
import { hashSources } from './sources.ts'

/**
 * Builds the dashboard when this is a checkout with the packages for it and the built files are absent, or of other
 * sources. Takes about a second, in a process of its own, so that the bundler's memory is given back. A build that fails
 * is told on standard error and stops nothing: the files of the build before are served, or none.
 */
export async function buildWhenOutdated(): Promise<void> {
  if (!isCheckout() || readManifest()?.sources_sha256 === hashSources()) return
  const build = Bun.spawn([process.execPath, '--no-env-file', join(import.meta.dir, 'build-command.ts')], {
    cwd: checkoutFolder,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const errors = await new Response(build.stderr).text()
  if ((await build.exited) !== 0) process.stderr.write(`mailroom: the dashboard could not be built: ${errors.trim()}\n`)
}

/** An image has no sources, and an installation for production has no packages that build them. */
function isCheckout(): boolean {
  const files = [
    join(sourcesFolder, 'index.html'),
    join(checkoutFolder, 'node_modules/tailwindcss'),
    join(checkoutFolder, 'node_modules/react'),
  ]
  return files.every(existsSync)
}
