import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { settings } from '../../src/base/config/settings.ts'
import { projectRoot } from '../harness/cli.ts'
import { longestShutdownMs } from '../harness/longest-shutdown.ts'

const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8')
const unit = read('systemd/mailroom.service')
const valuesOf = (key: string) =>
  Array.from(unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm')), ([, value = '']) => value)

test('the service gets more time to stop than the work in progress can take', () => {
  expect(Number(valuesOf('TimeoutStopSec')[0]) * 1000).toBeGreaterThan(longestShutdownMs())
})

test('the unit and the installer set only settings that Mailroom has, and the same memory and compiler as ./mailroom', () => {
  const known = new Set<string>(Object.values(settings).map(setting => setting.key))
  // Answers for the installer, not settings of the service.
  for (const name of ['MAILROOM_ORGANIZATION', 'MAILROOM_OWNER']) known.add(name)
  const named = [unit, read('systemd/command'), read('systemd/install'), read('systemd/steps/settings.bash')]
    .flatMap(text => text.match(/\bMAILROOM_[A-Z_]*[A-Z]/g) ?? [])
    .map(name => name.replace(/_FILE$/, ''))
  expect(named.filter(name => !known.has(name))).toEqual([])
  const [, factor = ''] = /BUN_JSC_forceRAMSize:-\$\(\((\d+) \* 1024 \* 1024\)\)/.exec(read('mailroom')) ?? []
  expect(valuesOf('Environment')).toContain(`BUN_JSC_forceRAMSize=${Number(factor) * 1024 * 1024}`)
  const [, threshold] = /BUN_JSC_thresholdForFTLOptimizeAfterWarmUp:-(\d+)/.exec(read('mailroom')) ?? []
  expect(valuesOf('Environment')).toContain(`BUN_JSC_thresholdForFTLOptimizeAfterWarmUp=${threshold}`)
  expect(read('systemd/command')).toContain(` BUN_JSC_thresholdForFTLOptimizeAfterWarmUp=${threshold}\n`)
})

test('clamd accepts messages as large as Mailroom does, and more scans at a time than Mailroom requests', () => {
  const lines = read('systemd/steps/scanner.bash')
  const number = (key: string) => Number(new RegExp(`^${key} (\\d+)`, 'm').exec(lines)?.[1])
  for (const size of ['StreamMaxLength', 'MaxFileSize'])
    expect(number(size) * 1024 * 1024).toBeGreaterThan(Number(settings.maxMessageBytes.defaultText))
  expect(number('MaxThreads')).toBeGreaterThan(Number(settings.scansAtOnce.defaultText))
})
