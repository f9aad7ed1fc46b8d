import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const src = join(import.meta.dir, '../src')
const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(src)]
  .filter(file => !/\.test\.tsx?$|^dashboard\/api\/generated\//.test(file))
  .sort()
const sources = new Map(files.map(file => [file, readFileSync(join(src, file), 'utf8')]))

const definition = /^ *(?:export )?(?:abstract )?(?:type (\w+)(?:<[^=]*>)? ?=|(?:interface|class) (\w+))/gm

/**
 * The names of types that have several definitions in src, with the files that define them. The page names things of the
 * server after the server's types: only what is defined twice on one side is counted.
 */
function ambiguousTypes(): ReadonlyMap<string, readonly string[]> {
  const definitions = [...sources].flatMap(([file, source]) =>
    [...source.matchAll(definition)].map(match => ({ name: match[1] ?? match[2] ?? '', file })),
  )
  const byName = Map.groupBy(definitions, ({ name, file }) =>
    file.startsWith('dashboard/') ? `${name} of the page` : name,
  )
  return new Map(
    [...byName].filter(([, all]) => all.length > 1).map(([name, all]) => [name, all.map(({ file }) => file)]),
  )
}

/** A source without its comments, strings and regular expressions' texts: what is left are identifiers and signs. */
function codeOf(source: string): string {
  return source
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|[^:'"`])\/\/.*$/gm, '$1')
    .replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
    .replace(/`(?:[^`\\]|\\.)*`/g, text => [...text.matchAll(/\$\{([^}]*)\}/g)].map(([, code]) => code).join(' '))
}

/** The words of the identifiers of a source, in lower case: `keepReports` has `keep` and `reports`. */
function identifierWords(source: string): readonly string[] {
  return [...codeOf(source).matchAll(/[A-Za-z_$][\w$]*/g)].flatMap(([identifier]) =>
    identifier.split(/_|(?<=[a-z0-9])(?=[A-Z])/).map(word => word.toLowerCase()),
  )
}

/**
 * Words that have a standard one in this field, as parts of identifiers. `each`, `told` and the like hide what a variable
 * holds; the others are a dialect of our own.
 */
const nonStandardWords = [
  ...['bell', 'deed', 'lane', 'lanes', 'shelf', 'shelves', 'door', 'doors', 'wayin', 'wayout', 'carrier', 'pace'],
  ...['told', 'tell', 'tells', 'telling', 'said', 'says', 'trouble', 'troubles', 'news', 'whose', 'outline'],
]

/** Files in which such a word is the fixed name of a column, an option or a metric's label, or text that is looked for. */
const fixedNames: Readonly<Record<string, readonly string[]>> = {
  news: ['base/database/schema.ts', 'ports/provider/simulator/table.ts'],
  pace: ['cli/backup/create.ts'],
  said: ['mail/reports/enhanced-status.ts', 'mail/reports/nonstandard-bounce.ts'],
  trouble: ['receiving/smtp-refusal.ts'],
}

const mostEach = 50
const mostFilesInFolder = 20
const foldersWithMore = ['base/database/migrations', 'cli']

function countedWords(words: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = [...sources].flatMap(([file, source]) =>
    identifierWords(source)
      .filter(word => words.includes(word) && !fixedNames[word]?.includes(file))
      .map(word => ({ word, file })),
  )
  return new Map([...Map.groupBy(found, ({ word }) => word)].map(([word, all]) => [word, all.map(({ file }) => file)]))
}

test('at most 25 names of types have several definitions', () => {
  const ambiguous = ambiguousTypes()
  process.stdout.write(`type names with several definitions: ${ambiguous.size} (${[...ambiguous.keys()].join(', ')})\n`)
  expect(ambiguous.size).toBeLessThanOrEqual(25)
})

test('no identifier holds a word of a private dialect', () => {
  const found = Object.fromEntries([...countedWords(nonStandardWords)].map(([word, all]) => [word, [...new Set(all)]]))
  expect(found).toEqual({})
})

test('what a function depends on is called deps', () => {
  const named = [...sources]
    .filter(([, source]) => /(?<![.\w])use(?:: |[.,)])/.test(codeOf(source)))
    .map(([file]) => file)
  expect(named).toEqual([])
})

test('`each` is rare as a name', () => {
  const count = countedWords(['each']).get('each')?.length ?? 0
  process.stdout.write(`each as an identifier: ${count}\n`)
  expect(count).toBeLessThan(mostEach)
})

test(`no folder has more than ${mostFilesInFolder} files`, () => {
  const folders = [...new Set(files.map(file => file.split('/').slice(0, -1).join('/')))]
  const counts = folders.map(folder => ({
    folder,
    files: readdirSync(join(src, folder), { withFileTypes: true }).filter(entry => entry.isFile()).length,
  }))
  expect(counts.filter(each => each.files > mostFilesInFolder && !foldersWithMore.includes(each.folder))).toEqual([])
})

test('comments, strings and parts of words do not count', () => {
  expect(identifierWords(`const a = 'told' // told\n/* told */ const untold = "told" + \`told \${tellAll}\``)).toEqual(
    expect.not.arrayContaining(['told']),
  )
  expect(identifierWords('keepReports(tellAll, snake_case)')).toEqual([
    'keep',
    'reports',
    'tell',
    'all',
    'snake',
    'case',
  ])
})
