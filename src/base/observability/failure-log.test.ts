import { expect, test } from 'bun:test'
import { failureLog } from './failure-log.ts'

test('logs the first failure of a series, one each minute after it, and the recovery', () => {
  const lines: unknown[] = []
  const write = (level: string) => (fields: object, message: string) => lines.push({ level, message, ...fields })
  let nowMs = 5000
  const failures = failureLog(
    { error: write('error'), info: write('info') } as never,
    { job: 'test' },
    { failed: 'failed', recovered: 'recovered' },
    () => nowMs,
  )
  const error = new Error('away')
  failures.succeeded()
  for (let i = 0; i < 100; i++) {
    failures.failed(error, { retry_in_ms: 1000 })
    nowMs += 1000
  }
  failures.succeeded()
  failures.succeeded()
  failures.failed(error)
  const base = { level: 'error', message: 'failed', job: 'test', err: error }
  expect(lines).toEqual([
    { ...base, retry_in_ms: 1000, failures: 1 },
    { ...base, retry_in_ms: 1000, failures: 61 },
    { level: 'info', message: 'recovered', job: 'test', failures: 100 },
    { ...base, failures: 1 },
  ])
})
