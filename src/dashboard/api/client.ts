import createClient, { type Client } from 'openapi-fetch'
import type { paths as AppPaths } from './generated/app.ts'
import { send } from './send.ts'
import type { paths as V1Paths } from './v1.ts'

/** The API of programs, as the signed-in member may use it: `v1.GET('/v1/domains', …)` asks `/app/api/v1/domains`. */
export type V1Client = Client<V1Paths>

/** The dashboard's own routes: `app.GET('/app/api/keys', …)`. */
export type AppClient = Client<AppPaths>

/** The requests of a person in an organization, and in one of its brands. */
export interface OrganizationApi {
  readonly organizationId: string
  /** The brand of the URL's filter; null: all that the person may use. */
  readonly brandId: string | null
  readonly v1: V1Client
  readonly app: AppClient
}

/** Sends requests in the name of an organization. Screens of the organization as a whole name no brand. */
export function createOrganizationApi(organizationId: string, brandId: string | null): OrganizationApi {
  const headers = {
    'Mailroom-Organization': organizationId,
    ...(brandId !== null && { 'Mailroom-Brand': brandId }),
  }
  return {
    organizationId,
    brandId,
    v1: createClient<V1Paths>({ baseUrl: `${location.origin}/app/api`, headers, fetch: send }),
    app: createClient<AppPaths>({ baseUrl: location.origin, headers, fetch: send }),
  }
}

/** The dashboard's own routes outside every organization: the instance, the account. */
export const app: AppClient = createClient<AppPaths>({ baseUrl: location.origin, fetch: send })

/** What a request answered. The client throws what is not a success, so that there is always an answer. */
export async function answer<Data>(request: Promise<{ readonly data?: Data }>): Promise<Data> {
  // A response without a body has `undefined` for its data.
  return (await request).data as Data
}

/** The address of bytes of the API for a link, which can send no header. */
export function linkTo(api: OrganizationApi, path: string, query: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams({
    organization: api.organizationId,
    ...(api.brandId !== null && { brand: api.brandId }),
    ...query,
  })
  return `${path}?${search}`
}
