import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dashboardTypes } from '../harness/dashboard-types.ts'

test("the types of the page's APIs, and the client's, are what `bun run dashboard:types` writes", async () => {
  for (const { file, text } of await dashboardTypes()) expect(readFileSync(file, 'utf8') === text).toBe(true)
})
