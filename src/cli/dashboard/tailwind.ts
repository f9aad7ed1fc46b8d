import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { Scanner } from '@tailwindcss/oxide'
import type { BunPlugin } from 'bun'
import { compile } from 'tailwindcss'

/**
 * Compiles `styles/main.css`, which imports Tailwind: with the rules of the class names that are found in
 * the `.ts`, `.tsx` and `.html` files below `folder`, and with the rules of `fonts`.
 */
export function tailwind(folder: string, fonts: string): BunPlugin {
  return {
    name: 'tailwind',
    setup(build) {
      build.onLoad({ filter: /\/styles\/main\.css$/ }, async ({ path }) => {
        const compiler = await compile(readFileSync(path, 'utf8'), { base: dirname(path), loadStylesheet })
        const scanner = new Scanner({ sources: [{ base: folder, pattern: '**/*.{ts,tsx,html}', negated: false }] })
        return { contents: `${compiler.build(scanner.scan())}\n${fonts}`, loader: 'css' }
      })
    },
  }
}

async function loadStylesheet(id: string, base: string) {
  const path = id === 'tailwindcss' ? Bun.resolveSync('tailwindcss/index.css', base) : Bun.resolveSync(id, base)
  return { path, base: dirname(path), content: readFileSync(path, 'utf8') }
}
