import { expect, test } from 'bun:test'
import { routeTemplates } from './route-template.ts'

const templateOf = routeTemplates(
  ['/health', '/v1/emails', '/v1/emails/:id', '/v1/emails/batch', '/v1/emails/:id/events', '/docs/:file'].map(path => ({
    method: 'GET',
    path,
  })),
)

test('gives the route template of a path', () => {
  expect(templateOf('/v1/emails/eml_1')).toBe('/v1/emails/:id')
  expect(templateOf('/v1/emails/eml_1/events')).toBe('/v1/emails/:id/events')
  expect(templateOf('/v1/emails/batch')).toBe('/v1/emails/batch')
  expect(templateOf('/docs/a.css')).toBe('/docs/:file')
})

test('gives no template for a path without a route', () => {
  for (const path of [
    '/',
    '/v1',
    '/v1/emails/',
    '/v1/emails/eml_1/',
    '/health/',
    '/v1/emails//events',
    '/v1/emails/a/b',
    '/health/x',
    '/constructor',
  ])
    expect(templateOf(path)).toBeUndefined()
})
