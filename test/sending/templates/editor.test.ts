import { afterAll, expect, test } from 'bun:test'
import { newId } from '../../../src/base/ids.ts'
import { openTemplateRenderer } from '../../../src/sending/templates/renderer.ts'
import { templateSessionRoutes } from '../../../src/sending/templates/session-routes.ts'
import { callAsMember, testMember } from '../../harness/session.ts'

const renderer = openTemplateRenderer()
afterAll(() => renderer.close())

const owner = testMember(newId('org'))

async function preview(template: object, member = owner): Promise<unknown> {
  const body = JSON.stringify(template)
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
  const init = { method: 'POST', body, headers }
  const response = await callAsMember(templateSessionRoutes({ renderer }), '/app/api/templates/preview', member, init)
  return response instanceof Response ? response.json() : response
}

test('a template is rendered before it is stored, and what a send would miss is named', async () => {
  const template = {
    subject: 'For {{ name }}',
    html: '<b>{{ name }}</b> {{ count }}',
    variables: [
      { name: 'name', required: true },
      { name: 'count', default: 3 },
    ],
  }
  expect(await preview({ ...template, values: { name: '<Ann>' } })).toEqual({
    subject: 'For <Ann>',
    text: null,
    html: '<b>&lt;Ann&gt;</b> 3',
    missing_variables: [],
  })
  expect(await preview(template)).toMatchObject({ missing_variables: ['name'] })
})

test('a fault of the template, and a member without the permission, are refused', async () => {
  expect(await preview({ html: '{% if %}' })).toBe('template_invalid')
  expect(await preview({ html: 'x' }, testMember(newId('org'), { scopes: new Set(['email:send']) }))).toBe(
    'insufficient_scope',
  )
})

test('the frame of the preview runs one script, loads nothing and has no origin', async () => {
  const response = await callAsMember(templateSessionRoutes({ renderer }), '/app/template/preview/view', owner)
  if (typeof response === 'string') throw new Error(response)
  const policy = response.headers.get('content-security-policy') ?? ''
  const script = /<script>([\s\S]*)<\/script>/.exec(await response.text())?.[1] ?? ''
  const hash = new Bun.CryptoHasher('sha256').update(script).digest('base64')
  expect(policy.split('; ')).toEqual([
    'sandbox allow-scripts',
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ])
  expect(
    await callAsMember(templateSessionRoutes({ renderer }), '/app/template/preview/view', owner, { session: null }),
  ).toBe('session_required')
})
