import { Elysia } from 'elysia'
import type { OperationDescription, ResponseDescription } from '../../api/describe.ts'
import { type Readiness, readyResponse } from '../../health/readiness/readiness.ts'

/** `/health`: the process lives. `/ready`: it can do its work. Neither needs a key. */
export function healthRoutes(readiness: Readiness) {
  return new Elysia({ name: 'service' })
    .get('/health', () => ({ status: 'ok' }), { detail: saysHealth })
    .get('/ready', () => readyResponse(readiness), { detail: saysReady })
}

const saysHealth: OperationDescription = {
  operationId: 'getHealth',
  summary: 'Tell whether the process lives',
  'x-refusals': [],
  responses: { 200: answer('It lives.', { status: { type: 'string', const: 'ok' } }) },
}

const part = {
  type: 'object',
  required: ['ready', 'detail'],
  properties: {
    ready: { type: 'boolean' },
    detail: { type: ['string', 'null'], description: 'Why not, or how much.' },
  },
} as const

const parts = {
  database: { ...part, description: 'The database answers.' },
  scanner: { ...part, description: 'The virus scanner answers.' },
  resolver: { ...part, description: 'DNS answers.' },
  relay: { ...part, description: 'The relay that delivers answers.' },
  dns_provider: { ...part, description: 'The DNS provider, where one is configured, takes our credentials.' },
  certificates: { ...part, description: 'Our certificates, where there are any, have not expired.' },
  disk: { ...part, description: 'There is room on the disk.' },
  queue_age: { ...part, description: 'What is due is sent in time.' },
}

const ofMailroom = { type: 'string', description: 'The version of Mailroom.' } as const

const saysReady: OperationDescription = {
  operationId: 'getReadiness',
  summary: 'Tell whether all parts are ready',
  'x-refusals': [],
  responses: {
    200: answer('Every part is ready.', { status: { type: 'string', const: 'ready' }, version: ofMailroom, ...parts }),
    503: answer('A part is not ready.', {
      status: { type: 'string', const: 'not_ready' },
      version: ofMailroom,
      ...parts,
    }),
  },
}

function answer(description: string, properties: Readonly<Record<string, object>>): ResponseDescription {
  const schema = { type: 'object', required: ['status'], properties }
  return { description, content: { 'application/json': { schema } } }
}
