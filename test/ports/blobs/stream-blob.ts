import { systemClock } from '../../../src/base/clock.ts'
import { openDatabase } from '../../../src/base/database/database.ts'
import { newId } from '../../../src/base/ids.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'

// A process of its own, so that its memory tells of nothing else: stores the file, reads it back, and prints as JSON how
// many bytes came back and by how much the memory had grown at most.
const [url = '', path = ''] = process.argv.slice(2)
const database = openDatabase(url, 2)
const blobs = mysqlBlobs(database.db, systemClock)
const organizationId = newId('org')
await blobs.store(organizationId, { kind: 'memory', bytes: Buffer.alloc(2_000_000, 'x'), size: 2_000_000 })

const before = process.memoryUsage().rss
let most = before
const timer = setInterval(() => {
  most = Math.max(most, process.memoryUsage().rss)
}, 2)
const { id } = await blobs.store(organizationId, { kind: 'file', path, size: Bun.file(path).size })
let readBytes = 0
for await (const piece of blobs.read(organizationId, id)) readBytes += piece.length
clearInterval(timer)
await database.close()
process.stdout.write(JSON.stringify({ readBytes, grownBytes: most - before }))
