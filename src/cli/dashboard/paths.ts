import { join } from 'node:path'

/** The folder of `./mailroom`. */
export const checkoutFolder = join(import.meta.dir, '../../..')

/** The sources of the dashboard. An image has none. */
export const sourcesFolder = join(checkoutFolder, 'src/dashboard')

/** What the built files are made from, as patterns below {@link checkoutFolder}. */
export const sourcePatterns = [
  'src/dashboard/**/*.{ts,tsx,css,html,svg}',
  'src/cli/dashboard/*.ts',
  'bun.lock',
] as const
