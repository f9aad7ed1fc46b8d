import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of `./mailroom`. */
export const rootFolder = join(import.meta.dir, '../../..')

export const sourcesFolder = join(rootFolder, 'src')

/** A source that says by `import.meta` where it is. */
export interface LocatedSource {
  readonly path: string
  /** The entry files of the workers that it starts. */
  readonly workers: readonly string[]
}

/** How a source names the entry file of a worker: relative to itself. */
export const workerEntry = /new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/g

/** All sources of the program that use `import.meta`. */
export function findLocatedSources(): readonly LocatedSource[] {
  return [...new Bun.Glob('**/*.ts').scanSync(sourcesFolder)]
    .filter(file => !/^dashboard\/|\.test\.ts$/.test(file))
    .map(file => join(sourcesFolder, file))
    .flatMap(path => {
      const text = readFileSync(path, 'utf8')
      const workers = Array.from(text.matchAll(workerEntry), ([, name]) => join(dirname(path), `${name}.ts`))
      return text.includes('import.meta.') ? [{ path, workers }] : []
    })
}
