import { expect, test } from 'bun:test'
import { UsageError } from '../../base/operator-error.ts'
import { parseArguments } from './parse.ts'

function readNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new UsageError(`"${text}" is not a number`)
  return Number(text)
}

const positional = { name: { placeholder: 'NAME' }, files: { placeholder: 'FILE', repeatable: true } } as const
const options = {
  limit: { placeholder: 'N', description: '', read: readNumber, default: '100' },
  brand: { placeholder: 'ID', description: '', repeatable: true },
  org: { placeholder: 'ID', description: '', required: true },
  all: { description: '' },
} as const

const parse = (...args: string[]) => parseArguments(args, positional, options)

test('reads arguments by position and options by name', () => {
  expect(parse('n', 'a', '--org', 'o', 'b', '--brand', 'x', '--brand', 'y, z', '--all', '--limit=7')).toEqual({
    ...{ name: 'n', files: ['a', 'b'] },
    ...{ org: 'o', brand: ['x', 'y', 'z'], all: true, limit: 7 },
  })
})

test('fills in defaults', () => {
  expect(parse('n', '--org', 'o')).toEqual({ name: 'n', files: [], org: 'o', brand: undefined, all: false, limit: 100 })
})

test.each([
  [[], 'NAME is missing'],
  [['n'], '--org is missing'],
  [['n', '--org'], "Option '--org <value>' argument missing"],
  [['n', '--org', 'o', '--limit', 'x'], '--limit: "x" is not a number'],
  [['n', '--ogr', 'o'], "Unknown option '--ogr'; did you mean --org?"],
  [['n', '--something-else'], "Unknown option '--something-else'; there are --limit, --brand, --org, --all"],
])('says what is wrong with %p', (args, message) => {
  expect(() => parse(...args)).toThrow(new UsageError(message))
})

test('rejects more arguments than the command has', () => {
  expect(() => parseArguments(['a', 'b'], { name: positional.name }, {})).toThrow('"b" is one argument too many')
})
