import { dashboardOperationsOf, type Operation, operationsOf } from '../../src/api/operations.ts'
import { type DashboardFeatureDeps, dashboardFeatures } from '../../src/app/dashboard-features.ts'
import { type HttpFeatureDeps, httpFeatures } from '../../src/app/http-features.ts'
import { type InstanceFeatureDeps, instanceFeatures } from '../../src/app/instance-features.ts'
import { createComponentRegistry } from '../../src/servers/http/openapi/components.ts'
import type { OpenApiDocument } from '../../src/servers/http/openapi/document.ts'
import { createOpenApiDocument } from '../../src/servers/http/openapi/document.ts'
import examples from '../../src/servers/http/openapi/examples.json'
import { createOperationObject } from '../../src/servers/http/openapi/operation.ts'
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

/** The OpenAPI document of the dashboard's own routes, below /app/api. It is for the types of the page and not published. */
export function dashboardDocument(): Pick<OpenApiDocument, 'openapi' | 'paths'> & { readonly info: object } {
  const features = [
    ...dashboardFeatures(unused as DashboardFeatureDeps),
    ...instanceFeatures(unused as InstanceFeatureDeps),
  ]
  const app = createRoutes({ features, readiness: () => Promise.resolve({}) })
  const components = createComponentRegistry()
  const paths: Record<string, Record<string, ReturnType<typeof createOperationObject>>> = {}
  for (const operation of dashboardOperationsOf(app)) {
    // A document in a frame: the page makes no request for it.
    if (!operation.responses && !operation.description.responses) continue
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}')
    const object = createOperationObject(operation, 'Dashboard', components, undefined)
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: object }
  }
  const { schemas, responses } = components
  const document = {
    openapi: '3.1.0',
    info: { title: 'Dashboard', version: '1' },
    paths,
    components: { schemas, responses },
  }
  return document
}
