import { dashboardTypes } from './dashboard-types.ts'

/** Writes the types of the page's two APIs, and the client's: `bun run dashboard:types`. */
for (const { file, text } of await dashboardTypes()) await Bun.write(file, await text)
