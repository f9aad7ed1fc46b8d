import { expect, test } from 'bun:test'
import { eventTypes } from '../../../components/events/event-types.ts'
import { offeredPresets, presetOf, presetTypes } from './presets.ts'

test('a preset gives what of it may be chosen, and is known by that', () => {
  const offered = eventTypes.filter(type => type.startsWith('email.'))
  expect(presetTypes('failures', offered)).not.toContain('suppression.created')
  expect(presetOf(presetTypes('failures', offered), offered)).toBe('failures')
  expect(presetOf(['email.sent'], offered)).toBeNull()
})

test('presets that come to nothing, or to the same as another, are not offered', () => {
  expect(offeredPresets(eventTypes)).toEqual(['arrivals', 'failures', 'emails', 'all'])
  expect(offeredPresets(eventTypes.filter(type => type.startsWith('email.')))).toEqual(['failures', 'emails'])
  expect(offeredPresets(['domain.verified'])).toEqual(['all'])
})
