import { openTestHttpServer } from '../../harness/http-server.ts'
import { probeRoutes } from './probe-routes.ts'

// A server in a process of its own, whose environment decides; it says where it is and goes when its input ends.
const server = await openTestHttpServer({
  features: ({ database, clock }) => [probeRoutes(database.db, clock, { runs: 0 })],
})
await Bun.write(Bun.stdout, `${JSON.stringify({ url: server.url, key: server.key })}\n`)
for await (const _ of Bun.stdin.stream());
await server.close()
