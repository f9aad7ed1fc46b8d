import { beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildDashboard } from '../../src/cli/dashboard/build.ts'
import { type DashboardManifest, dashboardFolder } from '../../src/servers/http/dashboard/manifest.ts'

/** What a browser fetches before a screen is there, compressed with gzip, in KiB. */
const maxFirst = 150
const maxScreen = 90
const maxStyles = 25

let manifest: DashboardManifest

beforeAll(async () => {
  manifest = await buildDashboard()
}, 60_000)

const read = (name: string) => readFileSync(join(dashboardFolder, name), 'utf8')
const kib = (name: string) => (manifest.files[name]?.gzip?.bytes ?? manifest.files[name]?.bytes ?? 0) / 1024
const total = (names: Iterable<string>) => [...names].reduce((sum, name) => sum + kib(name), 0)
const filesOf = (suffix: string) => Object.keys(manifest.files).filter(name => name.endsWith(suffix))

const importBefore = /(?:\bfrom|\bimport)\s*["'][^"']*?([\w-]+\.js)["']/g
/** Also what a script fetches later, such as an editor after the screen around it. */
const importEver = /(?:\bfrom|\bimport)\s*\(?\s*["'][^"']*?([\w-]+\.js)["']/g

/** Scripts and all that they import. Those of `known`, and what these import, are left out. */
function withImports(names: readonly string[], imports: RegExp, known: ReadonlySet<string> = new Set()) {
  const found = new Set<string>()
  const add = (name: string) => {
    if (found.has(name) || known.has(name) || !manifest.files[name]) return
    found.add(name)
    for (const [, imported = ''] of read(name).matchAll(imports)) add(imported)
  }
  for (const name of names) add(name)
  return found
}

/** The chunks that are loaded when a screen is opened, without those of the page itself. */
const chunks = (pattern: RegExp) => filesOf('.js').filter(name => pattern.test(name))

/** What is there once a person has signed in and sees Today. */
function firstScripts(): ReadonlySet<string> {
  const entries = Array.from(read(manifest.index).matchAll(/src="[^"]*?([\w-]+\.js)"/g), ([, name = '']) => name)
  expect(entries.length).toBeGreaterThan(0)
  const screens = chunks(/^(?:SignInScreen|OrganizationLayout|TodayScreen)-/)
  expect(screens).toHaveLength(3)
  return withImports([...entries, ...screens], importBefore)
}

test(`sign-in and Today load at most ${maxFirst} KiB of JavaScript`, () => {
  const size = total(firstScripts())
  process.stdout.write(`sign-in and Today: ${size.toFixed(1)} KiB of JavaScript, gzip\n`)
  expect(size).toBeLessThan(maxFirst)
})

test(`each further screen loads at most ${maxScreen} KiB more, with what it loads later`, () => {
  const first = firstScripts()
  const sizes = chunks(/^[A-Z]\w*-/)
    .filter(name => !first.has(name))
    .map(name => ({ name, size: total(withImports([name], importEver, first)) }))
    .sort((a, b) => b.size - a.size)
  for (const { name, size } of sizes.slice(0, 6)) process.stdout.write(`${name}: ${size.toFixed(1)} KiB, gzip\n`)
  expect(sizes.length).toBeGreaterThan(10)
  expect(sizes.filter(({ size }) => size > maxScreen)).toEqual([])
  const sizeOf = (screen: string) => sizes.find(({ name }) => name.startsWith(`${screen}-`))?.size
  expect(sizeOf('TemplateScreen')).toBeGreaterThan(sizeOf('CodeEditor') ?? Number.NaN)
})

test(`the styles are at most ${maxStyles} KiB`, () => {
  const size = total(filesOf('.css'))
  process.stdout.write(`styles: ${size.toFixed(1)} KiB, gzip\n`)
  expect(size).toBeGreaterThan(1)
  expect(size).toBeLessThan(maxStyles)
})
