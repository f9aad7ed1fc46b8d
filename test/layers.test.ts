import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/**
 * The layers of `src`, the first at the top: a file imports from its own layer and from those before it, types included.
 * `app` joins all features, `main.ts` serves what it joined, and the operator's commands, which serve too, come last.
 * `dashboard` runs in the browser: it imports from no other layer, and no other imports from it.
 */
const layers = [
  'base',
  'mail',
  'ports',
  'api',
  'accounts',
  'events',
  'domains',
  'sending',
  'inbox',
  'receiving',
  'retention',
  'backup',
  'health',
  'servers',
  'app',
  'main.ts',
  'cli',
  'dashboard',
] as const

/** Files, as paths below `src`, and the files each imports, types included; a worker's entry file counts as an import. */
type ImportGraph = ReadonlyMap<string, readonly string[]>

const importPath = /(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*['"](\.{1,2}\/[^'"]+)['"]/g

function readImports(file: string, source: string): readonly string[] {
  return [...source.matchAll(importPath)]
    .map(([, path = '']) => normalize(join(dirname(file), path)))
    .filter(path => !path.startsWith('..'))
}

function readGraph(): ImportGraph {
  const src = join(import.meta.dir, '../src')
  const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(src)].sort()
  return new Map(files.map(file => [file, readImports(file, readFileSync(join(src, file), 'utf8'))]))
}

function layerOf(file: string): number {
  return (layers as readonly string[]).indexOf(file.split('/')[0] ?? '')
}

function filesWithoutLayer(graph: ImportGraph): readonly string[] {
  return [...graph.keys()].filter(file => layerOf(file) < 0)
}

function wrongImports(graph: ImportGraph): readonly string[] {
  return [...graph].flatMap(([file, imports]) =>
    imports.filter(imported => !mayImport(file, imported)).map(imported => `${file} imports ${imported}`),
  )
}

function mayImport(file: string, imported: string): boolean {
  const isPage = [file, imported].map(path => path.startsWith('dashboard/'))
  return isPage[0] === isPage[1] && layerOf(imported) <= layerOf(file)
}

/** One import cycle: the files on it, the first again at its end; empty when there is none. */
function findCycle(graph: ImportGraph): readonly string[] {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): readonly string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return []
    for (const imported of graph.get(file) ?? []) {
      const cycle = visit(imported, [...path, file])
      if (cycle.length > 0) return cycle
    }
    done.add(file)
    return []
  }
  for (const file of graph.keys()) {
    const cycle = visit(file, [])
    if (cycle.length > 0) return cycle
  }
  return []
}

const source = readGraph()

test('every file is in a known layer', () => {
  expect(source.size).toBeGreaterThan(20)
  expect(filesWithoutLayer(source)).toEqual([])
})

test('no file imports from a layer below its own', () => {
  expect(wrongImports(source)).toEqual([])
})

test('the client imports only its own files, and the page imports its types alone', () => {
  const root = join(import.meta.dir, '..')
  const files = [...new Bun.Glob('client/src/**/*.ts').scanSync(root)]
  expect(files.length).toBeGreaterThan(10)
  const imported = files.flatMap(file =>
    Array.from(readFileSync(join(root, file), 'utf8').matchAll(/\bfrom '([^']+)'/g), ([, path = '']) =>
      join(dirname(file), path),
    ),
  )
  expect(imported.filter(path => !files.includes(path))).toEqual([])
  const others = [...source.keys()].flatMap(file =>
    Array.from(readFileSync(join(root, 'src', file), 'utf8').matchAll(/.* from '[./]+\/client\/.*/g), ([line]) => [
      file,
      line,
    ]),
  )
  // Types leave nothing behind in a build, which has `src` alone.
  const types = "export type { components, paths } from '../../../client/src/generated/api.ts'"
  expect(others).toEqual([['dashboard/api/v1.ts', types]])
})

test('no file imports itself through others', () => {
  expect(findCycle(source)).toEqual([])
})

test('every form of import is read', () => {
  const source = `
    import type { A } from './a.ts'
    import { type B, type C } from '../base/b.ts'
    import {
      type D,
      d,
    } from './d.ts'
    import { readFile } from 'node:fs/promises'
    export { e } from './e.ts'
    const f = await import('./f.ts')
    const worker = new Worker(new URL('./g.ts', import.meta.url))
  `
  expect(readImports('mail/x.ts', source)).toEqual([
    'mail/a.ts',
    'base/b.ts',
    'mail/d.ts',
    'mail/e.ts',
    'mail/f.ts',
    'mail/g.ts',
  ])
})

function graphOf(files: Readonly<Record<string, readonly string[]>>): ImportGraph {
  return new Map(Object.entries(files))
}

const good = {
  'base/ids.ts': [],
  'mail/address.ts': ['base/ids.ts'],
  'sending/send.ts': ['mail/address.ts', 'base/ids.ts'],
  'main.ts': ['sending/send.ts'],
  'cli/up.ts': ['main.ts'],
}

test('a correct graph passes', () => {
  const graph = graphOf(good)
  expect([filesWithoutLayer(graph), wrongImports(graph), findCycle(graph)]).toEqual([[], [], []])
})

test('an import from a lower layer is found', () => {
  const graph = graphOf({ ...good, 'mail/address.ts': ['sending/send.ts'] })
  expect(wrongImports(graph)).toEqual(['mail/address.ts imports sending/send.ts'])
})

test('the dashboard imports from itself alone', () => {
  const graph = graphOf({ ...good, 'dashboard/a.tsx': ['dashboard/b.ts'], 'dashboard/b.ts': ['base/ids.ts'] })
  expect(wrongImports(graph)).toEqual(['dashboard/b.ts imports base/ids.ts'])
})

test('an unknown folder is found', () => {
  expect(filesWithoutLayer(graphOf({ ...good, 'utils/text.ts': [] }))).toEqual(['utils/text.ts'])
})

test('a cycle is found, also within one layer', () => {
  const graph = graphOf({
    ...good,
    'base/ids.ts': ['base/clock.ts'],
    'base/clock.ts': ['base/log.ts'],
    'base/log.ts': ['base/ids.ts'],
  })
  expect(findCycle(graph)).toEqual(['base/ids.ts', 'base/clock.ts', 'base/log.ts', 'base/ids.ts'])
})
