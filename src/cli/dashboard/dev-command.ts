import { watch } from 'node:fs'
import { parseArgs } from 'node:util'
import type { DashboardManifest } from '../../servers/http/dashboard/manifest.ts'
import { dashboardFolder } from '../../servers/http/dashboard/manifest.ts'
import { buildDashboard } from './build.ts'
import { sourcesFolder } from './paths.ts'

/**
 * `bun run dashboard:dev [--to http://localhost:8080] [--port 5173]`: serves the page from its sources, built anew after each
 * change, and passes every other request on to a running Mailroom. For one's own machine: the files come without the headers
 * that the real server sends.
 */
const { values } = parseArgs({
  options: { to: { type: 'string', default: 'http://localhost:8080' }, port: { type: 'string', default: '5173' } },
})
const quietMs = 50

let building: Promise<DashboardManifest> = buildDashboard()
let timer: ReturnType<typeof setTimeout> | undefined
watch(sourcesFolder, { recursive: true }, () => {
  clearTimeout(timer)
  timer = setTimeout(() => {
    const before = building
    building = buildDashboard().catch((error: unknown) => {
      process.stderr.write(`${error instanceof AggregateError ? error.errors.join('\n') : error}\n`)
      return before
    })
  }, quietMs)
})

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(values.port),
  idleTimeout: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    if (!pathname.startsWith('/app') || pathname.startsWith('/app/api/') || pathname.startsWith('/app/message/'))
      return passOn(request, pathname + search)
    const { files, index } = await building
    const name = pathname.startsWith('/app/assets/') ? pathname.slice('/app/assets/'.length) : index
    const file = files[name]
    if (!file) return new Response('There is no such file.', { status: 404 })
    return new Response(Bun.file(`${dashboardFolder}/${name}`), {
      headers: { 'content-type': file.type, 'cache-control': 'no-store' },
    })
  },
})
process.stdout.write(`http://localhost:${server.port}/app\n`)

/** The Mailroom sees its own origin, so that it takes requests that change something. */
function passOn(request: Request, path: string): Promise<Response> {
  const headers = new Headers(request.headers)
  headers.set('host', new URL(values.to).host)
  if (headers.has('origin')) headers.set('origin', values.to)
  return fetch(`${values.to}${path}`, {
    method: request.method,
    headers,
    body: request.body,
    redirect: 'manual',
    decompress: false,
  })
}
