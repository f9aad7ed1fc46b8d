import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/**
 * The layers of `src`, the first at the top: a file imports from its own layer and from those before it, types included.
 * `app` joins all features, `main.ts` serves what it joined, and the operator's commands, which serve too, come last.
 */
const layers = [
  'base',
  'mail',
  'ports',
  'api',
  'accounts',
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
] as const

interface Import {
  readonly file: string
  /** Nothing of it is left when the program runs. */
  readonly isOfTypes: boolean
}

/** Files, as paths below `src`, and what each imports; the file that a worker is made from counts too. */
type Graph = ReadonlyMap<string, readonly Import[]>

const importForm = /\b(?:import|export)\s([^'"]*?)\bfrom\s*['"](\.{1,2}\/[^'"]+)['"]/g
const otherForm = /\b(?:import|import\(|new URL\()\s*['"](\.{1,2}\/[^'"]+\.ts)['"]/g

function readImports(file: string, source: string): readonly Import[] {
  const named = [...source.matchAll(importForm)].map(([, names = '', path = '']) => ({
    path,
    isOfTypes: areTypes(names),
  }))
  const others = [...source.matchAll(otherForm)].map(([, path = '']) => ({ path, isOfTypes: false }))
  return [...named, ...others]
    .map(each => ({ file: normalize(join(dirname(file), each.path)), isOfTypes: each.isOfTypes }))
    .filter(each => !each.file.startsWith('..'))
}

function areTypes(names: string): boolean {
  const specifiers = /^\{([^}]*)\}\s*$/
    .exec(names)?.[1]
    ?.split(',')
    .filter(each => each.trim())
  return names.startsWith('type ') || (specifiers?.every(each => each.trim().startsWith('type ')) ?? false)
}

function readGraph(): Graph {
  const src = join(import.meta.dir, '../src')
  const files = [...new Bun.Glob('**/*.ts').scanSync(src)].sort()
  return new Map(files.map(file => [file, readImports(file, readFileSync(join(src, file), 'utf8'))]))
}

function layerOf(file: string): number {
  return (layers as readonly string[]).indexOf(file.split('/')[0] ?? '')
}

function unknownFolders(graph: Graph): readonly string[] {
  return [...graph.keys()].filter(file => layerOf(file) < 0)
}

function wrongArrows(graph: Graph): readonly string[] {
  return [...graph].flatMap(([file, imports]) =>
    imports.filter(each => layerOf(each.file) > layerOf(file)).map(each => `${file} imports ${each.file}`),
  )
}

/** One circle of what is there when the program runs: the files on it, the first again at its end; else empty. */
function findCircle(graph: Graph): readonly string[] {
  const done = new Set<string>()
  const walk = (file: string, path: readonly string[]): readonly string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return []
    for (const each of graph.get(file) ?? []) {
      if (each.isOfTypes) continue
      const circle = walk(each.file, [...path, file])
      if (circle.length > 0) return circle
    }
    done.add(file)
    return []
  }
  for (const file of graph.keys()) {
    const circle = walk(file, [])
    if (circle.length > 0) return circle
  }
  return []
}

const source = readGraph()

test('every file is in a known layer', () => {
  expect(source.size).toBeGreaterThan(20)
  expect(unknownFolders(source)).toEqual([])
})

test('no file imports from a layer below its own', () => {
  expect(wrongArrows(source)).toEqual([])
})

test('no file imports itself by way of others', () => {
  expect(findCircle(source)).toEqual([])
})

test('the imports of a file are seen, and which are of types alone', () => {
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
    { file: 'mail/a.ts', isOfTypes: true },
    { file: 'base/b.ts', isOfTypes: true },
    { file: 'mail/d.ts', isOfTypes: false },
    { file: 'mail/e.ts', isOfTypes: false },
    { file: 'mail/f.ts', isOfTypes: false },
    { file: 'mail/g.ts', isOfTypes: false },
  ])
})

function graphOf(files: Readonly<Record<string, readonly Import[]>>): Graph {
  return new Map(Object.entries(files))
}

const value = (file: string): Import => ({ file, isOfTypes: false })
const type = (file: string): Import => ({ file, isOfTypes: true })

const good = {
  'base/ids.ts': [],
  'mail/address.ts': [value('base/ids.ts')],
  'sending/send.ts': [value('mail/address.ts'), type('base/ids.ts')],
  'main.ts': [value('sending/send.ts')],
  'cli/up.ts': [value('main.ts')],
}

test('a good graph passes', () => {
  const graph = graphOf(good)
  expect([unknownFolders(graph), wrongArrows(graph), findCircle(graph)]).toEqual([[], [], []])
})

test.each([value, type])('a wrong arrow is caught, also one of types', arrow => {
  const graph = graphOf({ ...good, 'mail/address.ts': [arrow('sending/send.ts')] })
  expect(wrongArrows(graph)).toEqual(['mail/address.ts imports sending/send.ts'])
})

test('an unknown folder is caught', () => {
  expect(unknownFolders(graphOf({ ...good, 'utils/text.ts': [] }))).toEqual(['utils/text.ts'])
})

test('a circle is caught, also one within a layer', () => {
  const files = {
    ...good,
    'base/ids.ts': [value('base/clock.ts')],
    'base/clock.ts': [value('base/log.ts')],
    'base/log.ts': [value('base/ids.ts')],
  }
  expect(findCircle(graphOf(files))).toEqual(['base/ids.ts', 'base/clock.ts', 'base/log.ts', 'base/ids.ts'])
  expect(findCircle(graphOf({ ...files, 'base/log.ts': [type('base/ids.ts')] }))).toEqual([])
})
