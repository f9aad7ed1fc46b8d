/** The types of the public API. They are generated once, for the client, which is a package of its own. */
export type { components, paths } from '../../../client/src/generated/api.ts'
