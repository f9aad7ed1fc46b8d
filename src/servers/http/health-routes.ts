import { Elysia } from 'elysia'
import type { OperationDescription, ResponseDescription } from '../../api/describe.ts'
import { type Readiness, readyResponse } from '../../health/readiness/readiness.ts'

/** `/health`: the process runs. `/ready`: everything it depends on works. Neither needs a key. */
export function healthRoutes(readiness: Readiness) {
  return new Elysia({ name: 'health' })
    .get('/health', () => ({ status: 'ok' }), { detail: healthOperation })
    .get('/ready', () => readyResponse(readiness), { detail: readyOperation })
}

const healthOperation: OperationDescription = {
  operationId: 'getHealth',
  summary: 'Check that the process runs',
  'x-refusals': [],
  responses: { 200: jsonResponse('The process runs.', { status: { type: 'string', const: 'ok' } }) },
}

const check = {
  type: 'object',
  required: ['ready', 'detail'],
  properties: {
    ready: { type: 'boolean' },
    detail: { type: ['string', 'null'], description: 'The reason when it is not ready, or a measured value.' },
  },
} as const

const checks = {
  database: { ...check, description: 'The database responds.' },
  scanner: { ...check, description: 'The virus scanner responds.' },
  spam_filter: {
    ...check,
    description:
      'The spam filter, if one is configured, responds. Mail is filed without it meanwhile, so `status` does not depend on it.',
  },
  resolver: { ...check, description: 'The DNS resolver responds.' },
  relay: { ...check, description: 'The email provider responds.' },
  dns_provider: { ...check, description: 'The DNS provider, if one is configured, accepts the credentials.' },
  certificates: { ...check, description: 'The certificates, if there are any, have not expired.' },
  disk: { ...check, description: 'The disk has enough free space.' },
  queue_age: { ...check, description: 'Emails that are due are sent in time.' },
}

const versionSchema = { type: 'string', description: 'The version of the program.' } as const

const readyOperation: OperationDescription = {
  operationId: 'getReadiness',
  summary: 'Check that everything the process depends on works',
  'x-refusals': [],
  responses: {
    200: jsonResponse('Every check passes that the process depends on.', {
      status: { type: 'string', const: 'ready' },
      version: versionSchema,
      ...checks,
    }),
    503: jsonResponse('A check fails.', {
      status: { type: 'string', const: 'not_ready' },
      version: versionSchema,
      ...checks,
    }),
  },
}

function jsonResponse(description: string, properties: Readonly<Record<string, object>>): ResponseDescription {
  const schema = { type: 'object', required: ['status'], properties }
  return { description, content: { 'application/json': { schema } } }
}
