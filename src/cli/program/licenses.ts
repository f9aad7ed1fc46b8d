import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The folders of the packages that these files are in. */
export function packagesOf(files: readonly string[]): readonly string[] {
  const folders = files.map(file => /.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(resolve(file))?.[0])
  return [...new Set(folders.filter(folder => folder !== undefined))].sort()
}

/** The texts that their licenses ask to be passed on with their code, each below the packages that it is for. */
export function readLicenses(folders: readonly string[]): string {
  const packagesByText = new Map<string, Set<string>>()
  for (const folder of folders) {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const files = readdirSync(folder, { withFileTypes: true }).filter(
      file => file.isFile() && /^(?:licen[cs]e|copying|notice)/i.test(file.name),
    )
    const text = files.map(file => readFileSync(join(folder, file.name), 'utf8').trim()).join('\n\n')
    const packages = packagesByText.get(text) ?? new Set()
    packagesByText.set(text, packages.add(`${name} ${version} (${license})`))
  }
  const line = `\n${'-'.repeat(72)}\n\n`
  return [...packagesByText].map(([text, packages]) => `${[...packages].join('\n')}\n\n${text}\n`).join(line)
}
