import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkoutFolder, sourcePatterns } from './paths.ts'

/** The SHA-256, in hex, of what the dashboard is built from: names and contents, without tests. */
export function hashSources(): string {
  const hash = new Bun.CryptoHasher('sha256')
  for (const file of listSources())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(checkoutFolder, file)))
      .update('\0')
  return hash.digest('hex')
}

function listSources(): readonly string[] {
  const files = sourcePatterns.flatMap(pattern => [...new Bun.Glob(pattern).scanSync(checkoutFolder)])
  return files.filter(file => !/\.test\.tsx?$/.test(file)).sort()
}
