import { expect, test } from 'bun:test'
import { type CsvPiece, csvPieces } from './csv-pieces.ts'

async function piecesOf(text: string): Promise<readonly CsvPiece[]> {
  return Array.fromAsync(csvPieces(new Blob([text])))
}

test('a small file is one piece, and an empty one is none', async () => {
  expect(await piecesOf('email\na@x.test\nb@x.test')).toEqual([
    { header: 'email', lines: 'a@x.test\nb@x.test', firstLine: 2, progress: 1 },
  ])
  expect(await piecesOf('email\n')).toEqual([{ header: 'email', lines: '', firstLine: 2, progress: 1 }])
  expect(await piecesOf('')).toEqual([])
})

test('pieces have each line once, with the number that it has in the file', async () => {
  const lines = Array.from({ length: 1201 }, (_, i) => `p${i}@x.test`)
  const pieces = await piecesOf(`email\n${lines.join('\n')}\n`)
  expect(pieces.map(({ firstLine }) => firstLine)).toEqual([2, 502, 1002])
  expect(pieces.flatMap(piece => piece.lines.trimEnd().split('\n'))).toEqual(lines)
})

test('no piece ends within quotes, and an open quote ends after a hundred lines', async () => {
  const before = Array.from({ length: 499 }, (_, i) => `p${i}@x.test,`).join('\n')
  const [first, second] = await piecesOf(`email,evidence\n${before}\nq@x.test,"one\ntwo"\nr@x.test,\n`)
  expect(first?.lines.endsWith('q@x.test,"one\ntwo"\n')).toBe(true)
  expect([second?.lines, second?.firstLine]).toEqual(['r@x.test,', 503])
  const open = await piecesOf(`email\n${'"x\n'.padEnd(3)}${'y\n'.repeat(2000)}`)
  expect(open.length).toBeGreaterThan(2)
})
