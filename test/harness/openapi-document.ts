import { type Operation, operationsOf } from '../../src/api/operations.ts'
import { type HttpFeatureDeps, httpFeatures } from '../../src/app/http-features.ts'
import type { OpenApiDocument } from '../../src/servers/http/openapi/document.ts'
import { createOpenApiDocument } from '../../src/servers/http/openapi/document.ts'
import examples from '../../src/servers/http/openapi/examples.json'
import { createRoutes } from '../../src/servers/http/server.ts'
import { type McpDeps, mcpRoutes } from '../../src/servers/mcp/routes.ts'

/** Stands for every part: routes hold on to their parts and use none before a request comes. */
const unused: unknown = new Proxy(() => undefined, { get: () => unused, apply: () => unused })

/** All operations below /v1, as their routes say them. */
export function apiOperations(): readonly Operation[] {
  return operationsOf(wholeApp())
}

function wholeApp() {
  const features = httpFeatures(unused as HttpFeatureDeps)
  return createRoutes({ features, readiness: () => Promise.resolve({}) }).use(mcpRoutes(unused as McpDeps))
}

/** The description of all that a Mailroom's HTTP door answers, without a Mailroom. */
export function openApiDocument(): OpenApiDocument {
  return createOpenApiDocument(wholeApp(), examples)
}
