import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A font file under the name that it is served with. */
export interface FontFile {
  readonly name: string
  readonly bytes: Uint8Array
}

/** Where the built files are served. */
export const assetsPath = '/app/assets/'

/**
 * The typeface Inter, variable in weight: its `@font-face` rules, which lead to `/app/assets/`, and its files, one for each
 * range of characters, of which a browser fetches those that a page needs. Bun's bundler would write all of them into the
 * style sheet as `data:` URLs, which `font-src 'self'` refuses.
 */
export function readFonts(): { readonly css: string; readonly files: readonly FontFile[] } {
  const path = Bun.resolveSync('@fontsource-variable/inter/wght.css', import.meta.dir)
  const files = new Map<string, FontFile>()
  const css = readFileSync(path, 'utf8').replace(/url\(\.\/(files\/[^)]+)\)/g, (_, file: string) => {
    const font = files.get(file) ?? readFont(join(dirname(path), file))
    files.set(file, font)
    return `url(${assetsPath}${font.name})`
  })
  return { css, files: [...files.values()] }
}

function readFont(path: string): FontFile {
  const bytes = readFileSync(path)
  const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 8)
  return { name: `${path.slice(path.lastIndexOf('/') + 1, -'.woff2'.length)}-${hash}.woff2`, bytes }
}
