import { type Operation, operationsOf } from '../../src/api/operations.ts'
import { type HttpFeatureParts, httpFeatures } from '../../src/app/http-features.ts'
import type { ApiDocument } from '../../src/servers/http/openapi/document.ts'
import { describeApi } from '../../src/servers/http/openapi/document.ts'
import examples from '../../src/servers/http/openapi/examples.json'
import { routesOf } from '../../src/servers/http/server.ts'
import { type McpUse, mcpRoutes } from '../../src/servers/mcp/routes.ts'

/** Stands for every part: routes hold on to their parts and use none before a request comes. */
const unused: unknown = new Proxy(() => undefined, { get: () => unused, apply: () => unused })

/** All operations below /v1, as their routes say them. */
export function wholeOperations(): readonly Operation[] {
  return operationsOf(wholeApp())
}

function wholeApp() {
  const features = httpFeatures(unused as HttpFeatureParts)
  return routesOf({ features, readiness: () => Promise.resolve({}) }).use(mcpRoutes(unused as McpUse))
}

/** The description of all that a Mailroom's HTTP door answers, without a Mailroom. */
export function wholeApi(): ApiDocument {
  return describeApi(wholeApp(), examples)
}
