import { expect, test } from 'bun:test'
import { localInputValue, scheduleChoices } from './schedule.ts'

const choices = (text: string) => scheduleChoices(new Date(text)).map(({ key, at }) => `${key} ${localInputValue(at)}`)

test('an hour from now, tomorrow and Monday at eight, in the zone of the person', () => {
  expect(choices('2026-11-18T22:30:00')).toEqual([
    'hour 2026-11-18T23:30',
    'tomorrow 2026-11-19T08:00',
    'monday 2026-11-23T08:00',
  ])
})

test('on Sunday tomorrow is Monday, on Monday the next one is meant, and a month ends', () => {
  expect(choices('2026-11-22T10:00:00')).toEqual(['hour 2026-11-22T11:00', 'tomorrow 2026-11-23T08:00'])
  expect(choices('2026-11-30T10:00:00').slice(1)).toEqual(['tomorrow 2026-12-01T08:00', 'monday 2026-12-07T08:00'])
})
