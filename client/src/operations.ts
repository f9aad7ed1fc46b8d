import type { paths } from './generated/api.ts'

/** The operations of the API, read from the types that are generated from its OpenAPI document. */
export type Method = 'get' | 'post' | 'patch' | 'delete'

/** The paths that have this method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { readonly [Name in M]: { readonly responses: unknown } } ? P : never
}[keyof paths]

type Operation<M extends Method, P extends keyof paths> = paths[P] extends { readonly [Name in M]: infer Found }
  ? Found
  : never

type JsonOf<Content> = Content extends { readonly content: { readonly 'application/json': infer Json } } ? Json : never

/** The body of the successful response. */
export type ResultOf<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { readonly responses: infer Responses }
    ? JsonOf<Responses[keyof Responses & (200 | 201 | 202)]>
    : never

/** The body of the request. */
export type BodyOf<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { readonly requestBody?: infer Body } ? JsonOf<NonNullable<Body>> : never

/** The query parameters. */
export type QueryOf<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { readonly parameters: { readonly query?: infer Query } } ? NonNullable<Query> : never

/** The parameters in the path. */
export type PathParametersOf<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { readonly parameters: { readonly path: infer Parameters } } ? Parameters : never
