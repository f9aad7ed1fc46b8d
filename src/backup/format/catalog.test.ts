import { expect, test } from 'bun:test'
import { openEarlierCatalog, writeCatalogEntry } from './catalog.ts'

const files = ['1', '2', '3'].map(name => ({ name, bytes: 0, sha256: '' }))
const lines: Readonly<Record<string, readonly string[]>> = {
  1: [writeCatalogEntry(['b', ['s1']]), writeCatalogEntry(['d', ['s1', 's2']])],
  2: [],
  3: [writeCatalogEntry(['f', ['gone']]), writeCatalogEntry(['h', []]), writeCatalogEntry(['j', ['s2']])],
}

test('an earlier catalog finds the blobs in usable segments, looked up in the order of ids', async () => {
  const earlier = openEarlierCatalog(
    files,
    async file => lines[file.name] ?? [],
    segment => segment !== 'gone',
  )
  const found: Record<string, readonly string[] | undefined> = {}
  for (const id of ['a', 'b', 'c', 'd', 'f', 'g', 'h', 'j', 'k']) found[id] = await earlier.segmentsOf(id)
  expect(found).toEqual({
    a: undefined,
    b: ['s1'],
    c: undefined,
    d: ['s1', 's2'],
    f: undefined,
    g: undefined,
    h: undefined,
    j: ['s2'],
    k: undefined,
  })
})
