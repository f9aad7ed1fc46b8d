import { openTestHttpServer } from '../../harness/http-server.ts'
import { probeRoutes } from './probe-routes.ts'

// A door in a process of its own, whose environment decides; it says where it is and goes when its input ends.
const door = await openTestHttpServer({
  features: ({ database, clock }) => [probeRoutes(database.db, clock, { runs: 0 })],
})
await Bun.write(Bun.stdout, `${JSON.stringify({ url: door.url, key: door.key })}\n`)
for await (const _ of Bun.stdin.stream());
await door.close()
