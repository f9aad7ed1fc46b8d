import { type Operation, operationsOf } from '../../src/api/operations.ts'
import { type HttpFeatureDeps, httpFeatures } from '../../src/app/http-features.ts'
import type { OpenApiDocument } from '../../src/servers/http/openapi/document.ts'
import { createOpenApiDocument } from '../../src/servers/http/openapi/document.ts'
import examples from '../../src/servers/http/openapi/examples.json'
import { createRoutes } from '../../src/servers/http/server.ts'
import { type McpDeps, mcpRoutes } from '../../src/servers/mcp/routes.ts'

/** Stands in for every dependency: routes use none before the first request. */
const unused: unknown = new Proxy(() => undefined, { get: () => unused, apply: () => unused })

/** All operations below /v1, as their routes define them. */
export function apiOperations(): readonly Operation[] {
  return operationsOf(createApp())
}

function createApp() {
  const features = httpFeatures(unused as HttpFeatureDeps)
  return createRoutes({ features, readiness: () => Promise.resolve({}) }).use(mcpRoutes(unused as McpDeps))
}

/** The OpenAPI document of the whole HTTP server, generated without starting one. */
export function openApiDocument(): OpenApiDocument {
  return createOpenApiDocument(createApp(), examples)
}
