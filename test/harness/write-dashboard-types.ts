import { dashboardTypes } from './dashboard-types.ts'

/** Writes the types of the page's two APIs: `bun run dashboard:types`. */
for (const { file, text } of await dashboardTypes()) await Bun.write(file, await text)
