import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { settings } from '../../base/config/settings.ts'
import { jobs } from './jobs.ts'

const all = Object.values(jobs).flat()

test('each background job has a name of its own, an interval and a description', () => {
  expect(new Set(all.map(job => job.name)).size).toBe(all.length)
  for (const { name, intervalMs, does } of all) {
    expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/)
    expect(intervalMs).toBeGreaterThanOrEqual(100)
    expect(does).toMatch(/^[a-z]+s .*[^.]$/)
  }
})

test('every job that is started elsewhere is in the table', async () => {
  const names: string[] = []
  for await (const path of new Glob('**/*.ts').scan(`${import.meta.dir}/../..`)) {
    if (path.endsWith('.test.ts')) continue
    const text = await Bun.file(`${import.meta.dir}/../../${path}`).text()
    for (const [, name] of text.matchAll(/startJob\(\s*\{ name: '([^']+)'/g)) names.push(name ?? '')
    if (path !== 'app/jobs/job.ts' && path !== 'base/concurrency/background-job.ts')
      expect(`${path}: ${text.match(/startJob\(/g)?.length ?? 0}`).toBe(
        `${path}: ${text.match(/startJob\(\s*\{ name: '/g)?.length ?? 0}`,
      )
  }
  expect(names.toSorted()).toEqual([
    'acme-load',
    'acme-order',
    'certificate-files',
    'event-sequence',
    'event-watch',
    'live-updates',
  ])
  for (const name of names) expect(all.find(job => job.name === name)).toHaveProperty('startedBy')
})

test('what concerns a process itself is done in each of several processes', () => {
  const names = all.flatMap(job => (job.isForEachProcess ? [job.name] : []))
  for (const name of ['disk-space', 'idle-memory']) expect(names).toContain(name)
})

test('MAILROOM_ROLES is documented with the jobs of each role', () => {
  const list = (some: readonly { readonly name: string }[]) => some.map(job => job.name).join(', ')
  expect(settings.roles.description).toBe(
    `Roles of this process. \`smtp\` receives mail (background jobs: ${list(jobs.smtp)}). \`submission\` takes mail that programs send by SMTP, on the addresses of MAILROOM_SUBMISSION_LISTEN and MAILROOM_SUBMISSIONS_LISTEN. \`http\` serves the API, MCP and the dashboard (${list(jobs.http)}). \`relay\` submits emails to the provider (${list(jobs.relay)}). \`webhooks\` delivers events to webhooks (${list(jobs.webhooks)}). Every process also runs ${list(jobs.everyProcess)}, and one with \`smtp\`, \`http\` or \`submission\` ${list(jobs.smtpOrHttp)}.`,
  )
})
