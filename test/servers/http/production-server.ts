import { openTestHttpServer } from '../../harness/http-server.ts'
import { probeRoutes } from './probe-routes.ts'

// Runs the server in a process of its own with NODE_ENV=production. Prints its URL and key, and ends with its standard input.
const server = await openTestHttpServer({
  features: ({ database, clock }) => [probeRoutes(database.db, clock, { runs: 0 })],
})
await Bun.write(Bun.stdout, `${JSON.stringify({ url: server.url, key: server.key })}\n`)
for await (const _ of Bun.stdin.stream());
await server.close()
